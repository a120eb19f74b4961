/** Rules for text that callers send: links (D72), email addresses, and rich text with the allowlist of the web editor (rules/holons#update-a-holon; D46b). */
import { createRequire } from 'node:module';
import type sanitizeHtml from 'sanitize-html';
import { badRequest } from '#libs/errors';
import { hasControlCharacters } from '#libs/text';
import { isLonger, maxDescriptionLength } from '../api-objects/contract.ts';

const webSchemes: ReadonlySet<string> = new Set(['http', 'https']);
/** What is said of a value that is no link, after the name of its field. */
const allowed = 'must be a link with the scheme http, https, mailto or tel';

/** Why a value is no link; undefined = it is one. */
export function findLinkProblem(value: string): string | undefined {
  if (hasControlCharacters(value)) return 'must have no control characters';
  const scheme = findScheme(value);
  if (scheme === undefined) return allowed;
  if (webSchemes.has(scheme)) return isWebAddress(value) ? undefined : 'must be a link with a host, such as https://example.org';
  return /^(mailto|tel):\S/i.test(value) && URL.canParse(value) ? undefined : allowed;
}

/** Why a contact value, or another text that may be a link, cannot be stored; undefined = it can. What has no scheme is text of any number of lines. */
export function findContactProblem(value: string): string | undefined {
  if (findScheme(value) !== undefined) return findLinkProblem(value);
  return hasControlCharacters(value.replace(/[\t\r\n]/g, '')) ? 'must have no control characters' : undefined;
}

/** An absolute http(s) address with a host. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text) && !hasControlCharacters(text) && URL.canParse(text);
}

/** Longest link or contact value, in characters. */
export const maxAddressLength = 2_000;
export const tooLongAddress = `is longer than ${maxAddressLength} characters`;

/** Why a text is no http or https address; the empty one is none at all. */
export function webAddressProblem(value: string): string | undefined {
  if (value.length > maxAddressLength) return tooLongAddress;
  return value === '' || isWebAddress(value) ? undefined : 'must be an http or https address';
}

/**
 * The scheme that any reader may see in a text, in lower case. Browsers skip control characters and spaces before it and line breaks within it;
 * others drop what is invisible, or take compatible forms of letters for the letters.
 */
function findScheme(text: string): string | undefined {
  const seen = text.normalize('NFKC').replace(/[\p{Cc}\p{Cf}\p{Z}]/gu, '');
  return /^([a-z][a-z0-9+.-]*):/i.exec(seen)?.[1]?.toLowerCase();
}

/** True for what can be one email address, without a name beside it; surrounding space does not count. Whether it is read only a message can tell. */
export function isEmail(text: string): boolean {
  return text.length <= 320 && /^[^\s@<>‹›«»,;()]+@[^\s@<>‹›«»,;()]+$/.test(text.trim());
}

/** Elements that the web editor makes. */
export const richTextTags: readonly string[] = [
  'p',
  'br',
  'strong',
  'b',
  'em',
  'i',
  'u',
  's',
  'a',
  'ul',
  'ol',
  'li',
  'h2',
  'h3',
  'h4',
  'blockquote',
  'code',
  'pre',
  'hr',
];
const linkProtocols: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);
const linkRelation = 'noopener noreferrer nofollow';
/** Elements inside elements; deeper ones are dropped, their text stays. */
const maxNesting = 100;

const options: sanitizeHtml.IOptions = {
  allowedTags: [...richTextTags],
  allowedAttributes: { a: ['href', 'rel'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
  nonTextTags: ['script', 'style'],
  nestingLimit: maxNesting,
  transformTags: { a: (tagName, { href }) => ({ tagName, attribs: isLink(href) ? { href, rel: linkRelation } : {} }) },
};

const require = createRequire(import.meta.url);

/** Neither an element nor anything that would be written otherwise. */
const plainText = /^[^<>&"\r\0]*$/;

/** Rounds until the result is its own result; two are enough unless dropped elements had held others apart. */
const maxRounds = 5;

/** The text with the allowed elements only; text of dropped elements stays, scripts and styles go with their content. Idempotent. */
export function sanitizeRichText(html: string): string {
  if (plainText.test(html)) return html.trim();
  // Loaded by the first text that needs it: with the parsers that it brings it is a tenth of what the service loads.
  const sanitize = require('sanitize-html') as typeof sanitizeHtml;
  let text = html;
  for (let round = 0; round < maxRounds; round++) {
    const clean = sanitize(text, options).trim();
    if (clean === text) break;
    text = clean;
  }
  return text;
}

/** The text as it will be stored, whose length counts: a sign such as `<` is stored as several characters. */
export function readRichText(html: string): { readonly value: string } | { readonly problem: string } {
  const value = sanitizeRichText(html);
  return isLonger(value, maxDescriptionLength)
    ? { problem: `must be at most ${maxDescriptionLength} characters long as stored, where < > & and added attributes count` }
    : { value };
}

/** @throws AppError 400 that names the field */
export function requireRichText(field: string, html: string): string {
  const read = readRichText(html);
  if ('problem' in read) throw badRequest(`${field} ${read.problem}.`);
  return read.value;
}

/** An absolute address with one of the allowed schemes. */
function isLink(href: string | undefined): href is string {
  return href !== undefined && URL.canParse(href) && linkProtocols.has(new URL(href).protocol);
}
