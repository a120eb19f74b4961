/** Backups in a local folder or a mounted volume. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { constants, lstat, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { BackupError } from './errors.ts';
import { type BackupTarget, checkPath, type StoredFile } from './target.ts';

/** Suffix of files that are being written; only a complete file has its final name. */
const unfinished = '.part~';

export function createFolderTarget(root: string): BackupTarget {
  const locationOf = (path: string): string => join(root, ...checkPath(path).split('/'));
  return {
    location: root,
    write: (path, body) => writeFile(locationOf(path), body),
    read: async (path) => {
      const location = locationOf(path);
      return (await statFile(location)) === undefined ? undefined : openFile(location);
    },
    sizeOf: async (path) => (await statFile(locationOf(path)))?.size,
    list: (folder, after = '') => listFiles(root, checkPath(folder), after),
    folders: async (folder) =>
      (await readFolder(locationOf(folder)))
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .toSorted(),
    remove: async (path) => {
      await rm(locationOf(path), { force: true });
      await removeEmptyFolders(root, dirname(locationOf(path)));
    },
    close: () => {},
  };
}

async function writeFile(location: string, body: AsyncIterable<Uint8Array>): Promise<StoredFile> {
  // Backups contain speech and contact details, so only the owner can read them.
  await mkdir(dirname(location), { recursive: true, mode: 0o700 });
  const draft = `${location}${unfinished}`;
  const hash = createHash('sha256');
  let sizeBytes = 0;
  try {
    const file = await open(draft, 'w', 0o600);
    try {
      for await (const chunk of body) {
        hash.update(chunk);
        sizeBytes += chunk.byteLength;
        for (let rest = chunk; rest.byteLength > 0;) rest = rest.subarray((await file.write(rest)).bytesWritten);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, location);
    await syncFolder(dirname(location));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  return { sizeBytes, sha256: hash.digest('hex') };
}

/** Makes the rename durable on disk. */
async function syncFolder(location: string): Promise<void> {
  const folder = await open(location, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function statFile(location: string): Promise<{ size: number } | undefined> {
  const stat = await lstat(location).catch(ignoreMissing);
  if (stat === undefined) return undefined;
  // A symbolic link could point anywhere.
  if (!stat.isFile()) throw new BackupError(`${location} is not a file`);
  return stat;
}

function openFile(location: string): Promise<Readable> {
  return new Promise((resolve, reject) => {
    const stream = createReadStream(location, { flags: constants.O_RDONLY | constants.O_NOFOLLOW } as never);
    stream.once('open', () => resolve(stream)).once('error', reject);
  });
}

/** Removes empty folders, because a bucket does not have them either. */
async function removeEmptyFolders(root: string, location: string): Promise<void> {
  for (let folder = location; folder.length > root.length; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      return; // folder is not empty
    }
  }
}

async function* listFiles(
  root: string,
  folder: string,
  after: string,
): AsyncGenerator<{ path: string; sizeBytes: number }> {
  const entries = await readFolder(join(root, ...folder.split('/')));
  // Returns the sort key of an entry: a folder sorts by its name with a trailing slash, as in a bucket.
  const sortKey = (entry: { name: string; isDirectory(): boolean }): string =>
    entry.isDirectory() ? `${entry.name}/` : entry.name;
  for (const entry of entries.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))) {
    const path = `${folder}/${entry.name}`;
    // Skips a folder that sorts before `after`, unless `after` is inside it.
    if (entry.isDirectory() && (`${path}/` > after || after.startsWith(`${path}/`)))
      yield* listFiles(root, path, after);
    else if (entry.isFile() && path > after && !entry.name.endsWith(unfinished))
      yield { path, sizeBytes: (await lstat(join(root, path))).size };
  }
}

async function readFolder(location: string) {
  return (await readdir(location, { withFileTypes: true }).catch(ignoreMissing)) ?? [];
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
