/**
 * Reads an artifact once: computes digest and size of its exact bytes, classifies every row and reports accepted rows.
 */
import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import type { AcceptedRow, RowFilter } from '../row-filter.ts';
import { type ArtifactFormat, readRows } from './rows.ts';
import { WrongEncoding } from './unreadable.ts';

export type { ArtifactFormat } from './rows.ts';

export { TruncatedArtifact, UnreadableArtifact, WrongEncoding } from './unreadable.ts';

export interface ScanResult {
  /** SHA-256 of the exact bytes, lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
  readonly format: ArtifactFormat;
}

export interface ScanListener {
  /** Called for each accepted row; `position` counts accepted rows from 0. */
  onAccepted(row: AcceptedRow, position: number): void;
  /** Called after each chunk with the number of bytes read so far. The reader waits for the result. */
  onChunk?(bytes: number): Promise<void> | void;
}

/**
 * Reads the whole artifact and classifies its rows. @throws UnreadableArtifact, TruncatedArtifact, WrongEncoding, or
 * the source's error
 */
export async function scanArtifact(
  chunks: AsyncIterable<Uint8Array>,
  filter: RowFilter,
  listener: ScanListener,
): Promise<ScanResult> {
  const hash = createHash('sha256');
  const encoding = new EncodingDetector();
  let bytes = 0;
  let position = 0;
  let format: ArtifactFormat = 'json';
  const checked = async function* (): AsyncGenerator<Uint8Array> {
    let wrong: string | undefined;
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.byteLength;
      // After the first invalid byte, the remaining bytes are read only for the digest.
      wrong ??= encoding.push(chunk);
      if (wrong === undefined) yield chunk;
    }
    if (wrong !== undefined) throw new WrongEncoding(wrong, { sha256: hash.digest('hex'), bytes });
  };
  const onFormat = (found: ArtifactFormat): void => void (format = found);
  for await (const rows of readRows(checked(), onFormat)) {
    for (const row of rows) {
      const verdict = filter.classify(row);
      if (verdict.kind === 'accepted') listener.onAccepted(verdict.row, position++);
    }
    await listener.onChunk?.(bytes);
  }
  return { sha256: hash.digest('hex'), bytes, format };
}

const headBytes = 4;
/** Byte signatures of other encodings, longer ones first. */
const signatures: readonly (readonly [bytes: readonly number[], name: string])[] = [
  [[0xff, 0xfe, 0x00, 0x00], 'UTF-32LE'],
  [[0x00, 0x00, 0xfe, 0xff], 'UTF-32BE'],
  [[0x50, 0x4b, 0x03, 0x04], 'a zip archive'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'compressed with zstd'],
  [[0xff, 0xfe], 'UTF-16LE'],
  [[0xfe, 0xff], 'UTF-16BE'],
  [[0x1f, 0x8b], 'compressed with gzip'],
];
const singleByte = 'a single-byte encoding such as ISO-8859-1 (Latin-1) or Windows-1252';

/** Detects whether a text is UTF-8, chunk by chunk, in constant memory. */
export class EncodingDetector {
  #head = Buffer.alloc(0);
  /** First bytes of a character that continues in the next chunk. */
  #open = Buffer.alloc(0);

  /** Checks the next chunk. Returns the name of the actual encoding, or undefined while the bytes are UTF-8. */
  push(chunk: Uint8Array): string | undefined {
    const isFirst = this.#head.length < headBytes;
    if (isFirst) this.#head = Buffer.concat([this.#head, chunk.subarray(0, headBytes - this.#head.length)]);
    const bytes = this.#open.length === 0 ? chunk : Buffer.concat([this.#open, chunk]);
    const whole = bytes.length - incompleteLength(bytes);
    this.#open = Buffer.from(bytes.subarray(whole));
    const named = isFirst ? nameOfHead(this.#head) : undefined;
    return named ?? (isUtf8(bytes.subarray(0, whole)) ? undefined : singleByte);
  }
}

/** Returns the length in bytes of the incomplete character at the end. */
function incompleteLength(bytes: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, bytes.length); length++) {
    const byte = bytes[bytes.length - length] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const expectedLength = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return expectedLength > length ? length : 0;
  }
  return 0;
}

function nameOfHead(head: Buffer): string | undefined {
  for (const [bytes, name] of signatures) if (bytes.every((byte, index) => head[index] === byte)) return name;
  if (head.length < headBytes) return undefined;
  // ASCII text in UTF-16 or UTF-32 without a byte order mark: all bytes of a character but one are zero.
  const zeros = [...head].map((byte) => (byte === 0 ? '0' : 'x')).join('');
  return { x0x0: 'UTF-16LE', '0x0x': 'UTF-16BE', x000: 'UTF-32LE', '000x': 'UTF-32BE' }[zeros];
}
