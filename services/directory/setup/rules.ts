/** Rules of set-up that need no database (W12, W16). */
import { mayEditWorkspace, type Actor } from '#libs/infrastructure/contract';
import { AppError, appError, badRequest } from '#libs/infrastructure/errors';
import type { FieldChanges } from '#libs/product/history';
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';

/** Maximum length of a JSON document as text, like the data of a conversation (D63). */
const maxDocumentLength = 1_048_576;

/** @throws AppError 403 */
export function requireEditor(actor: Actor | undefined): void {
  if (mayEditWorkspace(actor)) return;
  const message = 'Only superusers and members of the group workspace_editors can change or read this.';
  throw new AppError({ code: 'permission_denied', message });
}

export function slugTaken(slug: string): AppError {
  return appError('conflict', 'slug_taken', `The slug "${slug}" is used.`);
}

/** @throws AppError 409 `in_use` with `counts`, when one of them is not 0 */
export function refuseInUse(counts: Readonly<Record<string, number>>): void {
  const used = Object.entries(counts).filter(([, count]) => count > 0);
  if (used.length === 0) return;
  const message = `Objects depend on it: ${used.map(([name, count]) => `${name} ${count}`).join(', ')}.`;
  throw appError('conflict', 'in_use', message, { counts });
}

/** @throws AppError 400 when a document is too long */
export function checkSize(field: string, value: unknown): void {
  if (value !== undefined && JSON.stringify(value).length > maxDocumentLength)
    throw badRequest(`${field} is longer than ${maxDocumentLength} characters of JSON.`);
}

/** Returns the merge patch (RFC 7396) that turns a document into another one. Null in the new one counts as absent. */
export function replacementPatch(old: JsonObject, next: JsonObject): JsonObject {
  const removed = Object.keys(old).filter((key) => !Object.hasOwn(next, key));
  const set = Object.entries(next).map(([key, value]): [string, unknown] => {
    const before = Object.hasOwn(old, key) ? old[key] : undefined;
    return [key, isJsonObject(before) && isJsonObject(value) ? replacementPatch(before, value) : value];
  });
  return Object.fromEntries([...removed.map((key): [string, unknown] => [key, null]), ...set]);
}

/** Returns the changes of the requested fields. `prefix` is the start of their names in the history. */
export function changesOf(all: FieldChanges, requested: JsonObject, prefix = ''): FieldChanges {
  const names = Object.keys(requested).filter((name) => Object.hasOwn(all, prefix + name));
  return Object.fromEntries(names.map((name) => [name, all[prefix + name]])) as FieldChanges;
}

/** Returns the list with an item at a position; absent, or beyond the end: last. */
export function insertAt<T>(list: readonly T[], item: T, position: number | undefined): T[] {
  return list.toSpliced(position ?? list.length, 0, item);
}
