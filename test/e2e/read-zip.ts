/** Reads the archive written by `people export`. */
import { readFile } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';

/** Returns the entries of a ZIP by name, from its central directory. */
export async function readZip(file: string): Promise<Record<string, any>> {
  const bytes = await readFile(file);
  const end = bytes.lastIndexOf(Buffer.from('PK\u0005\u0006'));
  const entries: [string, unknown][] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const [size, nameLength, extra, comment, offset] = [20, 28, 30, 32, 42].map((place) =>
      place === 20 || place === 42 ? bytes.readUInt32LE(at + place) : bytes.readUInt16LE(at + place),
    ) as [number, number, number, number, number];
    const data = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
    const text = inflateRawSync(bytes.subarray(data, data + size)).toString('utf8');
    entries.push([bytes.toString('utf8', at + 46, at + 46 + nameLength), JSON.parse(text)]);
    at += 46 + nameLength + extra + comment;
  }
  return Object.fromEntries(entries);
}
