/**
 * Rules for text that callers send: slugs, links (D72), email addresses, and rich text with the allowlist of the web editor
 * (rules/holons#update-a-holon; D46b).
 */
import { createRequire } from 'node:module';
import type sanitizeHtml from 'sanitize-html';
import { badRequest } from '#libs/infrastructure/errors';
import { hasControlCharacters } from '#libs/infrastructure/text';
import { isLonger, maxDescriptionLength } from '../api-objects/contract.ts';

const webSchemes: ReadonlySet<string> = new Set(['http', 'https']);
/** Problem of a value that is not a link, as a phrase that follows the field name. */
const allowed = 'must be a link with the scheme http, https, mailto or tel';

/** Returns the problem of a slug, or undefined if it is valid. */
export function findSlugProblem(value: string): string | undefined {
  return /^[A-Za-z0-9_~.-]{1,200}$/.test(value) && !/^\.+$/.test(value)
    ? undefined
    : 'must be a slug: letters, digits, "-", "_", "." and "~", at most 200';
}

/** Returns the problem of a link, or undefined if it is valid. */
export function findLinkProblem(value: string): string | undefined {
  if (hasControlCharacters(value)) return 'must have no control characters';
  const scheme = findScheme(value);
  if (scheme === undefined) return allowed;
  if (webSchemes.has(scheme))
    return isWebAddress(value) ? undefined : 'must be a link with a host, such as https://example.org';
  return /^(mailto|tel):\S/i.test(value) && URL.canParse(value) ? undefined : allowed;
}

/**
 * Returns the problem of a contact value or another text that can be a link, or undefined if it is valid. A text
 * without a scheme can have any number of lines.
 */
export function findContactProblem(value: string): string | undefined {
  if (findScheme(value) !== undefined) return findLinkProblem(value);
  return hasControlCharacters(value.replace(/[\t\r\n]/g, '')) ? 'must have no control characters' : undefined;
}

/** Whether the text is an absolute http(s) URL with a host. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text) && !hasControlCharacters(text) && URL.canParse(text);
}

/** Maximum length of links and contact values, in characters. */
export const maxAddressLength = 2_000;
export const tooLongAddress = `is longer than ${maxAddressLength} characters`;

/** Returns the problem of an http(s) URL, or undefined if it is valid or empty. */
export function webAddressProblem(value: string): string | undefined {
  if (value.length > maxAddressLength) return tooLongAddress;
  return value === '' || isWebAddress(value) ? undefined : 'must be an http or https address';
}

/**
 * Returns the scheme that any consumer could read, in lower case. Browsers ignore leading control characters and
 * spaces, and line breaks; other consumers drop invisible characters or normalize compatible letters.
 */
function findScheme(text: string): string | undefined {
  const seen = text.normalize('NFKC').replace(/[\p{Cc}\p{Cf}\p{Z}]/gu, '');
  return /^([a-z][a-z0-9+.-]*):/i.exec(seen)?.[1]?.toLowerCase();
}

/** Whether the text can be one email address without a display name. Surrounding whitespace is ignored. */
export function isEmail(text: string): boolean {
  return text.length <= 320 && /^[^\s@<>‹›«»,;()]+@[^\s@<>‹›«»,;()]+$/.test(text.trim());
}

/** Elements that the web editor produces. */
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
/** Maximum nesting. Deeper elements are dropped; their text remains. */
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

/** Text without elements and escapes. */
const plainText = /^[^<>&"\r\0]*$/;

/** Maximum rounds until the result is stable. Two rounds suffice unless dropped elements separated other elements. */
const maxRounds = 5;

/**
 * Removes all elements that are not allowed. Their text remains, except the text of scripts and styles. A second call
 * changes nothing.
 */
export function sanitizeRichText(html: string): string {
  if (plainText.test(html)) return html.trim();
  // The module is loaded on first use: it is a tenth of the code that the service loads.
  const sanitize = require('sanitize-html') as typeof sanitizeHtml;
  let text = html;
  for (let round = 0; round < maxRounds; round++) {
    const clean = sanitize(text, options).trim();
    if (clean === text) break;
    text = clean;
  }
  return text;
}

/** Sanitizes the text and checks its stored length, in which `<` counts as several characters. */
export function readRichText(html: string): { readonly value: string } | { readonly problem: string } {
  const value = sanitizeRichText(html);
  return isLonger(value, maxDescriptionLength)
    ? {
        problem: `must be at most ${maxDescriptionLength} characters long as stored, where < > & and added attributes count`,
      }
    : { value };
}

/** Returns the sanitized text of a field. @throws AppError 400 that names the field */
export function requireRichText(field: string, html: string): string {
  const read = readRichText(html);
  if ('problem' in read) throw badRequest(`${field} ${read.problem}.`);
  return read.value;
}

/** Whether a link is an absolute URL with an allowed scheme. */
function isLink(href: string | undefined): href is string {
  return href !== undefined && URL.canParse(href) && linkProtocols.has(new URL(href).protocol);
}
