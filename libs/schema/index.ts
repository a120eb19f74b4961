/**
 * The only importer of ajv: JSON Schema 2020-12 compiled once, checked many times. A failed check names the first place and
 * rule, never the value, which may be a secret or speech.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { isJsonObject, isRawNumber } from '#libs/json';
import { parseInstant } from '#libs/time';

/** One broken rule: `path` holds keys and indexes from the root to the offending value. */
export interface SchemaProblem {
  readonly path: readonly string[];
  /** Keyword of JSON Schema that failed, e.g. `required`, `type`, `format`. */
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** ajv's sentence, e.g. `must be integer`. */
  readonly message: string;
}

/** Checks one value; undefined = it fits. */
export interface SchemaCheck {
  (value: unknown): SchemaProblem | undefined;
}

/** Made on first use: an instance takes 20 ms, a schema in it 1 to 3, and a service compiles a hundred. */
const instances = new Map<string, Ajv2020>();

function getAjv(allErrors: boolean, useDefaults = false): Ajv2020 {
  const key = `${allErrors} ${useDefaults}`;
  const ajv = instances.get(key) ?? createAjv(allErrors, useDefaults);
  instances.set(key, ajv);
  return ajv;
}

function createAjv(allErrors: boolean, useDefaults: boolean): Ajv2020 {
  // Schemas are not kept by `$id`: two may share one, e.g. an object and the same object with an optional mark.
  const ajv = new Ajv2020({
    strict: false,
    allErrors,
    useDefaults,
    verbose: true,
    logger: false,
    discriminator: true,
    addUsedSchema: false,
  });
  addFormats.default(ajv);
  ajv.addFormat('date-time', (text: string) => parseInstant(text).kind !== 'invalid');
  ajv.addFormat('date-time-offset', (text: string) => parseInstant(text).kind === 'instant');
  ajv.addKeyword({ keyword: objectOnly, type: 'object', errors: true, validate: refuseRawNumber });
  return ajv;
}

/**
 * Own keyword beside every `type: object`: a number kept as text (libs/json) is an object to JavaScript and so to ajv, but none to
 * whoever sent it.
 */
const objectOnly = 'objectOnly';

interface RefuseRawNumber {
  (wanted: unknown, value: unknown): boolean;
  errors?: Partial<ErrorObject>[];
}
const refuseRawNumber: RefuseRawNumber = (_wanted, value) => {
  if (!isRawNumber(value)) return true;
  refuseRawNumber.errors = [{ keyword: 'type', params: { type: 'object' }, message: 'must be object' }];
  return false;
};

/** The schema as it is compiled; one for each, because ajv remembers what it has compiled. */
const guarded = new WeakMap<object, TSchema>();
/** Keywords whose values are data, not schemas. */
const dataKeywords = new Set(['const', 'enum', 'default', 'examples']);

function guardObjects(schema: TSchema): TSchema {
  const known = guarded.get(schema);
  if (known !== undefined) return known;
  const copy = guardNode(schema) as TSchema;
  guarded.set(schema, copy);
  return copy;
}

function guardNode(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(guardNode);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([key, value]): [string, unknown] => [key, dataKeywords.has(key) ? value : guardNode(value)]);
  const { type } = node as { type?: unknown };
  const isObjectSchema = type === 'object' || (Array.isArray(type) && type.includes('object'));
  return Object.fromEntries(isObjectSchema ? [...entries, [objectOnly, true]] : entries);
}

/** What is found inside a raw number that should be an object is no problem of its own. */
function dropInside<Found extends { readonly instancePath: string; readonly schemaPath: string }>(errors: readonly Found[]): Found[] {
  const refused = errors.filter((error) => error.schemaPath.endsWith(`/${objectOnly}`));
  if (refused.length === 0) return [...errors];
  const isInside = (error: Found): boolean =>
    refused.some(({ instancePath: path }) => error.instancePath === path || error.instancePath.startsWith(`${path}/`));
  return errors.filter((error) => refused.includes(error) || !isInside(error));
}

