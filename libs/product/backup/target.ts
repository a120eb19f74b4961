/** Backup targets: a folder, or a bucket of any S3-compatible store. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { BackupError } from './errors.ts';

export interface StoredFile {
  readonly sizeBytes: number;
  /** SHA-256 of the bytes, lower-case hex. */
  readonly sha256: string;
}

/** A folder or bucket that stores files. Paths consist of names allowed by {@link checkPath}, separated by `/`. */
export interface BackupTarget {
  /** For people. */
  readonly location: string;
  /** Stores `body` completely or not at all, with back-pressure. Replaces an existing file. */
  write(path: string, body: AsyncIterable<Uint8Array>): Promise<StoredFile>;
  read(path: string): Promise<Readable | undefined>;
  sizeOf(path: string): Promise<number | undefined>;
  /** Lists the files below a folder that sort after the path `after`, in byte order of their paths. */
  list(folder: string, after?: string): AsyncIterable<{ readonly path: string; readonly sizeBytes: number }>;
  /** Returns the names of the direct subfolders, sorted. */
  folders(folder: string): Promise<string[]>;
  remove(path: string): Promise<void>;
  close(): void;
}

/** Random object names can also start with - and _ (`isObjectKey`). */
const segment = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,250}$/;

/** Returns the path if it is valid. @throws BackupError for a path outside the target */
export function checkPath(path: string): string {
  if (path.length > 2_000 || !path.split('/').every((part) => segment.test(part)))
    throw new BackupError(`"${path}" is not a name of a file of a backup`);
  return path;
}

/** Reads a small file as text. @throws BackupError when the file exceeds `maxBytes` */
export async function readText(target: BackupTarget, path: string, maxBytes: number): Promise<string | undefined> {
  const body = await target.read(path);
  if (body === undefined) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new BackupError(`${path} is larger than it can be`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Passes the bytes of a file through. Throws at the end when size or digest differs from the expected one. */
export async function* checked(
  body: AsyncIterable<Uint8Array>,
  expected: { readonly path: string; readonly bytes: number; readonly sha256: string },
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > expected.bytes) throw new BackupError(`${expected.path} has more bytes than its manifest says`);
    hash.update(chunk);
    yield chunk;
  }
  if (size < expected.bytes) throw new BackupError(`${expected.path} ends after ${size} of ${expected.bytes} bytes`);
  if (hash.digest('hex') !== expected.sha256)
    throw new BackupError(`${expected.path} is not what was stored: its digest differs`);
}
