/**
 * JSON Schema 2020-12, compiled on first use and cached. A failed check names path and rule, never the value, which may
 * be a secret or speech.
 */
import type { TSchema } from '#libs/infrastructure/contract';
import { lineFormat, linePattern } from '#libs/infrastructure/text';
import { getAjv, guardObjects, type Json } from './ajv.ts';
import { explain, type SchemaViolation } from './explain.ts';

export type { SchemaViolation } from './explain.ts';

/** One violated rule. `path` contains keys and indexes from the root to the invalid value. */
export type SchemaProblem = Pick<SchemaViolation, 'path' | 'keyword' | 'params' | 'message'>;

/** Checks one value; returns undefined when the value is valid. */
export interface SchemaCheck {
  (value: unknown): SchemaProblem | undefined;
}

/** A prepared schema and its compiled ajv check. */
interface CompiledSchema {
  readonly guarded: Json;
  readonly validate: ReturnType<ReturnType<typeof getAjv>['compile']>;
}

/** Maximum reported violations of one value. Further violations are reported after these are fixed (D60). */
export const maxViolations = 50;

/**
 * Returns a check that stops at the first problem. Format `date-time` accepts times without a zone, `date-time-offset`
 * does not. Numbers stored as text (libs/infrastructure/json) are accepted where the schema requires a number, and are replaced by
 * numbers.
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

/**
 * Returns a check for forms. It returns the first `maxViolations` violations with their values, in the order of the
 * schema, and sets the `default` of absent properties.
 */
export function compileForm(schema: TSchema): (value: unknown) => SchemaViolation[] {
  return compile(schema, { useDefaults: true });
}

/**
 * Returns a check that compiles the schema on its first value: a service declares hundreds of schemas, and compiling
 * them would take half of its startup time. A valid value costs one pass of ajv, an invalid one also a walk that ends
 * at the limit; both are linear.
 */
function compile(schema: TSchema, { max = maxViolations, useDefaults = false }): (value: unknown) => SchemaViolation[] {
  let compiled: CompiledSchema | undefined;
  return (value) => {
    const { guarded, validate } = (compiled ??= compileNow(schema, useDefaults));
    if (validate(value)) return [];
    const { violations, lowered } = explain(guarded, value, max);
    if (violations.length > 0 || (lowered && validate(value))) return violations;
    // Used when ajv rejects the value because of a rule that the walk does not check.
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
