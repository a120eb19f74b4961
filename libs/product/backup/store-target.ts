/** Backups in a bucket, under a prefix. */
import type { ObjectStore } from '#libs/infrastructure/object-store';
import { BackupError } from './errors.ts';
import { type BackupTarget, checkPath } from './target.ts';

const contentType = 'application/octet-stream';
const address = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;

/**
 * Returns bucket and prefix of `s3://bucket/prefix`; returns undefined for other text. @throws BackupError for an
 * invalid address
 */
export function readStoreAddress(text: string): { bucket: string; prefix: string } | undefined {
  if (!text.startsWith('s3://')) return undefined;
  const [, bucket, path = ''] = address.exec(text) ?? [];
  if (bucket === undefined) throw new BackupError(`"${text}" is not an address of a bucket: s3://bucket/prefix`);
  const prefix = path.replace(/(?<!\/)\/+$/, '');
  return { bucket, prefix: prefix === '' ? '' : `${checkPath(prefix)}/` };
}

/** Creates a target in the bucket of `store`. @param location name of the target in messages */
export function createStoreTarget(store: ObjectStore, prefix: string, location: string): BackupTarget {
  const keyOf = (path: string): string => prefix + checkPath(path);
  return {
    location,
    write: (path, body) => store.putStream(keyOf(path), body, { contentType }),
    read: async (path) => (await store.get(keyOf(path)))?.body,
    sizeOf: async (path) => (await store.head(keyOf(path)))?.sizeBytes,
    list: async function* list(folder, after) {
      const from = after === undefined ? undefined : keyOf(after);
      for await (const { key, sizeBytes } of store.list(`${keyOf(folder)}/`, from))
        yield { path: key.slice(prefix.length), sizeBytes };
    },
    folders: async (folder) => {
      const names: string[] = [];
      const root = `${keyOf(folder)}/`;
      // Needs one request per folder: the next listing starts after the contents of the folder (`0` sorts after `/`).
      for (let after: string | undefined; ;) {
        const next = await first(store.list(root, after));
        if (next === undefined) return names;
        const rest = next.key.slice(root.length);
        const end = rest.indexOf('/');
        if (end > 0) names.push(rest.slice(0, end));
        after = end > 0 ? `${root}${rest.slice(0, end)}0` : next.key;
      }
    },
    remove: (path) => store.delete(keyOf(path)),
    close: () => store.close(),
  };
}

async function first<Item>(items: AsyncIterable<Item>): Promise<Item | undefined> {
  for await (const item of items) return item;
  return undefined;
}
