/**
 * Object bytes of backups. Objects are immutable, so each is stored once for all backups. A backup references its
 * objects in lists of a thousand; a resumed backup does not write existing lists again.
 */
import { Readable } from 'node:stream';
import { type ObjectStore, platformPrefix } from '#libs/infrastructure/object-store';
import type { OnProgress } from './database.ts';
import { BackupError } from './errors.ts';
import { follow } from './follow.ts';
import { listPath, objectPath, objectsFolder } from './layout.ts';
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
import { poolOf, type Seal, type Unseal } from './seal.ts';
import { type BackupTarget, checked, readText } from './target.ts';

const copiedAtOnce = 4;
/**
 * Copied bytes after which the next list is written. An interrupted backup repeats at most this much work and one
 * object.
 */
const bytesOfList = 256 * 1024 * 1024;
/** Maximum size of a list: a thousand lines, each with a key of one kilobyte. */
export const maxListBytes = 2 * 1024 * 1024;
const contentType = 'application/octet-stream';

export interface ObjectsOptions {
  readonly store: ObjectStore;
  readonly target: BackupTarget;
  readonly onProgress: OnProgress;
}

export interface DumpObjectsOptions extends ObjectsOptions {
  readonly seal: Seal;
  readonly draft: Draft;
  /** Objects of earlier backups in the same pool, each list in key order. */
  readonly known: readonly AsyncIterable<ObjectEntry>[];
}

/**
 * Copies missing objects to the target. The store and the target are listed page by page; unchanged objects do not need
 * a request.
 */
export async function dumpObjects(options: DumpObjectsOptions): Promise<ObjectList[]> {
  const { store } = options;
  const { lists, last } = await readMadeLists(options);
  const dump = new ObjectDump(options, lists, last);
  for await (const { key, sizeBytes } of store.list('', last)) {
    if (key.startsWith(platformPrefix)) continue;
    if (!isObjectKey(key))
      throw new BackupError(`the object store has an object that the platform did not make: ${JSON.stringify(key)}`);
    await dump.add(key, sizeBytes);
  }
  return dump.finish();
}

/** Returns the lists written before the interruption, and the last key in them. */
async function readMadeLists({
  target,
  draft,
}: DumpObjectsOptions): Promise<{ lists: ObjectList[]; last: string | undefined }> {
  const lists: ObjectList[] = [];
  let last: string | undefined;
  for await (const { text, entries } of readDraftLists(target, draft.id)) {
    lists.push(describeList(text, entries.length));
    last = entries.at(-1)?.key;
  }
  return { lists, last };
}

async function* readDraftLists(
  target: BackupTarget,
  id: string,
): AsyncGenerator<{ text: string; entries: ObjectEntry[] }> {
  for (let index = 0; ; index++) {
    const path = listPath(id, index);
    const text = await readText(target, path, maxListBytes);
    if (text === undefined) return;
    yield { text, entries: readObjectEntries(text, path) };
  }
}

/** Returns the objects that an unfinished backup has already copied, in key order. */
export async function* listDraftObjects(target: BackupTarget, id: string): AsyncGenerator<ObjectEntry> {
  for await (const { entries } of readDraftLists(target, id)) yield* entries;
}

const describeList = (text: string, count: number): ObjectList => ({
  count,
  bytes: Buffer.byteLength(text),
  sha256: hashOf(text),
});

class ObjectDump {
  readonly #options: DumpObjectsOptions;
  readonly #lists: ObjectList[];
  readonly #known: readonly ((key: string) => Promise<ObjectEntry | undefined>)[];
  readonly #stored: (key: string) => Promise<{ readonly sizeBytes: number } | undefined>;
  /** Entries of the next list, in key order. */
  #entries: ObjectEntry[] = [];
  #batch: (ObjectEntry | string)[] = [];
  #toCopy = 0;
  #copiedBytes = 0;

  /** @param after last key of the existing lists */
  constructor(options: DumpObjectsOptions, lists: ObjectList[], after: string | undefined) {
    const { target, draft, known } = options;
    const pool = `${objectsFolder}/${poolOf(draft.encrypted_to)}`;
    const list = async function* listStored() {
      const from = after === undefined ? undefined : `${pool}/${after}`;
      for await (const { path, sizeBytes } of target.list(pool, from))
        yield { key: path.slice(pool.length + 1), sizeBytes };
    };
    this.#options = options;
    this.#lists = lists;
    this.#known = known.map(follow);
    this.#stored = follow(list());
  }

