/**
 * The field policy of step configurations (rules/steps#step-configuration; D16b), fail-closed: what has no declared state is
 * neither shown nor accepted. The state of a top-level key holds for everything below it; below, what a closed object of the model does
 * not declare has none. A step without a registered job has no policy.
 */
import type { TObject, TSchema } from '#libs/contract';
import { truncateText, maxQuoteLength } from '#libs/errors';
import { isJsonObject, type JsonObject } from '#libs/json';
import type { PipelineJob } from './declaration.ts';

/** Shown of every step with a registered job, writable in none: the step itself names its job. */
export const jobField = 'pipeline_job';

const notASetting = 'is not a setting of this step';

/** Fields that an answer names; checking stops there (D60). */
const maxFields = 50;

/** Dotted path → what is wrong there. */
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

/** What callers are shown of a configuration whose defaults are filled in. */
export function showStepConfig(job: PipelineJob | undefined, config: JsonObject): JsonObject {
  if (job === undefined) return Object.fromEntries(Object.entries(config).filter(([key]) => key !== jobField));
  const declared = dropUndeclared(job.config, config);
  const shown = Object.keys(job.config.properties).filter(
    (key) => key !== jobField && Object.hasOwn(job.fields, key) && job.fields[key] !== 'hidden' && Object.hasOwn(declared, key),
  );
  return Object.fromEntries([[jobField, job.name], ...shown.map((key) => [key, declared[key]])]);
}

/**
 * Dotted path → why the patch may not write there, of the first fifty; empty when it may be applied. Null is accepted for what is stored without being
 * declared: that is how it goes.
 */
export function findUnwritable(job: PipelineJob | undefined, stored: JsonObject, patch: JsonObject): Record<string, string> {
  const problems = new FieldProblems();
  for (const [key, value] of Object.entries(patch)) {
    if (problems.isFull) break;
    if (key === jobField) problems.add([key], 'is set with the step itself');
    else if (job !== undefined) findUnwritableField(job, stored, key, value, problems);
  }
  return problems.toRecord();
}

function findUnwritableField(job: PipelineJob, stored: JsonObject, key: string, value: unknown, problems: FieldProblems): void {
  const access = Object.hasOwn(job.fields, key) ? job.fields[key] : undefined;
  const property = propertyOf(job.config, key);
  if (access === 'read') problems.add([key], 'is read-only');
  else if (access === 'hidden') problems.add([key], notASetting);
  else if (property === undefined) findLeftover(stored, key, value, [key], problems);
  else if (access === undefined) problems.add([key], notASetting);
  else findUndeclaredBelow(property, ownValue(stored, key), value, [key], problems);
}

/** Keys of a patch that a closed object of the model, at any depth, does not declare. */
function findUndeclaredBelow(schema: TSchema, stored: unknown, patch: unknown, path: readonly string[], problems: FieldProblems): void {
  if (!isClosedObject(schema) || !isJsonObject(patch)) return;
  const before = isJsonObject(stored) ? stored : {};
  for (const [key, value] of Object.entries(patch)) {
    if (problems.isFull) return;
    const property = propertyOf(schema, key);
    if (property === undefined) findLeftover(before, key, value, [...path, key], problems);
    else findUndeclaredBelow(property, ownValue(before, key), value, [...path, key], problems);
  }
}

function findLeftover(stored: JsonObject, key: string, value: unknown, path: readonly string[], problems: FieldProblems): void {
  if (value !== null || !Object.hasOwn(stored, key)) problems.add(path, notASetting);
}

/** The configuration without what the model does not declare: keys of an earlier version that nobody has removed yet. */
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
