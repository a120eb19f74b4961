import { domainToASCII } from 'node:url';

/**
 * Text from outside in names, titles and slugs (D74): one line, without control characters (Cc: C0, delete, C1) and without invisible
 * formatting characters (Cf), such as bidirectional controls. Two of these belong to words of some languages and to emoji: the joiners U+200C
 * and U+200D stay inside a word. What a client sends with others is refused, what a webhook brings is kept without them.
 */
const anyControl = /\p{Cc}/u;
/** Text of several lines keeps what makes it so. */
const everyControlWithinLines = /[^\P{Cc}\t\n\r]/gu;
const everyLineBreak = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
const everyUnfit = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c\u200d]]/gv;
const everyLooseJoiner = /(?<![\p{L}\p{M}\p{N}\p{S}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{M}\p{N}\p{S}])/gu;
const plain = /^[ -~]*$/;
const anyUnfit = new RegExp(everyUnfit.source, 'v');
const anyLooseJoiner = new RegExp(everyLooseJoiner.source, 'u');
/** Fillers and marks that draw nothing are ignorable too; the blank of Braille is a symbol. */
const anyVisible = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * JSON Schema pattern for documents: the most of `isSingleLine` that every validator can read, with and without Unicode mode. The format
 * `lineFormat` checks the rest, characters beyond U+FFFF and places of joiners.
 */
export const linePattern = String.raw`^[^\u0000-\u001f\u007f-\u009f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]*$`;
export const lineFormat = 'line';

/** Whether a text can be a name, title or slug. */
export const isSingleLine = (text: string): boolean => plain.test(text) || !(anyUnfit.test(text) || anyLooseJoiner.test(text));

/** Whether nothing of a text can be seen: it is empty, or of white space and invisible characters alone (rules/http#strings). */
export const isBlank = (text: string): boolean => !anyVisible.test(text);

export const hasControlCharacters = (text: string): boolean => anyControl.test(text);

/** A name, title or slug out of what nobody has checked: line breaks and tabs are a space, other unfit characters are removed. */
export const toSingleLine = (text: string): string => removeControlCharacters(text.replace(everyLineBreak, ' '));

/** The same of what has no spaces, such as an address: line breaks and tabs are removed too. */
export const removeControlCharacters = (text: string): string => text.replace(everyUnfit, '').replace(everyLooseJoiner, '').toWellFormed();

/** The same of a text of several lines, which keeps its tabs and line breaks. */
export const toMultiline = (text: string): string => text.replace(everyControlWithinLines, '').toWellFormed();

/** Made for the first text that is cut. */
const segmenters: Intl.Segmenter[] = [];

/** The beginning of a text in at most so many UTF-16 units, without half a grapheme, unless one alone is longer. */
export function truncateText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const graphemes = (segmenters[0] ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' }));
  // A grapheme of sensible length that reaches over the end is within these.
  const from = Math.max(0, maxLength - longestGrapheme);
  const start = graphemes.segment(text.slice(from, maxLength + longestGrapheme)).containing(maxLength - from)?.index ?? 0;
  return text.slice(0, start === 0 ? maxLength : from + start).replace(/[\ud800-\udbff]$/, '');
}

const longestGrapheme = 200;

/** Digits by which phone numbers are compared (D83, D87). */

const maxLength = 50;

/** Without `(0)` and the zeros of an international prefix; '' without a digit. `directory.phone_digits` is the same in PostgreSQL. */
export function phoneDigits(phone: string): string {
  return phone
    .replaceAll('(0)', '')
    .replaceAll(/[^0-9]/g, '')
    .replace(/^00/, '')
    .slice(0, maxLength);
}

/** Accents of Latin, Greek and Cyrillic, points and vowel signs of Hebrew and Arabic; what other scripts cannot be read without stays. */
const accents =
  '\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7\\u0610-\\u061a\\u064b-\\u065f\\u0670';
/** Not visible and part of words, as the content of a character class: the folding removes them. */
export const invisibleCharacters = '\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff';
/** Spaces of any width; a line break ends a value. */
const spaces = ' \\t\\u000b\\u000c\\r\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
/** Letters that no decomposition takes apart, as `unaccent` writes them. */
const letters = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ı: 'i', ŋ: 'n', ŧ: 't', ς: 'σ' };
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

/** The text as searches compare it. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (isPlain.test(lower)) return lower;
  // Decomposed, these two would be other signs.
  const decomposed = text.replaceAll('´', "'").replaceAll('″', '"').normalize('NFKD');
  return decomposed
    .replace(dropped, '')
    .toLowerCase()
    .replace(replaced, (character) => replacements.get(character) ?? character)
    .replace(spaceRun, ' ');
}

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

/**
 * One folding for all searches (D87): what differs only in case, accents, ligatures, typographic signs or kinds of space is one text.
 * `directory.fold` of the database folds alike, which a test compares for every character.
 */
