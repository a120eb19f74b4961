/** Converts rich text to plain text, because the pages neither show nor parse HTML written by users. */

const lineEnds = /<(?:br|\/p|\/li|\/h[1-6]|\/blockquote|\/pre)\b[^<>]*>/gi;
const tags = /<\/?[a-z!][^<>]*>/gi;
const entities = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi;
/** @type {Readonly<Record<string, string>>} */
const named = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** @param {string} rich stored rich text: sanitised, with every special character outside tags as an entity */
export function toPlainText(rich) {
  return rich
    .replaceAll(lineEnds, '\n')
    .replaceAll(tags, '')
    .replaceAll(entities, (whole, decimal, hex, name) => {
      if (name !== undefined) return named[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
    })
    .trim();
}
