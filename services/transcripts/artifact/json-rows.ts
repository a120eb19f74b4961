/**
 * Splits a JSON array of any size into rows, in constant memory. It cuts at top-level commas and parses each element
 * with `JSON.parse`. An element that cannot be parsed is null, a malformed row. If such an element hides the following
 * commas, as an unclosed quote does, the array is split between objects instead (D86).
 */
import { isJsonWhitespace, JsonScanner, jsonByte } from '#libs/infrastructure/json';
import { TruncatedArtifact, UnreadableArtifact } from './unreadable.ts';

/** Separator between two objects of the array. */
const betweenObjects = /\}\s*,\s*\{/g;
/** Maximum malformed rows. A malformed row takes longer than a valid one. */
const maxMalformedRows = 100_000;
const listOpening = Buffer.from('[');
/** Bytes retained to find a separator that crosses the end of the buffer. */
const overlapBytes = 64;

/** Splits one array; call `push` for each chunk, then `end`. */
export class JsonRowSplitter {
  readonly #maxRowBytes: number;
  #scanner = new JsonScanner();
  /** Bytes of the current row from earlier chunks. */
  #carry: Buffer[] = [];
  #carrySize = 0;
  #unparsable = 0;
  #state: 'before' | 'inside' | 'after' = 'before';

  constructor(maxRowBytes: number) {
    this.#maxRowBytes = maxRowBytes;
  }

  /**
   * Returns the rows that end in this chunk; null for rows that are not JSON or too large.
   * @throws UnreadableArtifact when the text is not a JSON array
   */
  push(bytes: Uint8Array): unknown[] {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const rows: unknown[] = [];
    const from = this.#state === 'before' ? this.#open(chunk) : 0;
    this.#read(chunk, from, rows);
    return rows;
  }

  /** Ends the array and returns the remaining rows. @throws TruncatedArtifact when the array is not complete */
  end(): unknown[] {
    if (this.#state === 'after') return [];
    const remaining = Buffer.concat(this.#carry).toString('latin1').trimEnd();
    const row = remaining.endsWith(']') ? remaining.slice(0, -1).trimEnd() : '';
    if (this.#state === 'before' || !row.endsWith('}')) throw new TruncatedArtifact('it ends inside the list');
    const rows: unknown[] = [];
    this.#add(Buffer.from(row, 'latin1'), rows);
    return rows;
  }

  #read(chunk: Buffer, begin: number, rows: unknown[]): void {
    let from = begin;
    if (this.#state === 'inside') {
      for (let at = this.#scanner.find(chunk, from, 1); at < chunk.length; at = this.#scanner.find(chunk, at + 1, 1)) {
        const isEnd = this.#scanner.depth === 0;
        if (isEnd && chunk[at] === jsonByte.closeBrace) {
          // A surplus closing brace is part of its row, so scanning restarts inside the list.
          this.#scanner = createScannerInList();
          continue;
        }
        if (!isEnd && (chunk[at] !== jsonByte.comma || this.#scanner.depth > 1)) continue;
        this.#finishRow(chunk.subarray(from, at), isEnd, rows);
        from = at + 1;
        if (isEnd) {
          this.#state = 'after';
          break;
        }
      }
    }
    if (this.#state === 'inside') this.#keep(chunk.subarray(from), rows);
    if (this.#state === 'after' && !chunk.subarray(from).every(isJsonWhitespace))
      throw new UnreadableArtifact('text follows the list');
  }

  /** Returns the index after the opening bracket, or the length of the chunk when the bracket has not arrived. */
  #open(chunk: Buffer): number {
    const at = chunk.findIndex((byte) => !isJsonWhitespace(byte));
    if (at === -1) return chunk.length;
    if (chunk[at] !== jsonByte.openBracket) throw new UnreadableArtifact('it is not a list');
    this.#scanner = createScannerInList();
    this.#state = 'inside';
    return at + 1;
  }

  #finishRow(tail: Buffer, isLast: boolean, rows: unknown[]): void {
    const bytes = this.#carry.length === 0 ? tail : Buffer.concat([...this.#carry, tail]);
    this.#carry = [];
    this.#carrySize = 0;
    // The array is empty or ends with a trailing comma.
    if (isLast && bytes.every(isJsonWhitespace)) return;
    if (bytes.length > this.#maxRowBytes) rows.push(null);
    else this.#add(bytes, rows);
  }

  #keep(part: Buffer, rows: unknown[]): void {
    if (part.length === 0) return;
    // The bytes are copied, so that a few bytes do not retain the whole network buffer in memory.
    this.#carry.push(Buffer.from(part));
    this.#carrySize += part.length;
    if (this.#carrySize > this.#maxRowBytes) this.#letGo(rows);
  }

  /**
   * Reduces a buffer that exceeds the maximum row size: parses the rows that end in it, or discards its part of a row
   * that is too large.
   */
  #letGo(rows: unknown[]): void {
    const bytes = Buffer.concat(this.#carry);
    const last = findCuts(bytes).at(-1);
    this.#carry = [];
    this.#carrySize = 0;
    if (last === undefined) {
      this.#carry = [bytes.subarray(-overlapBytes)];
      this.#carrySize = overlapBytes;
      return;
    }
    this.#add(bytes.subarray(0, last), rows);
    this.#scanner = createScannerInList();
    this.#read(bytes.subarray(last + 1), 0, rows);
  }

  /** Parses the bytes as one row. If that fails, splits them between objects and parses several rows. */
  #add(bytes: Buffer, rows: unknown[]): void {
    const row = parseRow(bytes);
    if (row !== undefined) return void rows.push(row);
    let from = 0;
    for (const cut of [...findCuts(bytes), bytes.length]) {
      const part = parseRow(bytes.subarray(from, cut));
      if (part === undefined) this.#unparsable += 1;
      rows.push(part ?? null);
      from = cut + 1;
    }
    if (this.#unparsable > maxMalformedRows)
      throw new UnreadableArtifact(`more than ${maxMalformedRows} of its rows are not JSON`);
  }
}

function createScannerInList(): JsonScanner {
  const scanner = new JsonScanner();
  scanner.find(listOpening, 0, 1);
  return scanner;
}

function parseRow(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the indexes of the commas between objects. */
function findCuts(bytes: Buffer): number[] {
  const text = bytes.toString('latin1');
  return Array.from(text.matchAll(betweenObjects), ({ index }) => text.indexOf(',', index));
}
