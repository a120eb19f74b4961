/**
 * Reads a zip archive with Node only, because it runs before packages are installed. Supports stored and deflated
 * entries, but not zip64 (so archives of less than 4 GiB with less than 65,535 entries).
 */
import { inflateRawSync } from 'node:zlib';

export interface ZipEntry {
  name: string;
  content: Buffer;
}

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const localSignature = 0x04034b50;
const endBytes = 22;
const longestComment = 0xffff;

/**
 * Yields the files of `archive` in order, without folders. @throws Error for an incomplete archive or one with
 * unsupported entries
 */
export function* readZip(archive: Buffer): Generator<ZipEntry> {
  const end = findEnd(archive);
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  if (count === 0xffff || at === 0xffff_ffff) throw new Error('zip64 archives are not supported');
  for (let index = 0; index < count; index += 1) {
    if (archive.readUInt32LE(at) !== entrySignature)
      throw new Error('not a zip archive: an entry of its directory is damaged');
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ];
    const name = archive.toString('utf8', at + 46, at + 46 + nameBytes);
    if (!name.endsWith('/')) yield { name, content: readContent(archive, at, name) };
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
}

function findEnd(archive: Buffer): number {
  const earliest = Math.max(0, archive.length - endBytes - longestComment);
  for (let at = archive.length - endBytes; at >= earliest; at -= 1)
    if (archive.readUInt32LE(at) === endSignature) return at;
  throw new Error('not a zip archive: its end is missing');
}

function readContent(archive: Buffer, entry: number, name: string): Buffer {
  const [method, packedBytes, sizeBytes] = [
    archive.readUInt16LE(entry + 10),
    archive.readUInt32LE(entry + 20),
    archive.readUInt32LE(entry + 24),
  ];
  const local = archive.readUInt32LE(entry + 42);
  if (archive.readUInt32LE(local) !== localSignature)
    throw new Error(`not a zip archive: ${name} is not where its directory says`);
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const packed = archive.subarray(start, start + packedBytes);
  if (method !== 0 && method !== 8) throw new Error(`${name} is packed by a method that is not supported (${method})`);
  const content = method === 0 ? packed : inflateRawSync(packed, { maxOutputLength: sizeBytes + 1 });
  if (content.length !== sizeBytes) throw new Error(`${name} has ${content.length} bytes instead of ${sizeBytes}`);
  return content;
}
