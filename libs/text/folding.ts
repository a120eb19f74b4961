/**
 * One folding for all searches (D87): what differs only in case, accents, ligatures, typographic signs or kinds of space is one text.
 * `directory.fold` of the database folds alike, which a test compares for every character.
 */

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
