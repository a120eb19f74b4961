/**
 * Finds positions where a JSON text of any size can be split, in constant memory. It tracks strings and nesting across
 * chunks; `JSON.parse` validates the pieces. Available streaming parsers are several times slower and are not designed
 * for untrusted input.
 */

/** Structural bytes of JSON. */
export const jsonByte = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;
const { quote, comma, colon, openBracket, closeBracket, openBrace, closeBrace } = jsonByte;
const backslash = 0x5c;

/** Returns true for whitespace between JSON tokens. */
export const isJsonWhitespace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Scans one text chunk by chunk. */
export class JsonScanner {
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** Number of open lists and objects after the last match. */
  get depth(): number {
    return this.#depth;
  }

  /**
   * Returns the index of the next comma, colon, bracket or brace at or after `from` that is outside strings and at
   * depth `maxDepth` or less. Returns the length of the chunk if there is none. Continue after the match, so that every
   * byte is read once.
   */
  find(chunk: Uint8Array, from: number, maxDepth: number): number {
    let index = from;
    while (index < chunk.length) {
      if (this.#inString) {
        index = this.#skipString(chunk, index);
        continue;
      }
      const byte = chunk[index];
      if (byte === quote) this.#inString = true;
      else if (byte === openBrace || byte === openBracket) {
        this.#depth += 1;
        if (this.#depth <= maxDepth + 1) return index;
      } else if (byte === closeBrace || byte === closeBracket) {
        this.#depth -= 1;
        if (this.#depth <= maxDepth) return index;
      } else if ((byte === comma || byte === colon) && this.#depth <= maxDepth) return index;
      index += 1;
    }
    return index;
  }

  /** Returns the index of the end of the string or chunk. A fast loop, because many texts consist mostly of strings. */
  #skipString(chunk: Uint8Array, from: number): number {
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
}
