/**
 * The registry of pipeline jobs (rules/steps#pipeline-jobs): what a journey step may name as its `pipeline_job`. A new one is declaredJobs in
 * jobs.ts and worked by the service that owns it (`libs/pipeline-worker`).
 */
import type { TObject } from '#libs/contract';
import { truncateText, maxQuoteLength } from '#libs/errors';
import { isJsonObject, parseJson, type JsonObject } from '#libs/json';
import { compileSchemaForAll } from '#libs/schema';
import type { PipelineJob, PipelineRegistry } from './declaration.ts';
import { isObjectSchema } from './field-policy.ts';
import { declaredJobs } from './jobs.ts';

export { jobOf, jobsOf, PipelinePayload } from './declaration.ts';
export type { PipelineJob, PipelineRegistry } from './declaration.ts';
export * from './jobs.ts';
export { describePipelineStatus, jobTypeOf, listPipelineStatuses } from './status.ts';
export { dropUndeclared, findUnwritable, jobField, showStepConfig } from './field-policy.ts';

/** Every registered job by its name. */
export const pipelineJobs: PipelineRegistry = createRegistry(declaredJobs);

/** @throws Error when two have the same name or the same job. */
export function createRegistry(jobs: readonly PipelineJob[]): PipelineRegistry {
  const registry = new Map(jobs.map((item) => [item.name, item]));
  if (registry.size !== jobs.length || new Set(jobs.map(({ jobType }) => jobType)).size !== jobs.length) {
    throw new Error('two pipeline jobs have the same name or the same job');
  }
  return registry;
}

/** Compiled models. */
const checks = new WeakMap<PipelineJob, ReturnType<typeof compileSchemaForAll>>();

export interface StepConfigResult {
  /** The stored configuration with the model's defaults filled in. */
  readonly config: JsonObject;
  /** Dotted path → what is wrong there; empty when the configuration fits. */
  readonly problems: Readonly<Record<string, string>>;
}

/** Fills in the defaults of the job's model and checks the result, undeclared keys included. Numbers keep their digits. */
export function validateStepConfig(job: PipelineJob, stored: JsonObject): StepConfigResult {
  const config = fillDefaults(job.config, stored);
  // The check may lower numbers to doubles, so it gets a copy.
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

/** The configuration with the defaults of the model where nothing is stored. */
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
