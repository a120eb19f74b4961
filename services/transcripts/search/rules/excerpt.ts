/**
 * Shortens long texts in matches (D91): an excerpt around the search terms, and the nearest text of the neighbouring
 * rows.
 */

/** Maximum length of an excerpt in UTF-16 units. */
export const maxTextLength = 2_000;
export const maxNeighbourLength = 300;
/** Maximum length of a grapheme, far longer than any real one. Longer graphemes are split between code points. */
const maxGraphemeLength = 100;
const graphemes = new Intl.Segmenter();

type Range = [from: number, to: number];

/** Returns the first excerpt of a text with the most highlights, and the highlights relative to the excerpt. */
export function cutAround(text: string, highlights: readonly Range[]): { text: string; highlights: Range[] } {
  if (text.length <= maxTextLength) return { text, highlights: [...highlights] };
  const [first, last] = findDensest(highlights);
  const spare = Math.max(0, maxTextLength - (last - first));
  const requested = Math.min(Math.max(0, first - Math.floor(spare / 2)), text.length - maxTextLength);
  const from = boundaryAfter(text, requested);
  const to = boundaryBefore(text, Math.min(text.length, from + maxTextLength));
  const inside = highlights.flatMap(([start, end]): Range[] =>
    start >= to || end <= from ? [] : [[Math.max(start, from) - from, Math.min(end, to) - from]],
  );
  return { text: text.slice(from, to), highlights: inside };
}

/** Returns the end of the previous row's text. */
export const cutBefore = (text: string): string =>
  text.length <= maxNeighbourLength ? text : text.slice(boundaryAfter(text, text.length - maxNeighbourLength));

/** Returns the start of the next row's text. */
export const cutAfter = (text: string): string =>
  text.length <= maxNeighbourLength ? text : text.slice(0, boundaryBefore(text, maxNeighbourLength));

/** Returns the range of the most highlights that fit into an excerpt. */
function findDensest(highlights: readonly Range[]): Range {
  let best: Range = [0, 0];
  let most = 0;
  let end = 0;
  for (const [index, [from]] of highlights.entries()) {
    while (end < highlights.length && (highlights[end]?.[1] ?? 0) - from <= maxTextLength) end += 1;
    if (end - index > most) {
      most = end - index;
      best = [from, highlights[end - 1]?.[1] ?? from];
    }
  }
  // A single word can be longer than the excerpt.
  return most === 0 && highlights[0] !== undefined ? [highlights[0][0], highlights[0][0] + maxTextLength] : best;
}

/** Returns the start of the grapheme at an index. */
function boundaryBefore(text: string, at: number): number {
  return at >= text.length ? text.length : graphemeAt(text, at)[0];
}

/** Returns the index if a grapheme starts there, otherwise the end of the grapheme that contains it. */
function boundaryAfter(text: string, at: number): number {
  if (at <= 0) return 0;
  const [from, to] = graphemeAt(text, at);
  return from === at ? at : to;
}

/** Returns start and end of the grapheme at an index. It searches at most the maximum length of a grapheme. */
function graphemeAt(text: string, at: number): Range {
  const begin = codePointBefore(text, Math.max(0, at - maxGraphemeLength));
  const near = text.slice(begin, codePointBefore(text, Math.min(text.length, at + maxGraphemeLength)));
  const found = graphemes.segment(near).containing(at - begin);
  const [from, to] = found === undefined ? [at, at] : [begin + found.index, begin + found.index + found.segment.length];
  if (to - from < maxGraphemeLength) return [from, to];
  const point = codePointBefore(text, at);
  return [point, point === at ? at : at + 1];
}

function codePointBefore(text: string, at: number): number {
  const isSplit = /[\udc00-\udfff]/.test(text[at] ?? '') && /[\ud800-\udbff]/.test(text[at - 1] ?? '');
  return isSplit ? at - 1 : at;
}

/** Limits the matches of one page (D91). */

/** Maximum bytes of a page as JSON, including everything around its items. */
export const maxPageBytes = 1_048_576;
const envelopeBytes = 4_096;

export class PageBudget {
  #bytes = envelopeBytes;

  /** Adds items to the page and returns how many of them fit. The first item of a page always fits. */
  take(items: readonly object[]): number {
    for (const [index, item] of items.entries()) {
      const bytes = Buffer.byteLength(JSON.stringify(item)) + 1;
      if (this.#bytes > envelopeBytes && this.#bytes + bytes > maxPageBytes) return index;
      this.#bytes += bytes;
    }
    return items.length;
  }
}
