/** Whether the bytes of an artifact are UTF-8, piece by piece, and what else they look like. */
import { isUtf8 } from 'node:buffer';

const headBytes = 4;
/** Signatures of the first bytes; the longer ones first. */
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

/** Checks one text; memory does not depend on its size. */
export class EncodingCheck {
  #head = Buffer.alloc(0);
  /** Beginning of a character whose other bytes have not arrived. */
  #open = Buffer.alloc(0);

  /** The name of what the bytes are instead of UTF-8; undefined while they are UTF-8. */
  push(chunk: Uint8Array): string | undefined {
    const isFirst = this.#head.length < headBytes;
    if (isFirst) this.#head = Buffer.concat([this.#head, chunk.subarray(0, headBytes - this.#head.length)]);
    const bytes = this.#open.length === 0 ? chunk : Buffer.concat([this.#open, chunk]);
    const whole = bytes.length - openLength(bytes);
    this.#open = Buffer.from(bytes.subarray(whole));
    const named = isFirst ? nameOfHead(this.#head) : undefined;
    return named ?? (isUtf8(bytes.subarray(0, whole)) ? undefined : singleByte);
  }
}

/** Length of the unfinished character at the end. */
function openLength(bytes: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, bytes.length); length++) {
    const byte = bytes[bytes.length - length] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return wanted > length ? length : 0;
  }
  return 0;
}

function nameOfHead(head: Buffer): string | undefined {
  for (const [bytes, name] of signatures) if (bytes.every((byte, index) => head[index] === byte)) return name;
  if (head.length < headBytes) return undefined;
  // ASCII without a byte order mark: all bytes of a character but one are zero.
  const zeros = [...head].map((byte) => (byte === 0 ? '0' : 'x')).join('');
  return { x0x0: 'UTF-16LE', '0x0x': 'UTF-16BE', x000: 'UTF-32LE', '000x': 'UTF-32BE' }[zeros];
}
