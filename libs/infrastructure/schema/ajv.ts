/** The only module that imports ajv. It creates instances with the platform's formats and prepares schemas for them. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from '#libs/infrastructure/contract';
import { isRawNumber } from '#libs/infrastructure/json';
import { isSingleLine, lineFormat } from '#libs/infrastructure/text';
import { parseInstant } from '#libs/infrastructure/time';

/** A schema as data. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * Created on first use: creating an instance takes 20 ms and compiling a schema about 1 ms, and a service has hundreds
 * of schemas.
 */
const instances = new Map<string, Ajv2020>();

/**
 * @param allErrors set it only for rules that can be violated a few times, since the number of errors is not limited
 * (D60)
 */
export function getAjv({ allErrors = false, useDefaults = false }): Ajv2020 {
  const key = `${allErrors} ${useDefaults}`;
  const ajv = instances.get(key) ?? createAjv(allErrors, useDefaults);
  instances.set(key, ajv);
  return ajv;
}

function createAjv(allErrors: boolean, useDefaults: boolean): Ajv2020 {
  // Schemas do not reference each other. ajv's code optimisation takes half of the compilation time without an effect
  // in V8. Schemas are not validated here but in test/architecture/schemas.test.ts: compiling the meta-schema takes
  // longer than compiling a service's settings.
  const options = {
    strict: false,
    logger: false,
    discriminator: true,
    addUsedSchema: false,
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  } as const;
  const ajv = new Ajv2020({ ...options, allErrors, useDefaults });
  addFormats.default(ajv);
  ajv.addFormat('date-time', (text: string) => parseInstant(text).kind !== 'invalid');
  ajv.addFormat('date-time-offset', (text: string) => parseInstant(text).kind === 'instant');
  ajv.addFormat(lineFormat, isSingleLine);
  ajv.addKeyword({ keyword: objectOnly, type: 'object', errors: true, validate: refuseRawNumber });
  return ajv;
}

/**
 * Custom keyword that is added to every `type: object`. It rejects numbers stored as text (libs/infrastructure/json), which are
 * objects for JavaScript and ajv, but numbers for the client.
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

/** Prepared schemas by original schema, cached because ajv caches compilations by the identity of the schema. */
const guarded = new WeakMap<object, Json>();
/** Keywords whose values are data, not schemas. */
const dataKeywords = new Set(['const', 'enum', 'default', 'examples']);

/**
 * Returns the schema with `objectOnly` added to every `type: object`, and without model names, which ajv accepts only
 * once.
 */
export function guardObjects(schema: TSchema): Json {
  const known = guarded.get(schema);
  if (known !== undefined) return known;
  const copy = guardNode(schema) as Json;
  guarded.set(schema, copy);
  return copy;
}

function guardNode(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(guardNode);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node)
    .filter(([key, value]) => key !== '$id' || typeof value !== 'string')
    .map(([key, value]): [string, unknown] => [key, dataKeywords.has(key) ? value : guardNode(value)]);
  const { type } = node as { type?: unknown };
  const isObjectSchema = type === 'object' || (Array.isArray(type) && type.includes('object'));
  return Object.fromEntries(isObjectSchema ? [...entries, [objectOnly, true]] : entries);
}
