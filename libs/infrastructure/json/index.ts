/**
 * Lossless JSON: numbers that a double cannot represent keep their text (rules/http#numbers-and-keys: integers above
 * 2^53 survive a round trip). The limits of inbound documents (nesting, U+0000, lone surrogates) are also checked here.
 */
import { randomBytes } from 'node:crypto';

export { isJsonWhitespace, JsonScanner, jsonByte } from './scanner.ts';

export type JsonObject = Record<string, unknown>;

/** Maximum nesting of inbound JSON; the outermost value is level 1 (rules/http#json-body-cap). */
export const maxJsonDepth = 64;
/** Maximum number of digits, which jsonb in PostgreSQL can always store; longer numbers are rejected. */
const maxNumberLength = 1000;
/**
 * Maximum number of digits that all numbers with exponents in a document have when written out: sixteen times what
 * `infos` of a conversation allow.
 */
const maxExponentDigits = 16_777_216;
/** Matches U+0000 and lone surrogates; with the flag `u` a valid pair does not match. */
const unstorable = /[\0\p{Surrogate}]/gu;
/** Matches a text that may contain a number that a double changes. Each character is inspected only a few times. */
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

/** Returns true for a number that is stored as text because a double would change it. */
export function isRawNumber(value: unknown): value is RawJson {
  return typeof value === 'object' && value !== null && lossless.isRawJSON(value);
}

/**
 * The document has too many digits once its exponents are written out: `1e1000` has six bytes, but a thousand digits.
 * It extends SyntaxError for callers that do not handle it separately.
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
  /** Random prefix of the marked strings, so that strings of the text cannot have the same prefix. */
  readonly sign: string;
  readonly count: number;
}

/**
 * Replaces every lossy number in the text by a marked string. Returns undefined when there is no lossy number. A
 * reviver of `JSON.parse` would take thirty times as long as the parse, which is seconds for a body of small objects
 * with one long number.
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
/**
 * Returns whether a character can be part of a number: digits, `+`, `-`, `.`, `e`, `E`. False for NaN at the end of the
 * text.
 */
const isNumberPart = (code: number): boolean =>
  isDigit(code) || code === 0x2b || code === minus || code === 0x2e || code === 0x65 || code === 0x45;

/** Returns the index of the closing quote, or the length of the text when it is missing. */
function findStringEnd(text: string, start: number): number {
  let index = start + 1;
  for (let code = text.charCodeAt(index); code !== quote && index < text.length; code = text.charCodeAt(index)) {
    index += code === backslash ? 2 : 1;
  }
  return index;
}

/**
 * Returns whether a double would change the number. A short number is lossy only because of an exponent or trailing
 * zeros. Invalid numbers return false, so that the parser rejects them.
 */
function isLossy(token: string): boolean {
  if (token.length < 16 && !/[eE]|\.[^.]*0$/.test(token)) return false;
  return String(Number(token)) !== token && numberGrammar.test(token);
}

/** Returns whether the number is used as a key. Such numbers are not replaced, so that the parser rejects them. */
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

/** Texts that follow the path in messages about files written by people. */
export const jsonProblemTexts: Readonly<Record<JsonProblem['kind'], string>> = {
  depth: 'is nested too deeply',
  null_character: 'holds the character U+0000',
  lone_surrogate: 'holds half of a surrogate pair',
  number_range: 'is a number that cannot be stored',
};

/** Returns the first violation of the limits in a parsed document, or undefined. Keys are checked like strings. */
export function findJsonProblem(value: unknown): JsonProblem | undefined {
  return listJsonProblems(value, 1)[0];
}

/**
 * Returns the first `max` violations in a parsed document, in document order. Values deeper than `maxJsonDepth` are not
 * checked. With `only`, other kinds of violations are ignored.
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

/** Returns true for a JSON object; false for null, lists and raw numbers. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** Applies an RFC 7396 merge patch. Keys such as `__proto__` are treated as data. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const merged = new Map(isJsonObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}
