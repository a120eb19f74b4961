/**
 * Cursors: positions of the feed, enciphered, so that their distances do not tell how many events somebody does not see (V4), and marked, so that
 * a text that is none is known (V3).
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-128-ecb'; // one block, and no two positions are alike
const mark = 0x65_76_74_31;
const length = 22;
/** That a cursor of now can tell apart: what it says of its hour is one byte, and 0 in the cursor of an event. */
const hours = 255;

const hourOf = (ms: number): number => 1 + (Math.floor(ms / 3_600_000) % hours);

export class Cursors {
  readonly #key: Buffer;

  /** `key`: 32 hexadecimal digits, the same for every replica. */
  constructor(key: string) {
    this.#key = Buffer.from(key, 'hex');
  }

  /** Of an event: always the same. */
  write(position: number): string {
    return this.#encipher(position, Buffer.alloc(4));
  }

  /** Of now: another one each time, so that it does not tell whether something happened since the last. */
  writeNow(position: number, nowMs = Date.now()): string {
    return this.#encipher(position, Buffer.from([hourOf(nowMs), ...randomBytes(3)]));
  }

  /** The position; undefined for what is no cursor. */
  read(text: string): number | undefined {
    const block = this.#decipher(text);
    if (block === undefined) return undefined;
    const position = Number(block.readBigUInt64BE(0));
    return Number.isSafeInteger(position) ? position : undefined;
  }

  /** Since it was given, modulo some days; undefined for that of an event. */
  hoursOld(text: string, nowMs = Date.now()): number | undefined {
    const hour = this.#decipher(text)?.at(8) ?? 0;
    return hour === 0 ? undefined : (hourOf(nowMs) - hour + hours) % hours;
  }

  #decipher(text: string): Buffer | undefined {
    if (text.length !== length || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.toString('base64url') !== text) return undefined;
    const block = createDecipheriv(algorithm, this.#key, null).setAutoPadding(false).update(bytes);
    return block.readUInt32BE(12) === mark ? block : undefined;
  }

  #encipher(position: number, salt: Buffer): string {
    const block = Buffer.alloc(16);
    block.writeBigUInt64BE(BigInt(position), 0);
    salt.copy(block, 8);
    block.writeUInt32BE(mark, 12);
    return createCipheriv(algorithm, this.#key, null).setAutoPadding(false).update(block).toString('base64url');
  }
}