/**
 * Compiles a schema to a check that stops at the first problem. Format `date-time` allows a naive time, `date-time-offset`
 * does not. Numbers kept as text (libs/json) count as numbers where the schema asks for one, and are replaced by it.
 */
export function compileSchema(schema: TSchema): SchemaCheck {
  const validate = getAjv(false).compile(guardObjects(schema));
  return (value) => {
    if (validate(value)) return undefined;
    return firstProblem(validate, value);
  };
}

/** As `compileSchema`, but finds every problem; for forms, files and 422 bodies. */
export function compileSchemaForAll(schema: TSchema): (value: unknown) => SchemaProblem[] {
  const validate = getAjv(true).compile(guardObjects(schema));
  return (value) => {
    if (validate(value)) return [];
    const errors = validate.errors ?? [];
    if (errors.filter((error) => lowerRawNumber(value, error)).length > 0 && validate(value)) return [];
    return dropInside(validate.errors ?? []).map(toProblem);
  };
}

/** A broken rule with everything that a form needs to explain it to the person who filled it in. */
export interface SchemaViolation {
  /** Keys and indexes from the root to the offending value. */
  readonly path: readonly string[];
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Place of the rule in the schema, e.g. `#/properties/name/anyOf/0/type`. */
  readonly rule: string;
  /** The offending value. May be secret: describe it, never repeat it. */
  readonly value: unknown;
  /** The schema that holds the rule. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Checks a form: every violation with its value, in the order of the schema. Absent properties get their `default`. */
export function compileForm(schema: TSchema): (value: unknown) => SchemaViolation[] {
  const validate = getAjv(true, true).compile(guardObjects(schema));
  const passes = (value: unknown): boolean => {
    if (validate(value)) return true;
    const lowered = (validate.errors ?? []).filter((error) => lowerRawNumber(value, error)).length;
    return lowered > 0 && validate(value);
  };
  return (value) => (passes(value) ? [] : dropInside(validate.errors ?? []).map(toViolation));
}

function toViolation(error: ErrorObject): SchemaViolation {
  const schema = error.parentSchema ?? {};
  return { path: readPath(error), keyword: error.keyword, params: error.params, rule: error.schemaPath, value: error.data, schema };
}

function firstProblem(validate: ValidateFunction, value: unknown): SchemaProblem | undefined {
  let error = validate.errors?.[0];
  while (error !== undefined && lowerRawNumber(value, error)) {
    if (validate(value)) return undefined;
    error = validate.errors?.[0];
  }
  return error === undefined ? undefined : toProblem(error);
}

/** Replaces the raw number that failed `type: number|integer` by its double; false when that is not the reason. */
function lowerRawNumber(root: unknown, error: ErrorObject): boolean {
  const wanted: unknown = error.params['type'];
  const numeric =
    wanted === 'number' ||
    wanted === 'integer' ||
    (Array.isArray(wanted) && wanted.some((type) => type === 'number' || type === 'integer'));
  if (error.keyword !== 'type' || !numeric || !isRawNumber(error.data)) return false;
  const path = readPath(error);
  const key = path.pop();
  let parent = root;
  for (const step of path) parent = Array.isArray(parent) ? parent[Number(step)] : isJsonObject(parent) ? parent[step] : undefined;
  const number = Number(error.data.rawJSON);
  if (key === undefined || !Number.isFinite(number)) return false;
  if (Array.isArray(parent)) parent[Number(key)] = number;
  else if (isJsonObject(parent)) parent[key] = number;
  else return false;
  return true;
}

function readPath(error: ErrorObject): string[] {
  return error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function toProblem(error: ErrorObject): SchemaProblem {
  return { path: readPath(error), keyword: error.keyword, params: error.params, message: error.message ?? 'is invalid' };
}
