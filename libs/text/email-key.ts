/** Email addresses that mean one mailbox for all we know (D44, D87). */
import { domainToASCII } from 'node:url';

const invisible = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g;

/** What separates the labels of a domain. */
const dots = '.。．｡';

/**
 * The address as it is compared: NFC, in lower case, without `mailto:`, zero-width characters and a dot at the end, the domain in ASCII.
 * `directory.email_key` of the database gives the same.
 */
export function emailKey(email: string): string {
  const written = email.normalize('NFC').replace(invisible, '').trim();
  const address = (/^mailto:([^?]*)/i.exec(written)?.[1] ?? written).trim().toLowerCase();
  const at = address.lastIndexOf('@');
  if (at < 0) return address;
  let end = address.length;
  while (end > at + 1 && dots.includes(address.charAt(end - 1))) end--;
  const domain = address.slice(at + 1, end);
  return `${address.slice(0, at)}@${domainToASCII(domain) || domain}`;
}
