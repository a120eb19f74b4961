/**
 * The bytes of the objects. Objects never change under their key, so each is kept once for all backups, and a backup names those that belong to
 * it in lists of a thousand: a list that is there needs not be made again, which is how a backup that was broken off goes on.
 */
import { Readable } from 'node:stream';
import { type ObjectStore, platformPrefix } from '#libs/object-store';
import type { OnProgress } from './database.ts';
import { BackupError } from './errors.ts';
import { listPath, objectPath } from './layout.ts';
import {
  type Draft,
  hashOf,
  isObjectKey,
  type Manifest,
  type ObjectEntry,
  type ObjectList,
  objectsOfList,
  readObjectEntries,
} from './manifest.ts';
import type { Seal, Unseal } from './seal.ts';
import { type BackupTarget, checked, readText } from './target.ts';

const copiedAtOnce = 4;
/** A thousand lines, each with a key of a kilobyte. */
export const maxListBytes = 2 * 1024 * 1024;
const contentType = 'application/octet-stream';

export interface ObjectsOptions {
  readonly store: ObjectStore;
  readonly target: BackupTarget;
  readonly onProgress: OnProgress;
}

/** Copies what the target does not have yet. @param previous the last complete backup of the same pool */
export async function dumpObjects({
  store,
  target,
  seal,
  draft,
  previous,
  onProgress,
}: ObjectsOptions & { seal: Seal; draft: Draft; previous: Manifest | undefined }): Promise<ObjectList[]> {
  const known = followEntries(target, previous);
  const lists: ObjectList[] = [];
  let after = '';
  for (;;) {
    const path = listPath(draft.id, lists.length);
    const made = await readText(target, path, maxListBytes);
    const entries = made === undefined ? await copyPage(after) : readObjectEntries(made, path);
    const last = entries.at(-1);
    if (last === undefined) return lists;
    const text = made ?? entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    if (made === undefined) await target.write(path, Readable.from([Buffer.from(text)]));
    lists.push({ count: entries.length, bytes: Buffer.byteLength(text), sha256: hashOf(text) });
    after = last.key;
  }

  async function copyPage(from: string): Promise<ObjectEntry[]> {
    const entries: ObjectEntry[] = [];
    let batch: { key: string; sizeBytes: number }[] = [];
    for await (const { key, sizeBytes } of store.list('', from === '' ? undefined : from)) {
      if (key.startsWith(platformPrefix)) continue;
      if (!isObjectKey(key)) throw new BackupError(`the object store has an object that the platform did not make: ${JSON.stringify(key)}`);
      batch.push({ key, sizeBytes });
      if (batch.length === copiedAtOnce) entries.push(...(await copyBatch(batch.splice(0))));
      if (entries.length + batch.length >= objectsOfList) break;
    }
    entries.push(...(await copyBatch(batch)));
    batch = [];
    return entries;
  }

  async function copyBatch(batch: readonly { key: string; sizeBytes: number }[]): Promise<ObjectEntry[]> {
    const there: (ObjectEntry | undefined)[] = [];
    for (const { key } of batch) there.push(await known(key));
    const copied = await Promise.all(batch.map((object, index) => copyObject(object, there[index])));
    return copied.filter((entry) => entry !== undefined);
  }

  async function copyObject(
    { key, sizeBytes }: { key: string; sizeBytes: number },
    entry: ObjectEntry | undefined,
  ): Promise<ObjectEntry | undefined> {
    const path = objectPath(draft, key);
    if (entry?.bytes === sizeBytes && (await target.sizeOf(path)) === entry.stored_bytes) return entry;
    const object = await store.get(key);
    if (object === undefined) return undefined; // removed since it was listed
    const stored = await target.write(path, await seal.seal(object.body as AsyncIterable<Uint8Array>));
    onProgress('objects', object.sizeBytes);
    return { key, bytes: object.sizeBytes, stored_bytes: stored.sizeBytes, sha256: stored.sha256 };
  }
}

/** Asked for keys in their order, finds what a backup says of each. */
function followEntries(target: BackupTarget, backup: Manifest | undefined): (key: string) => Promise<ObjectEntry | undefined> {
  const entries = backup === undefined ? undefined : listObjects(target, backup);
  let current: ObjectEntry | undefined;
  let ended = entries === undefined;
  return async (key) => {
    while (!ended && (current === undefined || current.key < key)) {
      const next = await entries?.next();
      ended = next?.done !== false;
      current = next?.value;
    }
    return current?.key === key ? current : undefined;
  };
}

/** Objects of a backup in the order of their keys. @throws BackupError when a list is not the one that was stored */
export async function* listObjects(target: BackupTarget, manifest: Manifest): AsyncGenerator<ObjectEntry, undefined> {
  let last = '';
  for (const [index, { bytes, sha256 }] of (manifest.objects ?? []).entries()) {
    const path = listPath(manifest.id, index);
    const text = await readText(target, path, maxListBytes);
    if (text === undefined) throw new BackupError(`${path} is missing`);
    if (Buffer.byteLength(text) !== bytes || hashOf(text) !== sha256)
      throw new BackupError(`${path} is not what was stored: its digest differs`);
    for (const entry of readObjectEntries(text, path)) {
      // What the platform itself keeps there (who was erased) never comes from a backup's objects.
      if (entry.key <= last || entry.key.startsWith(platformPrefix))
        throw new BackupError(`${path} names what no backup has: ${entry.key}`);
      last = entry.key;
      yield entry;
    }
  }
  return undefined;
}

/** Puts back what the store does not have. @returns how many, and how many were there */
export async function loadObjects({
  store,
  target,
  manifest,
  unseal,
  onProgress,
}: ObjectsOptions & { manifest: Manifest; unseal: Unseal }): Promise<{ restored: number; present: number }> {
  const counts = { restored: 0, present: 0 };
  const load = async (entry: ObjectEntry): Promise<void> => {
    const { key, bytes, stored_bytes: storedBytes, sha256 } = entry;
    if ((await store.head(key))?.sizeBytes === bytes) {
      counts.present += 1;
      return;
    }
    const path = objectPath(manifest, key);
    const body = await target.read(path);
    if (body === undefined) throw new BackupError(`${path} is missing`);
    // The store keeps nothing of a body that fails.
    await store.putStream(key, await unseal(checked(body, { path, bytes: storedBytes, sha256 })), { contentType });
    counts.restored += 1;
    onProgress('objects', bytes);
  };
  let batch: ObjectEntry[] = [];
  for await (const entry of listObjects(target, manifest)) {
    batch.push(entry);
    if (batch.length < copiedAtOnce) continue;
    await Promise.all(batch.map(load));
    batch = [];
  }
  await Promise.all(batch.map(load));
  return counts;
}
