/**
 * Lossless JSON: numbers that a double cannot represent keep their text (rules/http#numbers-and-keys: integers above
 * 2^53 survive a round trip). The limits of every inbound document (nesting, U+0000, lone surrogates) are checked in
 * one place.
 */
import { randomBytes } from 'node:crypto';

export { isJsonWhitespace, JsonScanner, jsonByte } from './scanner.ts';

export type JsonObject = Record<string, unknown>;

/** Maximum nesting of inbound JSON; the outermost value is level 1 (rules/http#json-body-cap). */
export const maxJsonDepth = 64;
/** Digits of a number that PostgreSQL's jsonb can store in any case; longer numbers are rejected. */
const maxNumberLength = 1000;
/** Maximum digits that all exponents of a document expand to: sixteen times what a conversation's `infos` allows. */
const maxExponentDigits = 16_777_216;
/** With `u`, only lone surrogates match. */
const unstorable = /[\0\p{Surrogate}]/gu;
/** Whether a text may contain a number that a double changes; inspects each character only a few times. */
const maybeLossy = /(?<![0-9])[0-9]{16}|[0-9][.eE]/;
const byteOrderMark = '\ufeff';
const numberGrammar = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

interface RawJson {
  readonly rawJSON: string;
}
const lossless = JSON as unknown as {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
};

/** True for a number kept as text because a double would change it. */
export function isRawNumber(value: unknown): value is RawJson {
  return typeof value === 'object' && value !== null && lossless.isRawJSON(value);
}

/**
 * The document is only short because of its exponents: `1e1000` is six bytes here and a thousand when written out. For
 * callers that do not distinguish it, a SyntaxError.
 */
export class NumberExpansionError extends SyntaxError {
  constructor() {
    super(`The exponents of its numbers stand for more than ${maxExponentDigits} digits`);
    this.name = 'NumberExpansionError';
  }
}

/**
 * Parses JSON. A number that a double cannot reproduce becomes a raw number that `JSON.stringify` writes unchanged.
 * Keys such as `__proto__` are plain data; a byte order mark is ignored (D106).
 * @throws SyntaxError; its subclass NumberExpansionError, before any number is converted
 */
export function parseJson(given: string): unknown {
  const text = given.startsWith(byteOrderMark) ? given.slice(byteOrderMark.length) : given;
  const marked = maybeLossy.test(text) ? markLossyNumbers(text) : undefined;
  if (marked === undefined) return JSON.parse(text);
  const holder = { value: JSON.parse(marked.text) as unknown };
  restoreNumbers(holder, marked);
  return holder.value;
}

interface Marked {
  readonly text: string;
  /** Prefix of each mark; random per text, so that no text can contain it. */
  readonly sign: string;
  readonly count: number;
}

/**
 * Returns the text with every lossy number replaced by a marked string; undefined when it contains none. A reviver
 * takes thirty times as long as the parse: seconds for a body of small objects with one long number.
 */
function markLossyNumbers(text: string): Marked | undefined {
  const sign = randomBytes(6).toString('hex');
  let marked = '';
  let taken = 0;
  let count = 0;
  let exponents = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === quote) index = findStringEnd(text, index);
    else if (isDigit(code) || code === minus) {
      const start = index;
      while (isNumberPart(text.charCodeAt(index + 1))) index++;
      const token = text.slice(start, index + 1);
      if (!isLossy(token) || isKey(text, index + 1)) continue;
      exponents += Math.min(Math.abs(exponentOf(token)), maxNumberLength); // larger exponents are reported with their path
      if (exponents > maxExponentDigits) throw new NumberExpansionError();
      marked += `${text.slice(taken, start)}"${sign}${token}"`;
      taken = index + 1;
      count++;
    }
  }
  return count === 0 ? undefined : { text: marked + text.slice(taken), sign, count };
}

const quote = 0x22;
const backslash = 0x5c;
const minus = 0x2d;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
/** Digits, `+`, `-`, `.`, `e`, `E`; false for NaN at the end of the text. */
const isNumberPart = (code: number): boolean =>
  isDigit(code) || code === 0x2b || code === minus || code === 0x2e || code === 0x65 || code === 0x45;

