/** How many matches one answer may hold (D91). */

/** JSON of a page, with what is around its items. */
export const mostPageBytes = 1_048_576;
const envelopeBytes = 4_096;

export class PageBudget {
  #bytes = envelopeBytes;

  /** How many of the next items have room; the first of a page always has. */
  take(items: readonly object[]): number {
    for (const [index, item] of items.entries()) {
      const bytes = Buffer.byteLength(JSON.stringify(item)) + 1;
      if (this.#bytes > envelopeBytes && this.#bytes + bytes > mostPageBytes) return index;
      this.#bytes += bytes;
    }
    return items.length;
  }
}
