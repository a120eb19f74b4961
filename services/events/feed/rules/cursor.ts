/**
 * Encrypts positions as cursors, so that the distance between cursors does not reveal the number of hidden events (V4).
 * A constant in the block lets `read` reject other texts (V3).
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-128-ecb'; // ECB is sufficient: a cursor is a single block, and positions are unique
const mark = 0x65_76_74_31;
const length = 22;
/**
 * The cursor of the current end stores the hour modulo this number in one byte. The byte is 0 in the cursor of an
 * event.
 */
const hours = 255;

const hourOf = (ms: number): number => 1 + (Math.floor(ms / 3_600_000) % hours);

export class Cursors {
  readonly #key: Buffer;

  /** @param key 32 hexadecimal digits, the same for all replicas */
  constructor(key: string) {
    this.#key = Buffer.from(key, 'hex');
  }

  /** Returns the cursor of an event, which is always the same. */
  write(position: number): string {
    return this.#encrypt(position, Buffer.alloc(4));
  }

  /**
   * Returns a cursor of the current end. It is different each time, so that it does not reveal whether events were
   * added since the last cursor.
   */
  writeCurrent(position: number, nowMs = Date.now()): string {
    return this.#encrypt(position, Buffer.from([hourOf(nowMs), ...randomBytes(3)]));
  }

  /** Returns the position of a cursor; returns undefined for an invalid cursor. */
  read(text: string): number | undefined {
    const block = this.#decrypt(text);
    if (block === undefined) return undefined;
    const position = Number(block.readBigUInt64BE(0));
    return Number.isSafeInteger(position) ? position : undefined;
  }

  /** Returns the age of a `writeCurrent` cursor in hours, modulo 255; returns undefined for the cursor of an event. */
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
