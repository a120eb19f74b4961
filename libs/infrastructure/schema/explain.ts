/**
 * Explains why a value does not match its schema, in schema order and up to a limit. ajv's own list has an entry for
 * every broken item and every union branch, so that a small body can produce gigabytes (D60). Here ajv checks the rules
 * of a single value, and this module walks the values: it checks the size of a list before its items, and only the
 * matching branch of a union.
 */
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { isRawNumber } from '#libs/infrastructure/json';
import { getAjv, type Json } from './ajv.ts';

export type Path = readonly (string | number)[];

/** A violated rule with all data that a form needs to explain it to the user. */
export interface SchemaViolation {
  /** Keys and indexes from the root to the offending value. */
  readonly path: Path;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** ajv's message, e.g. `must be integer`. */
  readonly message: string;
  /** The invalid value. It may be secret: describe it, but do not include it in a message. */
  readonly value: unknown;
  /** The schema that contains the rule. */
  readonly schema: Json;
}

export interface Explanation {
  readonly violations: SchemaViolation[];
  /**
   * Whether numbers stored as text were replaced by doubles where the schema requires a number. If so, the value may
   * now be valid.
   */
  readonly lowered: boolean;
}

/** The parts of a schema that the walk needs. */
interface Node {
  readonly schema: Json;
  /** Compiled rules for the value itself; undefined when the schema has none. */
  readonly own: ValidateFunction | undefined;
  readonly types: readonly unknown[] | undefined;
  readonly branches: readonly Json[];
  readonly properties: readonly [string, Json][];
  readonly patterns: readonly [RegExp, Json][];
  /** Schema of properties without a declared schema. False: not allowed; undefined: any value is allowed. */
  readonly rest: Json | false | undefined;
  /** Compiled rules for property names; undefined when the schema has none. */
  readonly names: ValidateFunction | undefined;
  readonly items: Json | undefined;
}

/** Keywords that the walk evaluates itself, and annotations. All other keywords are rules for the value itself. */
const notOwn = new Set([
  'properties',
  'patternProperties',
  'additionalProperties',
  'propertyNames',
  'items',
  'anyOf',
  'oneOf',
  'discriminator',
  '$ref',
  '$id',
  '$schema',
  'components',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
]);
/** If a value violates one of these rules, its nested values are not checked. */
const shapeKeywords = new Set(['type', 'const', 'enum', 'minItems', 'maxItems', 'minProperties', 'maxProperties']);

const nodes = new WeakMap<object, Node>();

/** Returns the first `max` violations of a value. */
export function explain(schema: Json, value: unknown, max: number): Explanation {
  const walk = new Walk(schema, max);
  walk.visit(schema, value, undefined);
  return walk;
}

class Walk implements Explanation {
  readonly violations: SchemaViolation[] = [];
  lowered = false;
  readonly #root: Json;
  readonly #max: number;
  readonly #path: (string | number)[] = [];

  constructor(root: Json, max: number) {
    this.#root = root;
    this.#max = max;
  }

