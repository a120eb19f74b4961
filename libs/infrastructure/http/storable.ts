/** Finds characters and numbers in keys and values of a body that cannot be stored (rules/http#strings; D60). */
import type { TSchema } from '#libs/infrastructure/contract';
import { type JsonProblem, listJsonProblems } from '#libs/infrastructure/json';
import type { ValidationItem } from './envelope.ts';

type Location = readonly (string | number)[];
type Json = Readonly<Record<string, unknown>>;

const items = {
  null_character: { type: 'string_unicode', msg: 'Input should be a valid string without U+0000' },
  lone_surrogate: {
    type: 'string_unicode',
    msg: 'Input should be a valid string, unable to parse raw data as a unicode string',
  },
  number_range: { type: 'finite_number', msg: 'Input should be a number that can be stored' },
  depth: { type: 'recursion_loop', msg: 'Input is nested too deeply' },
} as const;

/** Returns the validation item for a text parameter that contains U+0000. */
export function nullCharacter(location: Location): ValidationItem {
  return { ...items.null_character, loc: [...location] };
}

/** Matches a body that may contain an unstorable value. Each pattern visits a character only a few times. */
const suspicious = /\\u(?:0000|[dD][89a-fA-F])|(?<![0-9])[0-9]{500}|[0-9.][eE][+-]?[0-9]{3}/;

/**
 * Returns the first `max` problems. `text` is tested first, because most bodies need no search. Undeclared fields are
 * checked for U+0000 only, and reported as one problem. Lists and objects that are too large are not searched, because
 * the schema check reports their size.
 */
export function listUnstorable(
  schema: TSchema,
  value: unknown,
  text: string,
  location: Location,
  max: number,
): ValidationItem[] {
  if (max <= 0 || !suspicious.test(text)) return [];
  const search = new Search(location, max);
  search.visit(schema as Json, value);
  return search.found;
}

class Search {
  readonly found: ValidationItem[] = [];
  readonly #path: (string | number)[];
  readonly #max: number;
  #undeclared = false;

  constructor(location: Location, max: number) {
    this.#path = [...location];
    this.#max = max;
  }

  visit(schema: Json, value: unknown): void {
    if (this.found.length >= this.#max) return;
    const shape = Array.isArray(value)
      ? findShape(schema, 'items')
      : findShape(schema, 'properties', 'additionalProperties');
    if (typeof value !== 'object' || value === null || shape === undefined) this.#report(value);
    else if (isOverSize(shape, value)) return;
    else if (Array.isArray(value))
      for (const [index, item] of value.entries()) this.#visitPart(index, shape['items'], item);
    else this.#visitFields(shape, value as Json);
  }

  #visitFields({ properties = {}, additionalProperties: rest }: Json, value: Json): void {
    for (const key of Object.keys(value)) {
      const declared = Object.hasOwn(properties as Json, key) ? (properties as Json)[key] : rest;
      if (declared === undefined || declared === false) this.#visitUndeclared(key, value[key]);
      else {
        this.#report({ [key]: null });
        this.#visitPart(key, declared, value[key]);
      }
    }
  }

  #visitPart(step: string | number, schema: unknown, value: unknown): void {
    this.#path.push(step);
    this.visit(typeof schema === 'object' && schema !== null ? (schema as Json) : {}, value);
    this.#path.pop();
  }

  #visitUndeclared(key: string, value: unknown): void {
    if (this.#undeclared) return;
    this.#undeclared = this.#report({ [key]: value }, 1, 'null_character');
  }

  #report(value: unknown, max = this.#max - this.found.length, only?: JsonProblem['kind']): boolean {
    const problems = listJsonProblems(value, max, only);
    for (const { path, kind } of problems) this.found.push({ ...items[kind], loc: [...this.#path, ...path] });
    return problems.length > 0;
  }
}

function isOverSize({ maxItems, maxProperties }: Json, value: object): boolean {
  if (Array.isArray(value)) return typeof maxItems === 'number' && value.length > maxItems;
  return typeof maxProperties === 'number' && Object.keys(value).length > maxProperties;
}

/**
 * Returns the schema, or the first branch of its union, that has one of the keywords, i.e. that describes the items or
 * fields of a value.
 */
function findShape(schema: Json, ...keywords: readonly string[]): Json | undefined {
  if (keywords.some((keyword) => schema[keyword] !== undefined)) return schema;
  const branches = (schema['anyOf'] ?? schema['oneOf'] ?? []) as Json[];
  for (const branch of branches) {
    const shape = findShape(branch, ...keywords);
    if (shape !== undefined) return shape;
  }
  return undefined;
}
