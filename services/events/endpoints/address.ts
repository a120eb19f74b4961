/** Checks which addresses are allowed for endpoints (rules/events#endpoints; V5, V11). */
import { isIP } from 'node:net';
import { badRequest } from '#libs/infrastructure/errors';
import { isPublicAddress, namesHost } from '#libs/infrastructure/outbound';

/**
 * Returns the normalised URL. Rejects private IP addresses; host names are checked when a connection is opened, because
 * their addresses can change.
 * @param allowedHosts the setting WEBHOOK_ALLOWED_HOSTS; listed hosts can be private and without TLS (D90)
 * @throws AppError 400
 */
export function validateUrl(text: string, allowedHosts: string): string {
  const url = URL.parse(text.trim());
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw badRequest('`url` must be an https address.');
  if (url.username !== '' || url.password !== '') throw badRequest('`url` must not contain a user or password.');
  url.hash = '';
  if (namesHost(allowedHosts, url)) return url.href;
  if (url.protocol !== 'https:') throw badRequest('`url` must be an https address.');
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  if (isIP(host) !== 0 && !isPublicAddress(host))
    throw badRequest('`url` must be a public address. Private hosts must be listed in WEBHOOK_ALLOWED_HOSTS.');
  return url.href;
}
