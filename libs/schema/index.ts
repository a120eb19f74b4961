/**
 * JSON Schema 2020-12 compiled once, on first use, checked many times. A failed check names the place and the rule, never the value, which may
 * be a secret or speech.
 */
import type { TSchema } from '#libs/contract';
import { lineFormat, linePattern } from '#libs/text';
import { getAjv, guardObjects, type Json } from './ajv.ts';
import { explain, type SchemaViolation } from './explain.ts';

export type { SchemaViolation } from './explain.ts';

/** One broken rule: `path` holds keys and indexes from the root to the offending value. */
export type SchemaProblem = Pick<SchemaViolation, 'path' | 'keyword' | 'params' | 'message'>;

/** Checks one value; undefined = it fits. */
export interface SchemaCheck {
  (value: unknown): SchemaProblem | undefined;
}

/** A schema as it is checked, and ajv's check of it. */
interface CompiledSchema {
  readonly guarded: Json;
  readonly validate: ReturnType<ReturnType<typeof getAjv>['compile']>;
}

/** Violations that are listed of one value; whoever mends them all learns of the rest then (D60). */
export const maxViolations = 50;

/**
 * Compiles a schema to a check that stops at the first problem. Format `date-time` allows a naive time, `date-time-offset`
 * does not. Numbers kept as text (libs/json) count as numbers where the schema asks for one, and are replaced by it.
 */
export function compileSchema(schema: TSchema): SchemaCheck {
  const check = compile(schema, { max: 1 });
  return (value) => {
    const [violation] = check(value);
    return violation === undefined ? undefined : toProblem(violation);
  };
}

/** As `compileSchema`, but finds the first `maxViolations` problems; for files and settings. */
export function compileSchemaForAll(schema: TSchema): (value: unknown) => SchemaProblem[] {
  const check = compile(schema, {});
  return (value) => check(value).map(toProblem);
}

/** Checks a form: the first `maxViolations` violations with their values, in the order of the schema. Absent properties get their `default`. */
export function compileForm(schema: TSchema): (value: unknown) => SchemaViolation[] {
  return compile(schema, { useDefaults: true });
}

/**
 * A value that fits costs one pass of ajv's, and one that does not a walk that ends with the list, both linear in the value. The first value
 * costs the compilation, too: a service declares hundreds of schemas, whose compilation would be half of its start.
 */
function compile(schema: TSchema, { max = maxViolations, useDefaults = false }): (value: unknown) => SchemaViolation[] {
  let compiled: CompiledSchema | undefined;
  return (value) => {
    const { guarded, validate } = (compiled ??= compileNow(schema, useDefaults));
    if (validate(value)) return [];
    const { violations, lowered } = explain(guarded, value, max);
    if (violations.length > 0 || (lowered && validate(value))) return violations;
    // A rule that the walk does not know.
    const { keyword = '', params = {}, message = 'is invalid' } = validate.errors?.[0] ?? {};
    return [{ path: [], keyword, params, message, value, schema: guarded }];
  };
}

function compileNow(schema: TSchema, useDefaults: boolean): CompiledSchema {
  const guarded = guardObjects(schema);
  return { guarded, validate: getAjv({ useDefaults }).compile(guarded) };
}

function toProblem({ path, keyword, params, message }: SchemaViolation): SchemaProblem {
  const isLine = params['pattern'] === linePattern || params['format'] === lineFormat;
  return { path, keyword, params, message: isLine ? 'must have no control characters' : message };
}
