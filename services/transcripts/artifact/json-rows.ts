/**
 * Rows of a JSON artifact, an array of any size, in constant memory: the array is cut at its top-level commas and each element goes
 * through the engine's own parser. Written here because the streaming parsers at hand are several times slower and declare
 * themselves unfit for input from others.
 */
import { UnreadableArtifact } from './unreadable.ts';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

type State = 'before' | 'first' | 'element' | 'after';

/** Cuts one array; feed it with `push`, finish with `end`. */
export class JsonRowSplitter {
  readonly #maxRowBytes: number;
  /** Bytes of the element under way that came with earlier chunks. */
  #carry: Buffer[] = [];
  #carrySize = 0;
  #state: State = 'before';
  #depth = 0;
  #inString = false;
  #escaped = false;
  #rows = 0;

  constructor(maxRowBytes: number) {
    this.#maxRowBytes = maxRowBytes;
  }

  /**
   * The rows that end in this chunk.
   * @throws UnreadableArtifact when this is not the text of a JSON array, or a row is too large.
   */
  push(bytes: Uint8Array): unknown[] {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const rows: unknown[] = [];
    let elementStart = 0;
    let index = 0;
    while (index < chunk.length) {
      if (this.#inString) {
        index = this.#skipString(chunk, index);
        continue;
      }
      const byte = chunk[index] ?? 0;
      index += 1;
      if (this.#state === 'before' || this.#state === 'after') {
        this.#readOutside(byte);
        elementStart = index;
      } else if (byte === quote) {
        this.#inString = true;
      } else if (byte === openBrace || byte === openBracket) {
        this.#depth += 1;
      } else if (this.#depth > 0) {
        if (byte === closeBrace || byte === closeBracket) this.#depth -= 1;
      } else if (byte === comma || byte === closeBracket) {
        this.#finishElement(chunk.subarray(elementStart, index - 1), byte, rows);
        elementStart = index;
      }
    }
    if (this.#state !== 'after') this.#keep(chunk.subarray(elementStart));
    return rows;
  }

  /** @throws UnreadableArtifact when the array has not ended. */
  end(): void {
    if (this.#state !== 'after') throw new UnreadableArtifact('it ends inside the list');
  }

  /** Moves to the end of the string or of the chunk; strings are most of an artifact. */
  #skipString(chunk: Buffer, from: number): number {
    let index = from;
    while (index < chunk.length) {
      const byte = chunk[index];
      index += 1;
      if (this.#escaped) this.#escaped = false;
      else if (byte === backslash) this.#escaped = true;
      else if (byte === quote) {
        this.#inString = false;
        return index;
      }
    }
    return index;
  }

  #readOutside(byte: number): void {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return;
    if (this.#state === 'after' || byte !== openBracket)
      throw new UnreadableArtifact(this.#state === 'after' ? 'text follows the list' : 'it is no list');
    this.#state = 'first';
  }

  #finishElement(tail: Buffer, end: number, rows: unknown[]): void {
    this.#keepWithinCap(tail.length);
    const bytes = this.#carry.length === 0 ? tail : Buffer.concat([...this.#carry, tail]);
    this.#carry = [];
    this.#carrySize = 0;
    const text = bytes.toString('utf8');
    const isEmptyList = end === closeBracket && this.#state === 'first' && /^[ \t\r\n]*$/.test(text);
    this.#state = end === closeBracket ? 'after' : 'element';
    if (isEmptyList) return;
    this.#rows += 1;
    try {
      rows.push(JSON.parse(text));
    } catch {
      throw new UnreadableArtifact(`row ${this.#rows} is no JSON`);
    }
  }

  #keep(part: Buffer): void {
    this.#keepWithinCap(part.length);
    // Copied: the network's buffer would otherwise be held by a few bytes of it.
    if (part.length > 0) this.#carry.push(Buffer.from(part));
  }

  #keepWithinCap(sizeBytes: number): void {
    this.#carrySize += sizeBytes;
    if (this.#carrySize > this.#maxRowBytes)
      throw new UnreadableArtifact(`row ${this.#rows + 1} is larger than ${this.#maxRowBytes} bytes`);
  }
}
