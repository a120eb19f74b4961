/** Where events may be sent (rules/events#endpoints; V5, V11). */
import { isIP } from 'node:net';
import { badRequest } from '#libs/errors';
import { isPublicAddress, namesHost } from '#libs/outbound';

/**
 * The address as it is stored. A private address is rejected by its text here, and by its name when it is connected to, since names change.
 * @param allowed the setting WEBHOOK_ALLOWED_HOSTS: what it names may be private, and without TLS (D90)
 * @throws AppError 400
 */
export function readUrl(given: string, allowed: string): string {
  const url = URL.parse(given.trim());
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw badRequest('url must be an https address.');
  if (url.username !== '' || url.password !== '') throw badRequest('url must not have a user or a password.');
  url.hash = '';
  if (namesHost(allowed, url)) return url.href;
  if (url.protocol !== 'https:') throw badRequest('url must be an https address.');
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  if (isIP(host) !== 0 && !isPublicAddress(host))
    throw badRequest('url must be an address of the public internet; private hosts must be listed in WEBHOOK_ALLOWED_HOSTS.');
  return url.href;
}
