/**
 * Finds where a JSON text of any size may be cut, in constant memory: follows strings and nesting through pieces of its bytes. What the parts hold
 * is for `JSON.parse` to judge. Written here because the streaming parsers at hand are several times slower and declare themselves unfit for
 * input from others.
 */

/** Bytes that give a JSON text its structure. */
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

/** True for what may stand between the signs and values of a JSON text. */
export const isJsonWhitespace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Reads one text, piece by piece. */
export class JsonScanner {
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** Lists and objects that are open behind the last sign found. */
  get depth(): number {
    return this.#depth;
  }

  /**
   * Index of the next comma, colon, bracket or brace at or after `from` that stands outside of strings and no deeper than `maxDepth`; the
   * chunk's length when it has none. Ask on behind what was found: every byte is read once.
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

  /** Moves behind the end of the string or of the chunk; strings are most of many texts. */
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
