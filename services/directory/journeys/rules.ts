/** Rules for writing step configuration (rules/steps#step-configuration; D16b). */
import { appError } from '#libs/infrastructure/errors';
import { isJsonObject, type JsonObject, mergePatch } from '#libs/infrastructure/json';
import {
  fillDefaults,
  findUnwritable,
  jobField,
  type PipelineJob,
  showStepConfig,
  validateStepConfig,
} from '#libs/product/pipeline';
import { formatInstant, parseInstant } from '#libs/infrastructure/time';

/** Returns the dotted paths of the leaves of a patch. A list counts as one leaf. */
export function listTouchedPaths(patch: JsonObject, path: readonly string[] = []): string[] {
  return Object.entries(patch).flatMap(([key, value]) => {
    const below = [...path, key];
    return isJsonObject(value) && Object.keys(value).length > 0 ? listTouchedPaths(value, below) : [below.join('.')];
  });
}

/** Returns the configuration as callers see it, including defaults. */
export function presentConfig(job: PipelineJob | undefined, stored: JsonObject): JsonObject {
  return showStepConfig(job, job === undefined ? stored : fillDefaults(job.config, stored));
}

/**
 * Compares the time of the last change, to the microsecond. @throws AppError `stale_config` if the configuration has
 * changed since `expected`
 */
export function checkFreshness(updatedAt: string, expected: string | null | undefined): void {
  if (expected === null || expected === undefined) return;
  const parsed = parseInstant(expected);
  if (parsed.kind === 'instant' && formatInstant(parsed.instant) === updatedAt) return;
  throw appError('conflict', 'stale_config', 'The configuration has changed since it was read.', {
    updated_at: updatedAt,
  });
}

/**
 * Merges the patch into the stored configuration, without defaults.
 * @throws AppError `config_keys_not_writable`, then `invalid_step_config`; both have `fields`
 */
export function applyPatch(job: PipelineJob | undefined, stored: JsonObject, patch: JsonObject): JsonObject {
  const unwritable = findUnwritable(job, stored, patch);
  if (Object.keys(unwritable).length > 0) {
    throw appError('bad_request', 'config_keys_not_writable', 'Some keys are not writable.', { fields: unwritable });
  }
  const merged = mergePatch(stored, patch) as JsonObject;
  if (job === undefined) return merged;
  const { [jobField]: _ignored, ...checked } = merged;
  const { problems } = validateStepConfig(job, checked);
  if (Object.keys(problems).length > 0) {
    throw appError('bad_request', 'invalid_step_config', `The configuration does not fit ${job.name}.`, {
      fields: problems,
    });
  }
  return merged;
}
