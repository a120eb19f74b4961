/** Created on first use, since creating it takes a tenth of a command's start time. */
const segmenters: Intl.Segmenter[] = [];
/** Characters of names and texts that a terminal draws over two columns. */
const wide = /^(?:\p{RGI_Emoji}|[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Hangul}\uff01-\uff60\uffe0-\uffe6])/v;

/** Returns the width of a printable text in terminal columns. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  const graphemes = (segmenters[0] ??= new Intl.Segmenter());
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}
