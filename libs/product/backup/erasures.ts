/**
 * Erasure records are stored outside the database, so that erasures can be repeated after a restore. They are small
 * files of ids and digests in the object store and in the backup target; missing files are copied in both directions.
 */
import { Readable } from 'node:stream';
import { erasuresPrefix, type ObjectStore } from '#libs/infrastructure/object-store';
import { BackupError } from './errors.ts';
import { erasuresFolder } from './layout.ts';
import { type BackupTarget, readText } from './target.ts';

const entryName = /^[0-9]{1,10}-[0-9a-f]{32}\.json$/;
const maxEntryBytes = 64 * 1024;
const contentType = 'application/json';

/** Copies missing erasure records from the store to the target. Returns the number of copied records. */
export async function keepErasures(store: ObjectStore, target: BackupTarget): Promise<number> {
  let copied = 0;
  for await (const { key, sizeBytes } of store.list(erasuresPrefix)) {
    const name = key.slice(erasuresPrefix.length);
    if (!entryName.test(name) || sizeBytes > maxEntryBytes)
      throw new BackupError(`${key} is not an entry of the erasures`);
    const path = `${erasuresFolder}/${name}`;
    if ((await target.sizeOf(path)) === sizeBytes) continue;
    const object = await store.get(key);
    if (object === undefined) continue;
    await target.write(path, object.body as AsyncIterable<Uint8Array>);
    copied += 1;
  }
  return copied;
}

/** Copies missing erasure records from the target to the store. Returns the number of copied records. */
export async function bringErasures(store: ObjectStore, target: BackupTarget): Promise<number> {
  let copied = 0;
  for await (const { path } of target.list(erasuresFolder)) {
    const name = path.slice(erasuresFolder.length + 1);
    if (!entryName.test(name)) throw new BackupError(`${path} is not an entry of the erasures`);
    const key = erasuresPrefix + name;
    if ((await store.head(key)) !== undefined) continue;
    const text = await readText(target, path, maxEntryBytes);
    if (text === undefined) continue;
    await store.putStream(key, Readable.from([Buffer.from(text)]), { contentType });
    copied += 1;
  }
  return copied;
}
