/** Differences of two snapshots of an object (W10). */
import { hash } from 'node:crypto';
import { mapSecrets } from '#libs/config';
import { isJsonObject, type JsonObject } from '#libs/json';

export type FieldChanges = Record<
  string,
  { readonly old: unknown; readonly new: unknown } | { readonly changed: true }
>;

/** Name of the only field of an object that replaces a secret in a snapshot. */
const digestField = '$digest';

/** A copy with a digest in place of every secret, so that a change of a secret is seen and its value is not stored. */
export function hideSecrets(value: unknown): unknown {
  return mapSecrets(value, (secret) => ({ [digestField]: hash('sha256', secret, 'base64url') }));
}

/** Fields whose values differ; undefined when all are equal. An absent snapshot has no values. */
export function diffSnapshots(before: JsonObject | undefined, after: JsonObject | undefined): FieldChanges | undefined {
  const changes: FieldChanges = {};
  for (const field of new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])) {
    const [old, now] = [before?.[field] ?? null, after?.[field] ?? null];
    if (JSON.stringify(old) === JSON.stringify(now)) continue;
    changes[field] =
      isDigest(old) || isDigest(now) ? { changed: true } : { old: withoutDigests(old), new: withoutDigests(now) };
  }
  return Object.keys(changes).length === 0 ? undefined : changes;
}

const isDigest = (value: unknown): boolean => isJsonObject(value) && Object.hasOwn(value, digestField);

/** Replaces the digests inside of a value by `{set: true}`. */
function withoutDigests(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDigests);
  if (!isJsonObject(value)) return value;
  if (isDigest(value)) return { set: true };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutDigests(item)]));
}