  get #isFull(): boolean {
    return this.violations.length >= this.#max;
  }

  /** @param parent object or list that contains the value */
  visit(given: Json, found: unknown, parent: object | undefined): void {
    if (this.#isFull) return;
    const node = compileNode(this.#resolve(given));
    const value = this.#lower(node, found, parent);
    if (node.own !== undefined && !node.own(value)) {
      const errors = node.own.errors ?? [];
      const ofShape = errors.filter(({ keyword }) => shapeKeywords.has(keyword));
      for (const error of ofShape.length > 0 ? ofShape : errors) this.#report(error, value, node.schema);
      if (ofShape.length > 0) return;
    }
    if (node.branches.length > 0) this.#visitUnion(node, value, parent);
    if (Array.isArray(value)) this.#visitItems(node, value);
    else if (isObject(value)) this.#visitProperties(node, value);
  }

  #visitPart(schema: Json, parent: object, key: string | number): void {
    this.#path.push(key);
    this.visit(schema, (parent as Record<string | number, unknown>)[key], parent);
    this.#path.pop();
  }

  #visitItems({ items }: Node, value: readonly unknown[]): void {
    if (items === undefined) return;
    for (let index = 0; index < value.length && !this.#isFull; index++) this.#visitPart(items, value, index);
  }

  #visitProperties({ schema, properties, patterns, names, rest }: Node, value: object): void {
    if (names !== undefined) this.#visitNames(names, value);
    for (const [name, property] of properties) if (Object.hasOwn(value, name)) this.#visitPart(property, value, name);
    if (rest === undefined && patterns.length === 0) return;
    const named = new Set(properties.map(([name]) => name));
    for (const key of Object.keys(value)) {
      if (this.#isFull) return;
      const matching = patterns.filter(([pattern]) => pattern.test(key));
      for (const [, property] of matching) this.#visitPart(property, value, key);
      if (named.has(key) || matching.length > 0 || rest === undefined) continue;
      if (rest !== false) this.#visitPart(rest, value, key);
      else
        this.#report(
          {
            keyword: 'additionalProperties',
            params: { additionalProperty: key },
            message: 'must NOT have additional properties',
          },
          value,
          schema,
        );
    }
  }

  #visitNames(names: ValidateFunction, value: object): void {
    for (const name of Object.keys(value)) {
      if (this.#isFull) return;
      if (names(name)) continue;
      this.#path.push(name);
      for (const error of names.errors ?? []) this.#report(error, name, names.schema as Json);
      this.#path.pop();
    }
  }

  /**
   * Checks the union branch that the value was meant for: the first branch with a matching type, otherwise the first
   * branch that is not null.
   */
  #visitUnion({ schema, branches }: Node, value: unknown, parent: object | undefined): void {
    const meant = branches.filter((branch) => this.#accepts(branch, value));
    if (meant.length > 1 && meant.some((branch) => this.#fits(branch, value))) return;
    if (meant[0] !== undefined) return this.visit(meant[0], value, parent);
    const choices = branches.filter((branch) => this.#resolve(branch)['type'] !== 'null');
    if (choices.length > 0 && choices.every((branch) => 'const' in branch)) {
      const allowedValues = choices.map((branch) => branch['const']);
      return this.#report(
        { keyword: 'enum', params: { allowedValues }, message: 'must be equal to one of the allowed values' },
        value,
        schema,
      );
    }
    const [branch] = choices;
    if (branch !== undefined) this.visit(branch, value, parent);
  }

  #accepts(given: Json, value: unknown): boolean {
    const branch = this.#resolve(given);
    if ('const' in branch) return branch['const'] === value;
    const { types, branches } = compileNode(branch);
    if (types === undefined) return branches.length === 0 || branches.some((inner) => this.#accepts(inner, value));
    return types.some((type) => hasType(type, value));
  }

  #fits(branch: Json, value: unknown): boolean {
    const walk = new Walk(this.#root, 1);
    walk.visit(branch, value, undefined);
    this.lowered ||= walk.lowered;
    return walk.violations.length === 0;
  }

  /**
   * Returns the double of a number stored as text if the schema requires a number, and replaces it in `parent`. Returns
   * other values unchanged.
   */
  #lower({ types }: Node, value: unknown, parent: object | undefined): unknown {
    if (!isRawNumber(value) || types?.some((type) => type === 'number' || type === 'integer') !== true) return value;
    const number = Number(value.rawJSON);
    if (!Number.isFinite(number)) return value;
    const key = this.#path.at(-1);
    if (parent !== undefined && key !== undefined) {
      (parent as Record<string | number, unknown>)[key] = number;
      this.lowered = true;
    }
    return number;
  }

  #report(
    { keyword, params = {}, message = 'is invalid' }: Partial<ErrorObject> & { keyword: string },
    value: unknown,
    schema: Json,
  ): void {
    if (!this.#isFull) this.violations.push({ path: [...this.#path], keyword, params, message, value, schema });
  }

  /** Returns the schema to which a reference such as `#/components/schemas/Note` points. */
  #resolve(schema: Json): Json {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    const steps = $ref.replace(/^#\/?/, '').split('/');
    return this.#resolve(steps.reduce<Json>((position, step) => (position[step] ?? {}) as Json, this.#root));
  }
}

function compileNode(schema: Json): Node {
  const known = nodes.get(schema);
  if (known !== undefined) return known;
  const {
    type,
    properties = {},
    patternProperties = {},
    additionalProperties,
    propertyNames,
    items,
    anyOf,
    oneOf,
  } = schema;
  const own = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !notOwn.has(keyword)));
  const node: Node = {
    schema,
    own: Object.keys(own).length === 0 ? undefined : getAjv({ allErrors: true }).compile(own),
    types: type === undefined ? undefined : [type].flat(),
    branches: (anyOf ?? oneOf ?? []) as Json[],
    properties: Object.entries(properties as Record<string, Json>),
    patterns: Object.entries(patternProperties as Record<string, Json>).map(([pattern, property]) => [
      new RegExp(pattern, 'u'),
      property,
    ]),
    rest:
      typeof additionalProperties === 'object' || additionalProperties === false
        ? (additionalProperties as Json | false)
        : undefined,
    names: typeof propertyNames === 'object' ? getAjv({}).compile(propertyNames as Json) : undefined,
    items: typeof items === 'object' ? (items as Json) : undefined,
  };
  nodes.set(schema, node);
  return node;
}

function hasType(type: unknown, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value) && !Array.isArray(value);
    case 'number':
      return typeof value === 'number' || isRawNumber(value);
    case 'integer':
      return Number.isInteger(isRawNumber(value) ? Number(value.rawJSON) : value);
    default:
      return typeof value === type;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isRawNumber(value);
}
