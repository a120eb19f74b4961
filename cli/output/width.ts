/** Made for the first text that needs it: that takes a tenth of the start of a command. */
const segmenters: Intl.Segmenter[] = [];
/** What a terminal draws over two columns, as far as names and texts of people go. */
const wide = /^(?:\p{RGI_Emoji}|[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Hangul}\uff01-\uff60\uffe0-\uffe6])/v;

/** Columns of a terminal that a text takes; it must be printable. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  const graphemes = (segmenters[0] ??= new Intl.Segmenter());
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}
