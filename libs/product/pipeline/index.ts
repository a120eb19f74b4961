/**
 * Registry of the pipeline jobs that a journey step can name as its `pipeline_job` (rules/steps#pipeline-jobs). New
 * jobs are declared in jobs.ts and run by the owning service (`libs/product/pipeline-worker`).
 */
import type { TObject } from '#libs/infrastructure/contract';
import { truncateText, maxQuoteLength } from '#libs/infrastructure/errors';
import { isJsonObject, parseJson, type JsonObject } from '#libs/infrastructure/json';
import { compileSchemaForAll } from '#libs/infrastructure/schema';
import type { PipelineJob, PipelineRegistry } from './declaration.ts';
import { isObjectSchema } from './field-policy.ts';
import { declaredJobs } from './jobs.ts';

export { jobOf, jobsOf, PipelinePayload } from './declaration.ts';
export type { PipelineJob, PipelineRegistry } from './declaration.ts';
export * from './jobs.ts';
export { describePipelineStatus, jobTypeOf, listPipelineStatuses } from './status.ts';
export { dropUndeclared, findUnwritable, jobField, showStepConfig } from './field-policy.ts';

/** All registered jobs by name. */
export const pipelineJobs: PipelineRegistry = createRegistry(declaredJobs);

/**
 * Returns the jobs by name.
 * @throws Error when two jobs have the same name or job type
 */
export function createRegistry(jobs: readonly PipelineJob[]): PipelineRegistry {
  const registry = new Map(jobs.map((item) => [item.name, item]));
  if (registry.size !== jobs.length || new Set(jobs.map(({ jobType }) => jobType)).size !== jobs.length) {
    throw new Error('two pipeline jobs share a name or a job type');
  }
  return registry;
}

/** Compiled schemas by pipeline job. */
const checks = new WeakMap<PipelineJob, ReturnType<typeof compileSchemaForAll>>();

export interface StepConfigResult {
  /** The stored configuration, with defaults for missing keys. */
  readonly config: JsonObject;
  /** Problems by dotted path; empty when the configuration is valid. */
  readonly problems: Readonly<Record<string, string>>;
}

/**
 * Returns the configuration with the schema's defaults and its problems, including undeclared keys. All digits of
 * numbers are preserved.
 */
export function validateStepConfig(job: PipelineJob, stored: JsonObject): StepConfigResult {
  const config = fillDefaults(job.config, stored);
  // Validates a copy, because validation can convert numbers to doubles.
  const problems: [string, string][] = checkOf(job)(parseJson(JSON.stringify(config))).map((problem) => {
    const extra = problem.params['additionalProperty'] ?? problem.params['missingProperty'];
    const path = typeof extra === 'string' ? [...problem.path, extra] : problem.path;
    return [
      path.map((part) => (typeof part === 'string' ? truncateText(part, maxQuoteLength) : part)).join('.'),
      problem.keyword === 'additionalProperties' ? 'is not a setting of this job' : problem.message,
    ];
  });
  return { config, problems: Object.fromEntries(problems) };
}

function checkOf(job: PipelineJob): ReturnType<typeof compileSchemaForAll> {
  const check = checks.get(job) ?? compileSchemaForAll(job.config);
  checks.set(job, check);
  return check;
}

/** Returns the configuration with the schema's defaults for missing keys. */
export function fillDefaults(schema: TObject, value: JsonObject): JsonObject {
  const entries = new Map(Object.entries(value));
  for (const [key, property] of Object.entries(schema.properties)) {
    const current = entries.get(key);
    if (current === undefined && 'default' in property) entries.set(key, property.default);
    if (isObjectSchema(property) && isJsonObject(entries.get(key)))
      entries.set(key, fillDefaults(property, entries.get(key) as JsonObject));
  }
  return Object.fromEntries(entries);
}
