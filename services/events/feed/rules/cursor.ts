/**
 * Cursors are encrypted positions, so that their distances do not reveal the number of hidden events (V4). A constant
 * in the block lets `read` reject other texts (V3).
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-128-ecb'; // a single block; positions are unique
const mark = 0x65_76_74_31;
const length = 22;
/**
 * Hours that a current cursor can distinguish: it stores the hour in one byte, which is 0 in the cursor of an event.
 */
const hours = 255;

const hourOf = (ms: number): number => 1 + (Math.floor(ms / 3_600_000) % hours);

export class Cursors {
  readonly #key: Buffer;

  /** @param key 32 hexadecimal digits, the same for all replicas */
  constructor(key: string) {
    this.#key = Buffer.from(key, 'hex');
  }

  /** Cursor of an event; always the same. */
  write(position: number): string {
    return this.#encrypt(position, Buffer.alloc(4));
  }

  /**
   * Cursor of the current end; different each time, so that it does not reveal whether something happened since the
   * last one.
   */
  writeCurrent(position: number, nowMs = Date.now()): string {
    return this.#encrypt(position, Buffer.from([hourOf(nowMs), ...randomBytes(3)]));
  }

  /** The position; undefined for an invalid cursor. */
  read(text: string): number | undefined {
    const block = this.#decrypt(text);
    if (block === undefined) return undefined;
    const position = Number(block.readBigUInt64BE(0));
    return Number.isSafeInteger(position) ? position : undefined;
  }

  /** Age of a current cursor in hours, modulo 255; undefined for the cursor of an event. */
  ageInHours(text: string, nowMs = Date.now()): number | undefined {
    const hour = this.#decrypt(text)?.at(8) ?? 0;
    return hour === 0 ? undefined : (hourOf(nowMs) - hour + hours) % hours;
  }

  #decrypt(text: string): Buffer | undefined {
    if (text.length !== length || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.toString('base64url') !== text) return undefined;
    const block = createDecipheriv(algorithm, this.#key, null).setAutoPadding(false).update(bytes);
    return block.readUInt32BE(12) === mark ? block : undefined;
  }

  #encrypt(position: number, salt: Buffer): string {
    const block = Buffer.alloc(16);
    block.writeBigUInt64BE(BigInt(position), 0);
    salt.copy(block, 8);
    block.writeUInt32BE(mark, 12);
    return createCipheriv(algorithm, this.#key, null).setAutoPadding(false).update(block).toString('base64url');
  }
}
