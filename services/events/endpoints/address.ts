/** Where events may be sent (rules/events#endpoints; V5, V11). */
import { isIP } from 'node:net';
import { badRequest } from '#libs/errors';
import { isPublicAddress, namesHost } from '#libs/outbound';

/**
 * The address as it is kept. A private address is refused by its text here; one that a name stands for when it is connected to, since names change.
 * @param allowed the setting OUTBOUND_ALLOWED_HOSTS: what it names may be private, and without TLS
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
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw badRequest('url must be an address of the public internet.');
  return url.href;
}
