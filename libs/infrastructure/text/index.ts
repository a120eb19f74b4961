import { domainToASCII } from 'node:url';

/**
 * Rules for untrusted text in names, titles and slugs (D74): one line, without control characters (Cc: C0, delete, C1)
 * and without invisible formatting characters (Cf), such as bidirectional controls. The joiners U+200C and U+200D are
 * allowed inside a word, since some languages and emoji need them. Requests of clients with invalid characters are
 * rejected; in webhooks the characters are removed.
 */
const anyControl = /\p{Cc}/u;
/** Matches control characters except tabs and line breaks, which are allowed in multiline text. */
const everyControlWithinLines = /[^\P{Cc}\t\n\r]/gu;
const everyLineBreak = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
const everyUnfit = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c\u200d]]/gv;
const everyLooseJoiner = /(?<![\p{L}\p{M}\p{N}\p{S}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{M}\p{N}\p{S}])/gu;
const plain = /^[ -~]*$/;
const anyUnfit = new RegExp(everyUnfit.source, 'v');
const anyLooseJoiner = new RegExp(everyLooseJoiner.source, 'u');
/** Matches a visible character. Default-ignorable fillers and marks, and the blank Braille symbol, are not visible. */
const anyVisible = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * JSON Schema pattern for documents: the part of `isSingleLine` that every validator supports, with and without Unicode
 * mode. The format `lineFormat` checks the rest: characters above U+FFFF and positions of joiners.
 */
export const linePattern = String.raw`^[^\u0000-\u001f\u007f-\u009f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]*$`;
export const lineFormat = 'line';

/** Returns whether a text is valid as a name, title or slug. */
export const isSingleLine = (text: string): boolean =>
  plain.test(text) || !(anyUnfit.test(text) || anyLooseJoiner.test(text));

/**
 * Returns whether a text has no visible character: it is empty, or consists of white space and invisible characters
 * (rules/http#strings).
 */
export const isBlank = (text: string): boolean => !anyVisible.test(text);

export const hasControlCharacters = (text: string): boolean => anyControl.test(text);

/**
 * Converts unvalidated text to a name, title or slug: line breaks and tabs become a space, other invalid characters are
 * removed.
 */
export const toSingleLine = (text: string): string => removeControlCharacters(text.replace(everyLineBreak, ' '));

/** Like `toSingleLine`, for text without spaces, such as an address: line breaks and tabs are also removed. */
export const removeControlCharacters = (text: string): string =>
  text.replace(everyUnfit, '').replace(everyLooseJoiner, '').toWellFormed();

/** Like `toSingleLine`, for multiline text: tabs and line breaks are not changed. */
export const toMultiline = (text: string): string => text.replace(everyControlWithinLines, '').toWellFormed();

/** Created on the first truncation. */
const segmenters: Intl.Segmenter[] = [];

/**
 * Truncates a text to at most `maxLength` UTF-16 units. Does not split a grapheme, unless a single grapheme is longer
 * than the limit.
 */
export function truncateText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const graphemes = (segmenters[0] ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' }));
  // A grapheme of reasonable length that crosses the limit starts within this range.
  const from = Math.max(0, maxLength - longestGrapheme);
  const start =
    graphemes.segment(text.slice(from, maxLength + longestGrapheme)).containing(maxLength - from)?.index ?? 0;
  return text.slice(0, start === 0 ? maxLength : from + start).replace(/[\ud800-\udbff]$/, '');
}

const longestGrapheme = 200;

/** Converts phone numbers to the digits by which they are compared (D83, D87). */

const maxLength = 50;

/**
 * Returns the digits without `(0)` and without the zeros of an international prefix; '' when the text contains no
 * digit. `directory.phone_digits` is the PostgreSQL equivalent.
 */
export function phoneDigits(phone: string): string {
  return phone
    .replaceAll('(0)', '')
    .replaceAll(/[^0-9]/g, '')
    .replace(/^00/, '')
    .slice(0, maxLength);
}

/**
 * Matches accents of Latin, Greek and Cyrillic, and points and vowel signs of Hebrew and Arabic. Marks that other
 * scripts need to be readable do not match.
 */
const accents =
  '\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7\\u0610-\\u061a\\u064b-\\u065f\\u0670';
/** Invisible characters inside words, as the content of a character class. Folding removes these characters. */
export const invisibleCharacters = '\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff';
/** Spaces of any width. Line breaks are not included, since they end a value. */
const spaces = ' \\t\\u000b\\u000c\\r\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
/** Letters without a Unicode decomposition, mapped as PostgreSQL's `unaccent` maps them. */
const letters = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
  ŋ: 'n',
  ŧ: 't',
  ς: 'σ',
};
const signs = [
  ["'", '`‘’‚‛ʹʻʼ′‹›׳'],
  ['"', '“”„‟«»〝〞״'],
  ['-', '‐‒–—―−'],
] as const;
const replacements: ReadonlyMap<string, string> = new Map([
  ...Object.entries(letters),
  ...signs.flatMap(([sign, variants]) => Array.from(variants, (variant): [string, string] => [variant, sign])),
]);

const dropped = new RegExp(`[${accents}${invisibleCharacters}]+`, 'g');
const replaced = new RegExp(`[${[...replacements.keys()].join('')}]`, 'gu');
const spaceRun = new RegExp(`[${spaces}]+`, 'g');
const isPlain = /^[a-z0-9]*$/;

/** Returns the text normalised for searching. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (isPlain.test(lower)) return lower;
  // Replaced before NFKD, which would turn these two characters into others.
  const decomposed = text.replaceAll('´', "'").replaceAll('″', '"').normalize('NFKD');
  return decomposed
    .replace(dropped, '')
    .toLowerCase()
    .replace(replaced, (character) => replacements.get(character) ?? character)
    .replace(spaceRun, ' ');
}

const everyInvisible = new RegExp(`[${invisibleCharacters}]`, 'g');
const visible = (text: string): string => text.normalize('NFC').replace(everyInvisible, '').trim();

/** Separators of the labels in a domain. */
const dots = '.。．｡';

/**
 * Returns an email address normalised for comparison: NFC, in lower case, with the domain in ASCII, without `mailto:`,
 * percent-encoding, zero-width characters and a trailing dot. `directory.email_key` is the PostgreSQL equivalent.
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

/**
 * Percent-encoded characters except controls and separators of address parts; `directory.percent_decoded` is the
 * PostgreSQL equivalent.
 */
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

/**
 * One folding for all searches (D87): texts that differ only in case, accents, ligatures, typographic characters or
 * kinds of space are equal. `directory.fold` in PostgreSQL does the same; a test compares both for every character.
 */