  async add(key: string, sizeBytes: number): Promise<void> {
    const entry = await this.#findUnchanged(key, sizeBytes);
    this.#batch.push(entry ?? key);
    if (entry === undefined && ++this.#toCopy === copiedAtOnce) await this.#copyBatch();
    if (this.#entries.length + this.#batch.length < objectsOfList && this.#copiedBytes < bytesOfList) return;
    await this.#copyBatch();
    await this.#writeList();
  }

  async finish(): Promise<ObjectList[]> {
    await this.#copyBatch();
    await this.#writeList();
    return this.#lists;
  }

  async #findUnchanged(key: string, sizeBytes: number): Promise<ObjectEntry | undefined> {
    const stored = await this.#stored(key);
    let found: ObjectEntry | undefined;
    for (const find of this.#known) {
      const entry = await find(key);
      if (entry?.bytes === sizeBytes && entry.stored_bytes === stored?.sizeBytes) found ??= entry;
    }
    return found;
  }

  async #copyBatch(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#toCopy = 0;
    const entries = await Promise.all(batch.map(async (item) => (typeof item === 'string' ? this.#copy(item) : item)));
    for (const entry of entries) if (entry !== undefined) this.#entries.push(entry);
  }

  async #copy(key: string): Promise<ObjectEntry | undefined> {
    const { store, target, seal, draft, onProgress } = this.#options;
    const object = await store.get(key);
    if (object === undefined) return undefined; // removed after it was listed
    const stored = await target.write(
      objectPath(draft, key),
      await seal.seal(object.body as AsyncIterable<Uint8Array>),
    );
    onProgress('objects', object.sizeBytes);
    this.#copiedBytes += object.sizeBytes;
    return { key, bytes: object.sizeBytes, stored_bytes: stored.sizeBytes, sha256: stored.sha256 };
  }

  async #writeList(): Promise<void> {
    const entries = this.#entries;
    this.#entries = [];
    this.#copiedBytes = 0;
    if (entries.length === 0) return;
    const { target, draft } = this.#options;
    const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    await target.write(listPath(draft.id, this.#lists.length), Readable.from([Buffer.from(text)]));
    this.#lists.push(describeList(text, entries.length));
  }
}

/** Returns the objects of a backup in key order. @throws BackupError when a list does not match its stored digest */
export async function* listObjects(target: BackupTarget, manifest: Manifest): AsyncGenerator<ObjectEntry, undefined> {
  let last = '';
  for (const [index, { bytes, sha256 }] of (manifest.objects ?? []).entries()) {
    const path = listPath(manifest.id, index);
    const text = await readText(target, path, maxListBytes);
    if (text === undefined) throw new BackupError(`${path} is missing`);
    if (Buffer.byteLength(text) !== bytes || hashOf(text) !== sha256)
      throw new BackupError(`${path} is not what was stored: its digest differs`);
    for (const entry of readObjectEntries(text, path)) {
      // The platform's own objects (erasure records) are never restored from a backup.
      if (entry.key <= last || entry.key.startsWith(platformPrefix))
        throw new BackupError(`${path} names what no backup has: ${entry.key}`);
      last = entry.key;
      yield entry;
    }
  }
  return undefined;
}

/**
 * Restores the objects that are missing in the store. @returns the number of restored objects and of objects that
 * already existed
 */
export async function loadObjects({
  store,
  target,
  manifest,
  unseal,
  onProgress,
}: ObjectsOptions & { manifest: Manifest; unseal: Unseal }): Promise<{ restored: number; present: number }> {
  const counts = { restored: 0, present: 0 };
  const present = follow(store.list(''));
  const load = async ({ key, bytes, stored_bytes: storedBytes, sha256 }: ObjectEntry): Promise<void> => {
    const path = objectPath(manifest, key);
    const body = await target.read(path);
    if (body === undefined) throw new BackupError(`${path} is missing`);
    // The store discards the object when reading the body fails.
    await store.putStream(key, await unseal(checked(body, { path, bytes: storedBytes, sha256 })), { contentType });
    counts.restored += 1;
    onProgress('objects', bytes);
  };
  let batch: ObjectEntry[] = [];
  for await (const entry of listObjects(target, manifest)) {
    if ((await present(entry.key))?.sizeBytes === entry.bytes) {
      counts.present += 1;
      continue;
    }
    batch.push(entry);
    if (batch.length < copiedAtOnce) continue;
    await Promise.all(batch.map(load));
    batch = [];
  }
  await Promise.all(batch.map(load));
  return counts;
}
