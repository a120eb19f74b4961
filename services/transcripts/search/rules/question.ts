/** A question as people write it (T2, T6): words, "phrases", -without, prefix*. Whatever else it holds is no sign. */
import { listWords, type Word } from './words.ts';

/** Words that follow each other; of the last one with `isPrefix` its beginning. */
interface Term {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

export interface Question {
  /** Each is in the text. */
  readonly wanted: readonly Term[];
  /** None is in the text. */
  readonly unwanted: readonly Term[];
}

/** `-`, then a phrase in quotes of any kind, closed or not, or what goes on to the next space. */
const part = /(?<sign>-*)(?:["“”„«»](?<phrase>[^"“”„«»]*)["“”„«»]?(?<star>\*?)|(?<word>[^\s"“”„«»]+))/gu;

export function readQuestion(text: string): Question {
  const wanted: Term[] = [];
  const unwanted: Term[] = [];
  for (const { groups = {} } of text.matchAll(part)) {
    const said = groups['phrase'] ?? groups['word'] ?? '';
    const words = listWords(said).map(({ word }) => word);
    if (words.length === 0) continue;
    // A hyphen within a word, as in `well-known`, is no sign: its parts are a phrase.
    const term = { words, isPrefix: groups['star'] === '*' || /[\p{L}\p{N}\p{M}]\*$/u.test(said) };
    (groups['sign'] === '' ? wanted : unwanted).push(term);
  }
  return { wanted, unwanted };
}

/** As a `tsquery` in PostgreSQL's own writing; undefined when it asks for nothing that could be found. */
export function writeQuery({ wanted, unwanted }: Question): string | undefined {
  if (wanted.length === 0) return undefined;
  return [...wanted.map(writeTerm), ...unwanted.map((term) => `!${writeTerm(term)}`)].join(' & ');
}

function writeTerm({ words, isPrefix }: Term): string {
  const last = words.length - 1;
  return `(${words.map((word, index) => `'${word}'${isPrefix && index === last ? ':*' : ''}`).join(' <-> ')})`;
}

/**
 * Where the wanted words stand in a text, in order: UTF-16 units, half-open. Undefined when the text is no answer, as the database would
 * have it too.
 */
export function highlight({ wanted, unwanted }: Question, text: string): [number, number][] | undefined {
  const words = listWords(text);
  if (unwanted.some((term) => findTerm(term, words).length > 0)) return undefined;
  const places = new Set<number>();
  for (const term of wanted) {
    const found = findTerm(term, words);
    if (found.length === 0) return undefined;
    for (const start of found) for (let index = 0; index < term.words.length; index++) places.add(start + index);
  }
  return [...places]
    .toSorted((left, right) => left - right)
    .flatMap((place): [number, number][] => {
      const word = words[place];
      return word === undefined ? [] : [[word.from, word.to]];
    });
}

/** Indexes at which the term begins. */
function findTerm({ words: wanted, isPrefix }: Term, words: readonly Word[]): number[] {
  const last = wanted.length - 1;
  const fits = (start: number): boolean =>
    wanted.every((word, index) => {
      const given = words[start + index]?.word;
      return given !== undefined && (isPrefix && index === last ? given.startsWith(word) : given === word);
    });
  return words.flatMap((_word, start) => (fits(start) ? [start] : []));
}
