/**
 * Turns bare addresses in Markdown, `https://…` and `mailto:…`, into links as written; markup characters in an address
 * have no effect (D88). An address ends before white space, angle brackets, quotation marks, trailing punctuation and
 * unmatched closing brackets, as in other linkers.
 */
import type { MarkdownIt as Parser, StateInline } from 'markdown-it';

const scheme = /(?:^|[^\p{L}\p{N}])(https?|mailto)$/iu;
const longestScheme = 'mailto'.length;
/**
 * Characters that end an address: white space, control characters, quotation marks, and brackets and punctuation of
 * other scripts.
 */
const stop = /[\s\p{Cc}<>"“”„«»‹›（）［］｛｝【】〔〕「」『』《》〈〉、。，．：；！？]/u;
const punctuation = new Set("?!.,:;*_~'’`…([{|\\");
const escaped = /[!-/:-@[-`{-~]/;

/** What must follow `https://`. The check rejects most candidates early. */
const host = /\[[0-9a-f:.]{2,45}\]|[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,253}/iuy;
const mailbox = /[^\s\p{Cc}<>"()[\]\\:;,@]{1,64}@[\p{L}\p{N}]/uy;

interface Address {
  readonly url: string;
  /** Position after the address. */
  readonly end: number;
  /** Whether the address reaches the end of the text, so that more of it can follow. */
  readonly isOpen: boolean;
}

/**
 * Adds the rule for bare addresses to a parser. At the end of an unfinished text an address can be incomplete, so it is
 * not a link yet.
 */
export function readBareAddresses({ inline }: Parser, isUnfinished: (state: StateInline) => boolean): void {
  inline.ruler.after('text', 'bare_address', (state, silent) => {
    const { pos, posMax, src } = state;
    if (src[pos] !== ':') return false;
    const [, name = ''] = scheme.exec(src.slice(Math.max(0, pos - longestScheme - 2), pos)) ?? [];
    if (name === '') return false;
    const address = readAddress(src, pos - name.length, pos, posMax);
    if (address === undefined) return false;
    state.pos = address.end;
    if (silent) return true;
    const { url } = address;
    state.pending = state.pending.slice(0, -name.length);
    const isLink = state.linkLevel === 0 && URL.canParse(url) && !(address.isOpen && isUnfinished(state));
    if (isLink) state.push('link_open', 'a', 1).attrs = [['href', state.md.normalizeLink(url)]];
    state.push('text', '', 0).content = url;
    if (isLink) state.push('link_close', 'a', -1);
    return true;
  });
}

function readAddress(src: string, start: number, colon: number, max: number): Address | undefined {
  const isMail = colon - start === longestScheme;
  const prefix = src.slice(start, colon) + (isMail ? ':' : '://');
  if (!isMail && !src.startsWith('://', colon)) return undefined;
  const first = isMail ? mailbox : host;
  first.lastIndex = start + prefix.length;
  if (!first.test(src) || first.lastIndex > max) return undefined;
  const { letters, ends } = scan(src, start + prefix.length, max);
  let length = letters.length;
  while (length > 0 && punctuation.has(letters[length - 1] ?? '')) length--;
  const end = ends[length - 1];
  return end === undefined
    ? undefined
    : { url: prefix + letters.slice(0, length).join(''), end, isOpen: ends.at(-1) === max };
}

/**
 * Returns the characters of a possible address, each with the position after it. Resolves escaped characters and
 * `&amp;`, which models write in addresses.
 */
function scan(src: string, start: number, max: number): { letters: string[]; ends: number[] } {
  const letters: string[] = [];
  const ends: number[] = [];
  const open: string[] = [];
  for (let at = start; at < max;) {
    let letter = String.fromCodePoint(src.codePointAt(at) ?? 0);
    let length = letter.length;
    if (stop.test(letter)) break;
    if (letter === '\\') {
      const next = src[at + 1] ?? '';
      if (at + 1 >= max || !escaped.test(next)) break;
      letter = next;
      length = 2;
    } else if (letter === '&' && src.startsWith('&amp;', at)) length = '&amp;'.length;
    if (letter === '(' || letter === '[') open.push(letter === '(' ? ')' : ']');
    else if ((letter === ')' || letter === ']') && open.pop() !== letter) break;
    at += length;
    letters.push(letter);
    ends.push(at);
  }
  return { letters, ends };
}
