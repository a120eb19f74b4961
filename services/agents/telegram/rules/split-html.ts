/**
 * Cuts HTML of the messaging subset into messages (D32, D33b; rules/providers#telegram-sending): never inside a tag, an entity or a
 * grapheme, such as a flag or a letter with its accents, unless one alone is too long; tags that are open at a cut are closed before and opened again after it. The visible texts of the parts, one after the other, are
 * the visible text of the whole.
 */

import { toVisibleText } from '../../messaging-html.ts';

export interface SplitLimits {
  /** UTF-16 units of visible text in one part. */
  readonly visible: number;
  /** UTF-8 bytes of one part with its tags, which the platform limits before it reads them. */
  readonly bytes: number;
}

export const messageLimits: SplitLimits = { visible: 4_096, bytes: 30_000 };

interface Token {
  readonly kind: 'open' | 'close' | 'text';
  readonly source: string;
  /** Name of a tag. */
  readonly name: string;
  /** Visible UTF-16 units. */
  readonly width: number;
  readonly bytes: number;
  /** Visible character; whether a cut after it looks natural. */
  readonly isBreak: 'line' | 'space' | false;
  /** Whether a grapheme begins here, so that a cut before it parts none. */
  readonly startsGrapheme: boolean;
}

const tokenPattern = /<(\/?)([a-z][a-z0-9-]*)(?![a-z0-9-])[^<>]*>|&(?:lt|gt|amp|quot|#[0-9]+|#x[0-9a-f]+);|[\s\S]/giu;

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Parts in order; none for an empty text. */
export function splitHtml(html: string, limits: SplitLimits = messageLimits): string[] {
  const parts: string[] = [];
  const tokens = dropLongTags(readTokens(html), limits.bytes / 4);
  for (let start = 0, open: Token[] = []; start < tokens.length;) {
    const part = nextPart(tokens, start, open, limits);
    if (part.visible > 0) parts.push(part.html);
    start = part.next;
    open = part.open;
  }
  return parts;
}

interface Cut {
  readonly html: string;
  readonly visible: number;
  readonly next: number;
  readonly open: Token[];
}

/** The longest part from `start` that fits, cut back to the last line or word end in its second half. */
function nextPart(tokens: readonly Token[], start: number, openBefore: readonly Token[], limits: SplitLimits): Cut {
  let source = openBefore.map((token) => token.source).join('');
  let open = [...openBefore];
  let bytes = Buffer.byteLength(source);
  let visible = 0;
  let lineCut: Cut | undefined;
  let graphemeCut: Cut | undefined;
  let spaceCut: Cut | undefined;
  const cutAt = (next: number): Cut => ({ html: source + closingTags(open), visible, next, open: [...open] });
  for (let index = start; index < tokens.length; index++) {
    const token = tokens[index] as Token;
    const openAfter = applyTag(open, token);
    const total = bytes + token.bytes + Buffer.byteLength(closingTags(openAfter));
    const fits = visible + token.width <= limits.visible && total <= limits.bytes;
    if (token.startsGrapheme && visible > 0) graphemeCut = cutAt(index);
    if (!fits && visible > 0) return lineCut ?? spaceCut ?? graphemeCut ?? cutAt(index);
    open = openAfter;
    source += token.source;
    bytes += token.bytes;
    visible += token.width;
    if ((visible * 2 < limits.visible && bytes * 2 < limits.bytes) || tokens[index + 1]?.startsGrapheme === false) continue;
    if (token.isBreak === 'line') lineCut = cutAt(index + 1);
    else if (token.isBreak === 'space') spaceCut = cutAt(index + 1);
  }
  return cutAt(tokens.length);
}

function applyTag(open: Token[], token: Token): Token[] {
  if (token.kind === 'open') return [...open, token];
  return token.kind === 'close' ? open.slice(0, -1) : open;
}

function closingTags(open: readonly Token[]): string {
  return open
    .map((token) => `</${token.name}>`)
    .toReversed()
    .join('');
}

function readTokens(html: string): Token[] {
  const begins = findGraphemeStarts(html);
  let at = 0;
  return [...html.matchAll(tokenPattern)].map(([source, slash, name]): Token => {
    const bytes = Buffer.byteLength(source);
    const startsGrapheme = begins.has(at);
    if (name !== undefined)
      return { kind: slash === '/' ? 'close' : 'open', source, name: name.toLowerCase(), width: 0, bytes, isBreak: false, startsGrapheme };
    const width = widthOf(source);
    at += width;
    const isBreak = source === '\n' ? 'line' : /^\s$/.test(source) ? 'space' : false;
    return { kind: 'text', source, name: '', width, bytes, isBreak, startsGrapheme };
  });
}

/** Places in the visible text, and its end. An entity is a character like any other. */
function findGraphemeStarts(html: string): Set<number> {
  const visible = html.replace(tokenPattern, (source, _slash, name) =>
    name !== undefined ? '' : isEntity(source) ? '.'.repeat(widthOf(source)) : source,
  );
  const begins = new Set([visible.length]);
  for (const { index } of graphemes.segment(visible)) begins.add(index);
  return begins;
}

function isEntity(source: string): boolean {
  return source.startsWith('&') && source.length > 1;
}

function widthOf(source: string): number {
  return isEntity(source) ? entityWidth(source) : source.length;
}

function entityWidth(entity: string): number {
  const digits = /^&#(x?)([0-9a-f]+);$/i.exec(entity);
  return digits !== null && Number.parseInt(digits[2] ?? '', digits[1] === '' ? 10 : 16) > 0xffff ? 2 : 1;
}

/** A tag that hardly leaves room for text, such as a link of thousands of characters, goes; its text stays. */
function dropLongTags(tokens: readonly Token[], maxBytes: number): Token[] {
  const kept: boolean[] = [];
  return tokens.filter((token) => {
    if (token.kind === 'open') {
      kept.push(token.bytes <= maxBytes);
      return token.bytes <= maxBytes;
    }
    return token.kind === 'text' || (kept.pop() ?? false);
  });
}

/** The messages of a reply. A part without anything to see is left out: the platform takes no empty message. */
export function splitReply(html: string): string[] {
  return splitHtml(html).filter((part) => toVisibleText(part).trim() !== '');
}
