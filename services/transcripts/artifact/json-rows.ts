/**
 * Rows of a JSON artifact, an array of any size, in constant memory: the array is cut at its top-level commas and each element goes
 * through the engine's own parser. An element that it does not parse is null, a malformed row; where such an element hides the commas
 * behind it, as a quote without its other half does, the array is cut between objects instead (D86).
 */
import { isJsonWhitespace, JsonScanner, jsonByte } from '#libs/json';
import { TruncatedArtifact, UnreadableArtifact } from './unreadable.ts';

/** Between two objects of a list. */
const betweenObjects = /\}\s*,\s*\{/g;
/** Each takes longer than a row that can be read. */
const maxMalformedRows = 100_000;
const listOpening = Buffer.from('[');
/** Longer white space between two objects is not looked for beyond the end of what is held. */
const overlapBytes = 64;

/** Cuts one array; feed it with `push`, finish with `end`. */
export class JsonRowSplitter {
  readonly #maxRowBytes: number;
  #scanner = new JsonScanner();
  /** Bytes of the row under way that came with earlier chunks. */
  #carry: Buffer[] = [];
  #carrySize = 0;
  #unparsable = 0;
  #state: 'before' | 'inside' | 'after' = 'before';

  constructor(maxRowBytes: number) {
    this.#maxRowBytes = maxRowBytes;
  }

  /**
   * The rows that end in this chunk; null for one that is not JSON or is too large.
   * @throws UnreadableArtifact when this is not the text of a JSON array.
   */
  push(bytes: Uint8Array): unknown[] {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const rows: unknown[] = [];
    const from = this.#state === 'before' ? this.#open(chunk) : 0;
    this.#read(chunk, from, rows);
    return rows;
  }

  /** The rows that are left. @throws TruncatedArtifact when the array has not ended. */
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
          // A brace too many belongs to its row.
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
    if (this.#state === 'after' && !chunk.subarray(from).every(isJsonWhitespace)) throw new UnreadableArtifact('text follows the list');
  }

  /** Index behind the opening bracket; the chunk's length while it has not come. */
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
    // An empty list, or a comma behind the last row.
    if (isLast && bytes.every(isJsonWhitespace)) return;
    if (bytes.length > this.#maxRowBytes) rows.push(null);
    else this.#add(bytes, rows);
  }

  #keep(part: Buffer, rows: unknown[]): void {
    if (part.length === 0) return;
    // Copied: the network's buffer would otherwise be held by a few bytes of it.
    this.#carry.push(Buffer.from(part));
    this.#carrySize += part.length;
    if (this.#carrySize > this.#maxRowBytes) this.#letGo(rows);
  }

  /** More is held than a row may have: rows that end in it, or a row that is too large, of which the end is still looked for. */
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

  /** The row, or the rows of which it turns out to consist. */
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
    if (this.#unparsable > maxMalformedRows) throw new UnreadableArtifact(`more than ${maxMalformedRows} of its rows are not JSON`);
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

/** Places of the commas between objects. */
function findCuts(bytes: Buffer): number[] {
  const text = bytes.toString('latin1');
  return Array.from(text.matchAll(betweenObjects), ({ index }) => text.indexOf(',', index));
}
