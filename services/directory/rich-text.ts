/** Rich text with the web editor's allowlist (rules/holons#update-a-holon; D46b). The only importer of sanitize-html. */
import { createRequire } from 'node:module';
import type sanitizeHtml from 'sanitize-html';

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

/** An absolute address with one of the allowed schemes. */
function isLink(href: string | undefined): href is string {
  return href !== undefined && URL.canParse(href) && linkProtocols.has(new URL(href).protocol);
}
