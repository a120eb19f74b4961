/**
 * What pipeline jobs write into `infos.publishing` (D18a). Whatever a job wrote stands in its provenance envelope, with a digest of
 * the value; a field or record without one, or changed inside it, was written by a person and stays, unless it is empty. Artifacts belong to the jobs and are replaced.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '#libs/json';
import { digestValue } from '#libs/pipeline-worker';

export interface PublishingPatch {
  readonly fields?: JsonObject;
  readonly records?: JsonObject;
  readonly artifacts?: JsonObject;
}

export interface MergedPublishing {
  readonly publishing: JsonObject;
  readonly changed: boolean;
  /** What a person wrote and therefore stayed, e.g. `fields.title`. */
  readonly kept: readonly string[];
}

const groups = ['fields', 'records', 'artifacts'] as const;

/** `stored` may be anything; what is no object gives way. Groups and keys that the patch does not name stay as they are. */
export function mergePublishing(stored: unknown, patch: PublishingPatch): MergedPublishing {
  const before = isJsonObject(stored) ? unwrap(stored) : {};
  const kept: string[] = [];
  const publishing = new Map(Object.entries(before));
  for (const group of groups) {
    const values = patch[group];
    if (values === undefined) continue;
    const current = ownValue(before, group);
    const merged = new Map(Object.entries(isJsonObject(current) ? unwrap(current) : {}));
    for (const [key, value] of Object.entries(values)) {
      if (group !== 'artifacts' && isWrittenByPerson(merged.get(key), value)) kept.push(`${group}.${key}`);
      else merged.set(key, value);
    }
    publishing.set(group, Object.fromEntries(merged));
  }
  const after = Object.fromEntries(publishing);
  return { publishing: after, changed: !isDeepStrictEqual(after, stored), kept };
}

/**
 * True for what has no provenance, has that of somebody else than who writes now, or whose value is not what the provenance was written
 * for: somebody typed it.
 */
function isWrittenByPerson(value: unknown, incoming: unknown): boolean {
  if (value === undefined || value === null || (typeof value === 'string' && value.trim() === '')) return false;
  if (!isEnvelope(value)) return true;
  const provenance = isJsonObject(value.provenance) ? value.provenance : {};
  if (provenance['source'] !== sourceOf(incoming)) return true;
  const digest = provenance['value_digest'];
  return digest !== undefined && digest !== digestValue(value.value);
}

function sourceOf(value: unknown): unknown {
  return isEnvelope(value) && isJsonObject(value.provenance) ? value.provenance['source'] : undefined;
}

function isEnvelope(value: unknown): value is { value: unknown; provenance: unknown } {
  if (!isJsonObject(value)) return false;
  return Object.keys(value).length === 2 && Object.hasOwn(value, 'value') && Object.hasOwn(value, 'provenance');
}

/** A group may stand in an envelope as a whole; what is written into it then stands beside its values. */
function unwrap(value: JsonObject): JsonObject {
  return isEnvelope(value) && isJsonObject(value.value) ? value.value : value;
}

function ownValue(value: JsonObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
