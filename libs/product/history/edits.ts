/**
 * Fields that were changed over the API after the workspace file last changed them (W11, W24). Fields are told apart
 * per key of merged objects.
 */
import { isJsonObject, parseJson } from '#libs/infrastructure/json';
import type { Queryable } from '#libs/infrastructure/sql';
import { listEditEntries, listRemovedKeys } from './statements.ts';

/** Field, and keys of objects below it. */
export type FieldPath = readonly string[];

/** Edits of one object. */
export interface Edits {
  /** Whether the newest change of the field, or of a part of it, does not come from the file. */
  isEdited(path: FieldPath): boolean;
}

/** Objects per statement. */
const batchSize = 5_000;

/** Reads the edits of objects. Objects without any are absent. */
export async function readEdits(
  db: Queryable,
  kind: string,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Edits>> {
  const touched = new Map<number, Touched>();
  for (let from = 0; from < ids.length; from += batchSize) {
    const rows = await listEditEntries(db, { kind, objectIds: ids.slice(from, from + batchSize) });
    for (const { objectId, isFile, changes } of rows) {
      const known = touched.get(objectId) ?? new Touched();
      touched.set(objectId, known);
      known.add(isFile, parseJson(changes) as Changes);
    }
  }
  return touched;
}

/** Returns the keys of objects that were deleted over the API and do not exist since. */
export async function findRemoved(db: Queryable, kind: string, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const removed = new Set<string>();
  for (let from = 0; from < keys.length; from += batchSize) {
    for (const { key } of await listRemovedKeys(db, { kind, keys: keys.slice(from, from + batchSize) }))
      removed.add(key);
  }
  return removed;
}

type Changes = Readonly<Record<string, { readonly old?: unknown; readonly new?: unknown }>>;

/** What the entries of an object changed. Entries are added from the oldest to the newest. */
class Touched implements Edits {
  /** By field and keys: the number of the newest entry, and whether it comes from the file. */
  readonly #newest = new Map<string, { readonly number: number; readonly isFile: boolean; readonly path: FieldPath }>();
  #count = 0;

  add(isFile: boolean, changes: Changes): void {
    const number = this.#count++;
    for (const [field, change] of Object.entries(changes)) {
      for (const path of listChangedPaths(change, [field]))
        this.#newest.set(JSON.stringify(path), { number, isFile, path });
    }
  }

  isEdited(path: FieldPath): boolean {
    let newest: { readonly number: number; readonly isFile: boolean } | undefined;
    for (const touch of this.#newest.values()) {
      const isRelated = touch.path.every((part, index) => index >= path.length || part === path[index]);
      if (isRelated && (newest === undefined || touch.number > newest.number)) newest = touch;
    }
    return newest?.isFile === false;
  }
}

function listChangedPaths(change: { readonly old?: unknown; readonly new?: unknown }, path: FieldPath): FieldPath[] {
  if (!('new' in change)) return [path]; // The field is a secret.
  return [...diffPaths(change.old, change.new, path), ...listChangedSecrets(change.new, path)];
}

/** Returns the paths at which two values differ. A list is one value, an absent object is empty. */
export function diffPaths(old: unknown, now: unknown, path: FieldPath): FieldPath[] {
  const isComparable = (value: unknown): boolean => isJsonObject(value) || value === null || value === undefined;
  if (!isComparable(old) || !isComparable(now) || !(isJsonObject(old) || isJsonObject(now)))
    return JSON.stringify(old ?? null) === JSON.stringify(now ?? null) ? [] : [path];
  const [left, right] = [isJsonObject(old) ? old : {}, isJsonObject(now) ? now : {}];
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return keys.flatMap((key) =>
    diffPaths(Object.hasOwn(left, key) ? left[key] : undefined, Object.hasOwn(right, key) ? right[key] : undefined, [
      ...path,
      key,
    ]),
  );
}

/** Returns the paths of `{changed: true}`, which stands for the old and the new value of a secret. */
function listChangedSecrets(value: unknown, path: FieldPath): FieldPath[] {
  if (Array.isArray(value)) return value.some((item) => listChangedSecrets(item, path).length > 0) ? [path] : [];
  if (!isJsonObject(value)) return [];
  if (value['changed'] === true && Object.keys(value).length === 1) return [path];
  return Object.entries(value).flatMap(([key, item]) => listChangedSecrets(item, [...path, key]));
}
