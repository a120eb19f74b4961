/**
 * Field policy of step configurations (rules/steps#step-configuration; D16b). Fields without a declared access are
 * neither returned nor accepted. The access of a top-level key applies to everything below it, except keys that a
 * closed object of the schema does not declare. A step without a registered job has no policy.
 */
import type { TObject, TSchema } from '#libs/infrastructure/contract';
import { truncateText, maxQuoteLength } from '#libs/infrastructure/errors';
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import type { PipelineJob } from './declaration.ts';

/**
 * Key that is returned for every step with a registered job. It is never writable, because the step itself sets its
 * job.
 */
export const jobField = 'pipeline_job';

const notASetting = 'is not a setting of this step';

/** Maximum number of fields in an error; the check stops at this number (D60). */
const maxFields = 50;

/** Collects problems by dotted path. */
class FieldProblems {
  readonly #found = new Map<string, string>();

  get isFull(): boolean {
    return this.#found.size >= maxFields;
  }

  add(path: readonly string[], problem: string): void {
    if (!this.isFull) this.#found.set(path.map((part) => truncateText(part, maxQuoteLength)).join('.'), problem);
  }

  toRecord(): Record<string, string> {
    return Object.fromEntries(this.#found);
  }
}

/** Returns the fields of a configuration that callers can read. `config` must contain the defaults. */
export function showStepConfig(job: PipelineJob | undefined, config: JsonObject): JsonObject {
  if (job === undefined) return Object.fromEntries(Object.entries(config).filter(([key]) => key !== jobField));
  const declared = dropUndeclared(job.config, config);
  const visible = Object.keys(job.config.properties).filter(
    (key) =>
      key !== jobField &&
      Object.hasOwn(job.fields, key) &&
      job.fields[key] !== 'hidden' &&
      Object.hasOwn(declared, key),
  );
  return Object.fromEntries([[jobField, job.name], ...visible.map((key) => [key, declared[key]])]);
}

/**
 * Returns the problems of a patch by dotted path, at most 50; empty when the patch is allowed. Null is accepted for
 * stored keys that are no longer declared, so that clients can remove them.
 */
export function findUnwritable(
  job: PipelineJob | undefined,
  stored: JsonObject,
  patch: JsonObject,
): Record<string, string> {
  const problems = new FieldProblems();
  for (const [key, value] of Object.entries(patch)) {
    if (problems.isFull) break;
    if (key === jobField) problems.add([key], 'is set on the step itself');
    else if (job !== undefined) findUnwritableField(job, stored, key, value, problems);
  }
  return problems.toRecord();
}

function findUnwritableField(
  job: PipelineJob,
  stored: JsonObject,
  key: string,
  value: unknown,
  problems: FieldProblems,
): void {
  const access = Object.hasOwn(job.fields, key) ? job.fields[key] : undefined;
  const property = propertyOf(job.config, key);
  if (access === 'read') problems.add([key], 'is read-only');
  else if (access === 'hidden') problems.add([key], notASetting);
  else if (property === undefined) findLeftover(stored, key, value, [key], problems);
  else if (access === undefined) problems.add([key], notASetting);
  else findUndeclaredBelow(property, ownValue(stored, key), value, [key], problems);
}

/** Finds keys of a patch that a closed object of the schema does not declare, at any depth. */
function findUndeclaredBelow(
  schema: TSchema,
  stored: unknown,
  patch: unknown,
  path: readonly string[],
  problems: FieldProblems,
): void {
  if (!isClosedObject(schema) || !isJsonObject(patch)) return;
  const before = isJsonObject(stored) ? stored : {};
  for (const [key, value] of Object.entries(patch)) {
    if (problems.isFull) return;
    const property = propertyOf(schema, key);
    if (property === undefined) findLeftover(before, key, value, [...path, key], problems);
    else findUndeclaredBelow(property, ownValue(before, key), value, [...path, key], problems);
  }
}

function findLeftover(
  stored: JsonObject,
  key: string,
  value: unknown,
  path: readonly string[],
  problems: FieldProblems,
): void {
  if (value !== null || !Object.hasOwn(stored, key)) problems.add(path, notASetting);
}

/** Returns the configuration without keys that the schema does not declare, such as keys of an earlier version. */
export function dropUndeclared(schema: TObject, config: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(config).flatMap(([key, value]) => {
      const property = propertyOf(schema, key);
      if (property === undefined) return isClosedObject(schema) ? [] : [[key, value]];
      return [[key, isObjectSchema(property) && isJsonObject(value) ? dropUndeclared(property, value) : value]];
    }),
  );
}

function propertyOf(schema: TObject, key: string): TSchema | undefined {
  return Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
}

function ownValue(value: JsonObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

export function isObjectSchema(schema: object): schema is TObject {
  return 'properties' in schema;
}

function isClosedObject(schema: object): schema is TObject {
  return isObjectSchema(schema) && (schema as { additionalProperties?: unknown }).additionalProperties === false;
}
