/**
 * JSON without loss: numbers that a double cannot hold keep their text (spec 03 §1: integers above 2^53 survive a round trip),
 * and the bounds of every inbound document (nesting, U+0000, lone surrogates) are checked in one place.
 */

export type JsonObject = Record<string, unknown>;

/** Nesting allowed in any inbound JSON; the outermost value is level 1 (spec 03 §1). */
export const maxJsonDepth = 64;
/** Digits of a number that PostgreSQL's jsonb surely holds; longer ones are refused. */
const maxNumberLength = 1000;
/** With `u`, a surrogate is matched only when it stands alone. */
const unstorable = /[\0\p{Surrogate}]/gu;
const longNumber = /[0-9]{16}|[0-9]\.[0-9]*0(?![0-9])|[eE][+-]?[0-9]/;

interface RawJson {
  readonly rawJSON: string;
}
interface SourceContext {
  source?: string;
}
const lossless = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: SourceContext) => unknown): unknown;
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
};

/** True for a number kept as text because a double would change it. */
export function isRawNumber(value: unknown): value is RawJson {
  return typeof value === 'object' && value !== null && lossless.isRawJSON(value);
}

/**
 * Parses JSON; a number whose double prints differently becomes a raw number that `JSON.stringify` writes as it came.
 * Keys such as `__proto__` stay plain data.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  if (!longNumber.test(text)) return JSON.parse(text);
  return lossless.parse(text, (_key, value, context) =>
    typeof value === 'number' && context.source !== undefined && String(value) !== context.source
      ? lossless.rawJSON(context.source)
      : value,
  );
}

export interface JsonProblem {
  /** Keys and indexes from the root to the offending value. */
  path: (string | number)[];
  kind: 'depth' | 'null_character' | 'lone_surrogate' | 'number_range';
}

/** The first bound that a parsed document breaks, or undefined. Keys are checked as strings are. */
export function findJsonProblem(value: unknown, path: (string | number)[] = []): JsonProblem | undefined {
  if (typeof value === 'string') return findStringProblem(value, path);
  if (typeof value !== 'object' || value === null) return undefined;
  if (isRawNumber(value)) return isStorableNumber(value.rawJSON) ? undefined : { path, kind: 'number_range' };
  if (path.length >= maxJsonDepth) return { path, kind: 'depth' };
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const problem = findJsonProblem(item, [...path, index]);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  for (const [key, item] of Object.entries(value)) {
    const problem = findStringProblem(key, [...path, key]) ?? findJsonProblem(item, [...path, key]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Every bound that a parsed document breaks, in document order; values deeper than `maxJsonDepth` are not looked into. */
export function listJsonProblems(root: unknown): JsonProblem[] {
  const problems: JsonProblem[] = [];
  const path: (string | number)[] = [];
  const report = (kind: JsonProblem['kind']): void => {
    problems.push({ path: [...path], kind });
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
      path.push(key);
      if (typeof key === 'string') visitString(key);
      visit((value as Record<string | number, unknown>)[key]);
      path.pop();
    }
  };
  visit(root);
  return problems;
}

function findStringProblem(text: string, path: (string | number)[]): JsonProblem | undefined {
  if (text.includes('\u0000')) return { path, kind: 'null_character' };
  return text.isWellFormed() ? undefined : { path, kind: 'lone_surrogate' };
}

function isStorableNumber(source: string): boolean {
  const exponent = /[eE]([+-]?[0-9]+)$/.exec(source)?.[1];
  return source.length <= maxNumberLength && (exponent === undefined || Math.abs(Number(exponent)) <= maxNumberLength);
}

/** Text that PostgreSQL and jsonb can hold: without U+0000 and halves of characters. */
export function toStorableText(text: string): string {
  return text.replaceAll(unstorable, '');
}

/** True for a JSON object: neither null, list nor raw number. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}
