/** Rich text with the web editor's allowlist (rules/holons#update-a-holon; D46b). The only importer of sanitize-html. */
import { createRequire } from 'node:module';
import { badRequest } from '#libs/errors';
import type sanitizeHtml from 'sanitize-html';
import { isLonger, maxDescriptionLength } from './fields.ts';

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
