/** Rules of writing a step's configuration (rules/steps#step-configuration; D16b). */
import { appError } from '#libs/errors';
import { isJsonObject, type JsonObject } from '#libs/json';
import { fillDefaults, findUnwritable, jobField, type PipelineJob, showStepConfig, validateStepConfig } from '#libs/pipeline';
import { formatInstant, parseInstant } from '#libs/time';

/** RFC 7396: objects merge key by key, null removes, everything else replaces. Keys such as `__proto__` are data. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const merged = new Map(isJsonObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

/** Dotted paths that a patch touches: its leaves, a list as a whole. */
export function listTouchedPaths(patch: JsonObject, path: readonly string[] = []): string[] {
  return Object.entries(patch).flatMap(([key, value]) => {
    const below = [...path, key];
    return isJsonObject(value) && Object.keys(value).length > 0 ? listTouchedPaths(value, below) : [below.join('.')];
  });
}

/** The configuration as callers see it, defaults of the model included. */
export function presentConfig(job: PipelineJob | undefined, stored: JsonObject): JsonObject {
  return showStepConfig(job, job === undefined ? stored : fillDefaults(job.config, stored));
}

/** @throws AppError `stale_config` when the caller has seen another configuration; microseconds count. */
export function checkFreshness(updatedAt: string, expected: string | null | undefined): void {
  if (expected === null || expected === undefined) return;
  const parsed = parseInstant(expected);
  if (parsed.kind === 'instant' && formatInstant(parsed.instant) === updatedAt) return;
  throw appError('conflict', 'stale_config', 'The configuration has changed since it was read.', { updated_at: updatedAt });
}

/**
 * What is to be stored: the patch merged into the stored configuration, without the defaults.
 * @throws AppError `config_keys_not_writable`, then `invalid_step_config`; both carry `fields`.
 */
export function applyPatch(job: PipelineJob | undefined, stored: JsonObject, patch: JsonObject): JsonObject {
  const unwritable = findUnwritable(job, stored, patch);
  if (Object.keys(unwritable).length > 0) {
    throw appError('bad_request', 'config_keys_not_writable', 'Some of these keys may not be written.', { fields: unwritable });
  }
  const merged = mergePatch(stored, patch) as JsonObject;
  if (job === undefined) return merged;
  const { [jobField]: _ignored, ...checked } = merged;
  const { problems } = validateStepConfig(job, checked);
  if (Object.keys(problems).length > 0) {
    throw appError('bad_request', 'invalid_step_config', `The configuration does not fit ${job.name}.`, { fields: problems });
  }
  return merged;
}
