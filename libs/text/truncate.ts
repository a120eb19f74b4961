/** Made for the first text that is cut. */
const segmenters: Intl.Segmenter[] = [];

/** The beginning of a text in at most so many UTF-16 units, without half a grapheme, unless one alone is longer. */
export function truncateText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const graphemes = (segmenters[0] ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' }));
  // A grapheme of sensible length that reaches over the end is within these.
  const from = Math.max(0, maxLength - longestGrapheme);
  const start = graphemes.segment(text.slice(from, maxLength + longestGrapheme)).containing(maxLength - from)?.index ?? 0;
  return text.slice(0, start === 0 ? maxLength : from + start).replace(/[\ud800-\udbff]$/, '');
}

const longestGrapheme = 200;
