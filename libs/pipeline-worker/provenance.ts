/** Provenance envelopes (D18a) of what pipeline jobs write into `infos.publishing`. */
import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '#libs/json';

export interface Provenance {
  /** Name of the pipeline job. */
  readonly source: string;
  /** ISO 8601. */
  readonly at: string;
  readonly [key: string]: unknown;
}

/** A value with where it comes from. The digest tells later whether a person has changed the value inside the envelope. */
export function wrapValue(value: unknown, provenance: Provenance): JsonObject {
  return { value, provenance: { ...provenance, value_digest: digestValue(value) } };
}

/** The envelope's provenance when `source` wrote the value and nobody has changed it since. */
export function readProvenance(stored: unknown, source: string): JsonObject | undefined {
  if (!isJsonObject(stored) || Object.keys(stored).length !== 2 || !isJsonObject(stored['provenance'])) return undefined;
  const { provenance } = stored;
  const isOurs = provenance['source'] === source && provenance['value_digest'] === digestValue(stored['value']);
  return isOurs ? provenance : undefined;
}

/** SHA-256 of the value as JSON with its keys in order: the database keeps none. */
export function digestValue(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sortKeys(value)) ?? 'null')
    .digest('hex');
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  );
}
