/** Differences of two snapshots of an object (W10). */
import { hash } from 'node:crypto';
import { mapSecrets } from '#libs/infrastructure/config';
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';

export type FieldChanges = Record<
  string,
  { readonly old: unknown; readonly new: unknown } | { readonly changed: true }
>;

/** Name of the only field of an object that replaces a secret in a snapshot. */
const digestField = '$digest';

/** What stands for a secret: a changed one, or one that is equal in both values (W10). */
const changedSecret = { changed: true } as const;
const equalSecret = { set: true } as const;

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
      isDigest(old) || isDigest(now) ? changedSecret : { old: withoutDigests(old, now), new: withoutDigests(now, old) };
  }
  return Object.keys(changes).length === 0 ? undefined : changes;
}

const digestOf = (value: unknown): unknown =>
  isJsonObject(value) && Object.hasOwn(value, digestField) ? value[digestField] : undefined;
const isDigest = (value: unknown): boolean => digestOf(value) !== undefined;

/** Replaces the digests inside of a value. `other` is the value with which it is compared. */
function withoutDigests(value: unknown, other: unknown): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => withoutDigests(item, Array.isArray(other) ? other[index] : undefined));
  if (!isJsonObject(value)) return value;
  if (isDigest(value)) return digestOf(other) === digestOf(value) ? equalSecret : changedSecret;
  const others = isJsonObject(other) ? other : {};
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      withoutDigests(item, Object.hasOwn(others, key) ? others[key] : undefined),
    ]),
  );
}
