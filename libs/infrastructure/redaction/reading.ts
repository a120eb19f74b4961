/** Functions that parse a text from a given position. */

export const quoteAt = /\\{0,16}["']/y;

/** Returns the match of the sticky expression at the position. */
export function readAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/**
 * Returns the index of the closing quote, which has as many backslashes as the opening one; the end of the text when
 * the quote is missing.
 */
export function findQuote(text: string, from: number, quote: string): number {
  const sign = quote.at(-1) ?? '';
  const requested = quote.length - 1;
  for (let at = text.indexOf(sign, from); at >= 0; at = text.indexOf(sign, at + 1)) {
    let slashes = 0;
    while (at - slashes > from && text[at - slashes - 1] === '\\') slashes++;
    if (requested === 0 ? slashes % 2 === 0 : slashes === requested) return at - requested;
  }
  return text.length;
}

/** Returns the index after the bracket that closes the bracket at `from`; the end of the text when it is missing. */
export function findClose(text: string, from: number): number {
  const brackets = /[{}[\]]/g;
  brackets.lastIndex = from;
  let depth = 0;
  for (let match = brackets.exec(text); match !== null; match = brackets.exec(text)) {
    depth += match[0] === '{' || match[0] === '[' ? 1 : -1;
    if (depth === 0) return brackets.lastIndex;
  }
  return text.length;
}