/** Index of the closing quote; the length of the text when it is missing. */
function findStringEnd(text: string, start: number): number {
  let index = start + 1;
  for (let code = text.charCodeAt(index); code !== quote && index < text.length; code = text.charCodeAt(index)) {
    index += code === backslash ? 2 : 1;
  }
  return index;
}

/**
 * Short numbers are lossy only because of an exponent or trailing zeros. Invalid numbers are left for the parser to
 * reject.
 */
function isLossy(token: string): boolean {
  if (token.length < 16 && !/[eE]|\.[^.]*0$/.test(token)) return false;
  return String(Number(token)) !== token && numberGrammar.test(token);
}

/** Numbers as keys are also left for the parser to reject. */
function isKey(text: string, after: number): boolean {
  let index = after;
  while (text[index] === ' ' || text[index] === '\n' || text[index] === '\r' || text[index] === '\t') index++;
  return text[index] === ':';
}

function restoreNumbers(root: object, { sign, count }: Marked): void {
  let remaining = count;
  const pending: object[] = [root];
  for (let node = pending.pop(); node !== undefined && remaining > 0; node = pending.pop()) {
    const fields = node as Record<string, unknown>;
    for (const key of Object.keys(fields)) {
      const value = fields[key];
      if (typeof value === 'object' && value !== null) pending.push(value);
      else if (typeof value === 'string' && value.startsWith(sign)) {
        fields[key] = lossless.rawJSON(value.slice(sign.length));
        remaining--;
      }
    }
  }
}

export interface JsonProblem {
  /** Keys and indexes from the root to the offending value. */
  path: (string | number)[];
  kind: 'depth' | 'null_character' | 'lone_surrogate' | 'number_range';
}

/** Descriptions of problems in files written by people, appended to the path. */
export const jsonProblemTexts: Readonly<Record<JsonProblem['kind'], string>> = {
  depth: 'is nested too deeply',
  null_character: 'holds the character U+0000',
  lone_surrogate: 'holds half of a surrogate pair',
  number_range: 'is a number that cannot be stored',
};

/** The first limit that a parsed document violates, or undefined. Keys are checked like strings. */
export function findJsonProblem(value: unknown): JsonProblem | undefined {
  return listJsonProblems(value, 1)[0];
}

/**
 * The first `max` violations of a parsed document, in document order; values deeper than `maxJsonDepth` are not
 * checked. With `only`, other kinds are ignored.
 */
export function listJsonProblems(root: unknown, max: number, only?: JsonProblem['kind']): JsonProblem[] {
  const problems: JsonProblem[] = [];
  const path: (string | number)[] = [];
  const report = (kind: JsonProblem['kind']): void => {
    if (problems.length < max && kind === (only ?? kind)) problems.push({ path: [...path], kind });
  };
  const visitString = (text: string): void => {
    if (text.includes('\u0000')) report('null_character');
    else if (!text.isWellFormed()) report('lone_surrogate');
  };
  const visit = (value: unknown): void => {
    if (typeof value === 'string') return visitString(value);
    if (typeof value !== 'object' || value === null) return;
    if (isRawNumber(value)) {
      if (!isStorableNumber(value.rawJSON)) report('number_range');
      return;
    }
    if (path.length >= maxJsonDepth) return report('depth');
    const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
    for (const key of keys) {
      if (problems.length >= max) return;
      path.push(key);
      if (typeof key === 'string') visitString(key);
      visit((value as Record<string | number, unknown>)[key]);
      path.pop();
    }
  };
  visit(root);
  return problems;
}

function isStorableNumber(source: string): boolean {
  return source.length <= maxNumberLength && Math.abs(exponentOf(source)) <= maxNumberLength;
}

const exponentOf = (number: string): number => Number(/[eE]([+-]?[0-9]+)$/.exec(number)?.[1] ?? 0);

/** Removes U+0000 and lone surrogates, which PostgreSQL and jsonb cannot store. */
export function toStorableText(text: string): string {
  return text.replaceAll(unstorable, '');
}

/** True for a JSON object: not null, a list or a raw number. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}
