/**
 * Rows of a JSON artifact, an array of any size, in constant memory: the array is cut at its top-level commas and each element goes
 * through the engine's own parser.
 */
import { isJsonSpace, JsonScanner, jsonSign } from '#libs/json';
import { UnreadableArtifact } from './unreadable.ts';

/** Cuts one array; feed it with `push`, finish with `end`. */
export class JsonRowSplitter {
  readonly #maxRowBytes: number;
  readonly #scanner = new JsonScanner();
  /** Bytes of the row under way that came with earlier chunks. */
  #carry: Buffer[] = [];
  #carrySize = 0;
  #state: 'before' | 'inside' | 'after' = 'before';
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
    let from = this.#state === 'before' ? this.#open(chunk) : 0;
    if (this.#state === 'inside') {
      for (let at = this.#scanner.find(chunk, from, 1); at < chunk.length; at = this.#scanner.find(chunk, at + 1, 1)) {
        const isEnd = this.#scanner.depth === 0;
        if (!isEnd && (chunk[at] !== jsonSign.comma || this.#scanner.depth > 1)) continue;
        this.#finishRow(chunk.subarray(from, at), chunk[at], rows);
        from = at + 1;
        if (isEnd) {
          this.#state = 'after';
          break;
        }
      }
    }
    if (this.#state === 'inside') this.#keep(chunk.subarray(from));
    if (this.#state === 'after' && !chunk.subarray(from).every(isJsonSpace)) throw new UnreadableArtifact('text follows the list');
    return rows;
  }

  /** @throws UnreadableArtifact when the array has not ended. */
  end(): void {
    if (this.#state !== 'after') throw new UnreadableArtifact('it ends inside the list');
  }

  /** Index behind the opening bracket; the chunk's length while it has not come. */
  #open(chunk: Buffer): number {
    const at = chunk.findIndex((byte) => !isJsonSpace(byte));
    if (at === -1) return chunk.length;
    if (chunk[at] !== jsonSign.openBracket) throw new UnreadableArtifact('it is no list');
    this.#scanner.find(chunk, at, 1);
    this.#state = 'inside';
    return at + 1;
  }

  #finishRow(tail: Buffer, end: number | undefined, rows: unknown[]): void {
    this.#keepWithinCap(tail.length);
    const bytes = this.#carry.length === 0 ? tail : Buffer.concat([...this.#carry, tail]);
    this.#carry = [];
    this.#carrySize = 0;
    const isEmptyList = end === jsonSign.closeBracket && this.#rows === 0 && bytes.every(isJsonSpace);
    if (isEmptyList) return;
    this.#rows += 1;
    try {
      if (end === jsonSign.closeBrace) throw new SyntaxError('a brace closes the list');
      rows.push(JSON.parse(bytes.toString('utf8')));
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
