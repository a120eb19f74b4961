/**
 * Splits messaging HTML into messages (D32, D33b; rules/providers#telegram-sending). A cut is inside a tag, entity or
 * grapheme only if that alone is too long. Open tags are closed before a cut and reopened after it. The joined visible
 * texts of the parts equal the visible text of the whole.
 */

import { toVisibleText } from '../../messaging-html.ts';

export interface SplitLimits {
  /** Maximum UTF-16 units of visible text per part. */
  readonly visible: number;
  /** Maximum UTF-8 bytes per part including tags; the platform limits them before parsing. */
  readonly bytes: number;
}

export const messageLimits: SplitLimits = { visible: 4_096, bytes: 30_000 };

interface Token {
  readonly kind: 'open' | 'close' | 'text';
  readonly source: string;
  /** Tag name. */
  readonly name: string;
  /** Visible UTF-16 units. */
  readonly width: number;
  readonly bytes: number;
  /** Whether the text can be cut after this character, and whether at a line or a word end. */
  readonly isBreak: 'line' | 'space' | false;
  /** Whether a cut before this character splits no grapheme. */
  readonly startsGrapheme: boolean;
}

const tokenPattern = /<(\/?)([a-z][a-z0-9-]*)(?![a-z0-9-])[^<>]*>|&(?:lt|gt|amp|quot|#[0-9]+|#x[0-9a-f]+);|[\s\S]/giu;

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Returns the parts in order; returns an empty list for an empty text. */
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

/** Returns the longest part that fits. If its second half contains a line or word end, the part ends there. */
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
    if ((visible * 2 < limits.visible && bytes * 2 < limits.bytes) || tokens[index + 1]?.startsGrapheme === false)
      continue;
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
  const graphemeStarts = findGraphemeStarts(html);
  let at = 0;
  return [...html.matchAll(tokenPattern)].map(([source, slash, name]): Token => {
    const bytes = Buffer.byteLength(source);
    const startsGrapheme = graphemeStarts.has(at);
    if (name !== undefined)
      return {
        kind: slash === '/' ? 'close' : 'open',
        source,
        name: name.toLowerCase(),
        width: 0,
        bytes,
        isBreak: false,
        startsGrapheme,
      };
    const width = widthOf(source);
    at += width;
    const isBreak = source === '\n' ? 'line' : /^\s$/.test(source) ? 'space' : false;
    return { kind: 'text', source, name: '', width, bytes, isBreak, startsGrapheme };
  });
}

/**
 * Returns the offsets in the visible text at which graphemes start, and the offset of its end. An entity counts as one
 * character.
 */
function findGraphemeStarts(html: string): Set<number> {
  const visible = html.replace(tokenPattern, (source, _slash, name) =>
    name !== undefined ? '' : isEntity(source) ? '.'.repeat(widthOf(source)) : source,
  );
  const graphemeStarts = new Set([visible.length]);
  for (const { index } of graphemes.segment(visible)) graphemeStarts.add(index);
  return graphemeStarts;
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

/**
 * Drops tags that use almost the whole size of a part, e.g. links of thousands of characters. The text of a dropped tag
 * remains.
 */
function dropLongTags(tokens: readonly Token[], maxBytes: number): Token[] {
  const openTagsIncluded: boolean[] = [];
  return tokens.filter((token) => {
    if (token.kind === 'open') {
      openTagsIncluded.push(token.bytes <= maxBytes);
      return token.bytes <= maxBytes;
    }
    return token.kind === 'text' || (openTagsIncluded.pop() ?? false);
  });
}

/**
 * Returns the messages of a reply. Parts without visible text are dropped, since the platform rejects empty messages.
 */
export function splitReply(html: string): string[] {
  return splitHtml(html).filter((part) => toVisibleText(part).trim() !== '');
}
