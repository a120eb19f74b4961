/** Email addresses that mean one mailbox for all we know (D44, D87). */
import { domainToASCII } from 'node:url';
import { invisibleCharacters } from './folding.ts';

const everyInvisible = new RegExp(`[${invisibleCharacters}]`, 'g');
const visible = (text: string): string => text.normalize('NFC').replace(everyInvisible, '').trim();

/** What separates the labels of a domain. */
const dots = '.。．｡';

/**
 * The address as it is compared: NFC, in lower case, without `mailto:` and its percent-encoding, zero-width characters and a dot at the end, the
 * domain in ASCII. `directory.email_key` of the database gives the same.
 */
export function emailKey(email: string): string {
  const written = visible(email);
  const link = /^mailto:([^?]*)/i.exec(written)?.[1];
  const address = (link === undefined ? written : visible(decodePercent(link))).toLowerCase();
  const at = address.lastIndexOf('@');
  if (at < 0) return address;
  let end = address.length;
  while (end > at + 1 && dots.includes(address.charAt(end - 1))) end--;
  const domain = address.slice(at + 1, end);
  return `${address.slice(0, at)}@${domainToASCII(domain) || domain}`;
}

/** Percent-encoded characters but controls and signs that separate the parts of an address; `directory.percent_decoded` has the same. */
const encoded = new RegExp(
  [
    '%2[0124-9A-E]|%3[0-9A-E]|%[4-6][0-9A-F]|%7[0-9A-E]',
    '%(?:C[2-9A-F]|D[0-9A-F])NEXT|%E0%[AB][0-9A-F]NEXT|%E[1-9A-CEF]NEXTNEXT|%ED%[89][0-9A-F]NEXT',
    '%F0%[9AB][0-9A-F]NEXTNEXT|%F[1-3]NEXTNEXTNEXT|%F4%8[0-9A-F]NEXTNEXT',
  ]
    .join('|')
    .replaceAll('NEXT', '%[89AB][0-9A-F]'),
  'gi',
);

const decodePercent = (text: string): string => text.replace(encoded, (sign) => decodeURIComponent(sign));
