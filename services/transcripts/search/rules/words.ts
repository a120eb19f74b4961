/**
 * Defines words (T2, T6) for the index, queries and highlights alike, so that matches and highlights agree. Words are
 * runs of letters and digits. As in every search, case and accents are ignored; any apostrophe ends a word.
 * docs/adr/transcript-search.md
 */
import { fold, invisibleCharacters } from '#libs/infrastructure/text';

/** A normalised word and its half-open range in the text, in UTF-16 units. */
export interface Word {
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

/** Maximum number of characters of a word that are compared. */
const maxWordLength = 100;
/** Maximum number of characters that are searched per text, since a vector of PostgreSQL has at most 1 MiB. */
export const maxSearchedCharacters = 100_000;
/**
 * Scripts without spaces between words. Each character is a word, and consecutive characters in a query are a phrase.
 */
const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}`;
const apostrophes = String.raw`\u02b9\u02bb\u02bc\u0374`;
const token = new RegExp(
  String.raw`[${unspaced}]|[[\p{L}\p{N}\p{M}${invisibleCharacters}]--[${apostrophes}${unspaced}]]+`,
  'gv',
);
const nonWord = /[^\p{L}\p{N}\p{M}]+/gu;
/** Returns the words of a text in order. */
export function listWords(text: string): Word[] {
  const words: Word[] = [];
  for (const { 0: found, index } of text.slice(0, maxSearchedCharacters).matchAll(token)) {
    const word = foldWord(found);
    if (word !== '') words.push({ word, from: index, to: index + found.length });
  }
  return words;
}

const foldWord = (text: string): string =>
  fold(text).replace(nonWord, '').normalize('NFC').slice(0, maxWordLength).toWellFormed();

/** Returns the words of a text in PostgreSQL's `tsvector` syntax, with their positions. */
export function toTsvector(text: string): string {
  const positions = new Map<string, number[]>();
  for (const [index, { word }] of listWords(text).entries()) {
    const known = positions.get(word);
    if (known === undefined) positions.set(word, [index + 1]);
    else if (known.length < maxPositions) known.push(index + 1);
  }
  return Array.from(positions, ([word, own]) => `'${word}':${own.join(',')}`).join(' ');
}

/** Maximum number of positions that PostgreSQL stores per word. */
const maxPositions = 255;
