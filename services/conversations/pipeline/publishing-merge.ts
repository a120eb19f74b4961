/**
 * Merges values of pipeline jobs into `infos.publishing` (D18a). Values written by jobs are in provenance envelopes
 * with a digest. A field or record without an envelope, or edited inside its envelope, belongs to a person and is
 * preserved unless empty. Artifacts are replaced.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import { digestValue } from '#libs/product/pipeline-worker';

export interface PublishingPatch {
  readonly fields?: JsonObject;
  readonly records?: JsonObject;
  readonly artifacts?: JsonObject;
}

export interface MergedPublishing {
  readonly publishing: JsonObject;
  readonly changed: boolean;
  /** Names of values that were preserved because a person wrote them, e.g. `fields.title`. */
  readonly retained: readonly string[];
}

const groups = ['fields', 'records', 'artifacts'] as const;

/**
 * Merges a patch into `stored`, which can be any value; a value that is not an object is replaced. Groups and keys that
 * are absent in the patch are unchanged.
 */
export function mergePublishing(stored: unknown, patch: PublishingPatch): MergedPublishing {
  const before = isJsonObject(stored) ? unwrap(stored) : {};
  const retained: string[] = [];
  const publishing = new Map(Object.entries(before));
  for (const group of groups) {
    const values = patch[group];
    if (values === undefined) continue;
    const current = ownValue(before, group);
    const merged = new Map(Object.entries(isJsonObject(current) ? unwrap(current) : {}));
    for (const [key, value] of Object.entries(values)) {
      if (group !== 'artifacts' && isWrittenByPerson(merged.get(key), value)) retained.push(`${group}.${key}`);
      else merged.set(key, value);
    }
    publishing.set(group, Object.fromEntries(merged));
  }
  const after = Object.fromEntries(publishing);
  return { publishing: after, changed: !isDeepStrictEqual(after, stored), retained };
}

/**
 * Returns whether a person wrote the value: it has no provenance, the provenance of another source, or a digest that
 * does not match.
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

/** Returns the value of an envelope. A whole group can be in an envelope; new values are then added inside it. */
function unwrap(value: JsonObject): JsonObject {
  return isEnvelope(value) && isJsonObject(value.value) ? value.value : value;
}

function ownValue(value: JsonObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
