/** Parses a search query (T2, T6): words, "phrases", -excluded, prefix*. Other characters have no meaning. */
import { listWords, type Word } from './words.ts';

/** Consecutive words. With `isPrefix` the last word is a prefix. */
interface Term {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

export interface SearchQuery {
  /** Terms that must all occur in the text. */
  readonly included: readonly Term[];
  /** Terms that must not occur in the text. */
  readonly excluded: readonly Term[];
}

/** Matches `-`, then a phrase in quotes of any kind, closed or not, or the characters up to the next space. */
const part = /(?<sign>-*)(?:["“”„«»](?<phrase>[^"“”„«»]*)["“”„«»]?(?<star>\*?)|(?<word>[^\s"“”„«»]+))/gu;

export function parseQuery(text: string): SearchQuery {
  const included: Term[] = [];
  const excluded: Term[] = [];
  for (const { groups = {} } of text.matchAll(part)) {
    const text = groups['phrase'] ?? groups['word'] ?? '';
    const words = listWords(text).map(({ word }) => word);
    if (words.length === 0) continue;
    // A hyphen within a word, as in `well-known`, is not an operator: the words around it are a phrase.
    const term = { words, isPrefix: groups['star'] === '*' || /[\p{L}\p{N}\p{M}]\*$/u.test(text) };
    (groups['sign'] === '' ? included : excluded).push(term);
  }
  return { included, excluded };
}

/** Returns the query in PostgreSQL's `tsquery` syntax; undefined when it cannot match anything. */
export function toTsquery({ included, excluded }: SearchQuery): string | undefined {
  if (included.length === 0) return undefined;
  return [...included.map(writeTerm), ...excluded.map((term) => `!${writeTerm(term)}`)].join(' & ');
}

function writeTerm({ words, isPrefix }: Term): string {
  const last = words.length - 1;
  return `(${words.map((word, index) => `'${word}'${isPrefix && index === last ? ':*' : ''}`).join(' <-> ')})`;
}

/**
 * Returns the ranges of the included words in a text, in order, as half-open ranges of UTF-16 units. Returns undefined
 * when the text does not match; the database decides the same.
 */
export function findHighlights({ included, excluded }: SearchQuery, text: string): [number, number][] | undefined {
  const words = listWords(text);
  if (excluded.some((term) => findTerm(term, words).length > 0)) return undefined;
  const positions = new Set<number>();
  for (const term of included) {
    const found = findTerm(term, words);
    if (found.length === 0) return undefined;
    for (const start of found) for (let index = 0; index < term.words.length; index++) positions.add(start + index);
  }
  return [...positions]
    .toSorted((left, right) => left - right)
    .flatMap((position): [number, number][] => {
      const word = words[position];
      return word === undefined ? [] : [[word.from, word.to]];
    });
}

/** Returns the indexes of the words at which the term starts. */
function findTerm({ words: included, isPrefix }: Term, words: readonly Word[]): number[] {
  const last = included.length - 1;
  const fits = (start: number): boolean =>
    included.every((word, index) => {
      const given = words[start + index]?.word;
      return given !== undefined && (isPrefix && index === last ? given.startsWith(word) : given === word);
    });
  return words.flatMap((_word, start) => (fits(start) ? [start] : []));
}
