/**
 * Renders Markdown that is still being written (C1). Open markup at the end is shown as its most likely result:
 * unclosed bold as bold, a link without target as text, a first table row as a table. Ambiguous characters are
 * withheld, so that markup never appears and then disappears. Only the end of the text is affected.
 */
import type { MarkdownIt as Parser, StateBlock, StateInline, Token } from 'markdown-it';

/** Parser environment of an unfinished text. */
export interface Unfinished {
  isUnfinished: true;
  /** Inline tokens at the end of the text. */
  last?: Token[] | null;
}

/**
 * Drops markup at the end of the text whose meaning is undecided: lines that contain only markup, and incomplete
 * escapes and entities.
 */
export function dropAmbiguousEnd(markdown: string): string {
  let text = markdown
    .replace(/[\ud800-\udbff]$/, '')
    .replace(/(?<!\\)((?:\\\\)*)\\$/, '$1')
    .replace(/&#?\w{0,10}$|(?<!~)~$/, '')
    .trimEnd();
  for (;;) {
    const lineStart = text.lastIndexOf('\n') + 1;
    const line = text.slice(lineStart);
    if (text === '' || line.length > maxMarkupLength || !(markupPattern.test(line) || fencePattern.test(line)))
      return text;
    text = text.slice(0, lineStart).trimEnd();
  }
}

/** Maximum length of a line that can be dropped as markup. */
const maxMarkupLength = 200;
/** Matches bullets, rules, underlines of headings and tables, and list numbers. */
// super-linear: a line has at most 200 characters
const markupPattern = /^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?:[-+*_=~`#|: \t]+|\d{1,9}[.)]?)?$/;
/** Matches the start of a code block with an incomplete language, or its end. */
const fencePattern = /^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)?(?:`{3,}[^`]*|~{3,}[^~]*)$/;

/** Adds rules to a parser that apply when the environment is an `Unfinished`. */
export function readUnfinished({ core, block, inline }: Parser): void {
  core.ruler.before('inline', 'unfinished', ({ env, tokens }) => {
    if (!isUnfinished(env)) return;
    const isTable =
      tokens.findLast(({ nesting, type }) => nesting === 0 || type === 'table_close')?.type === 'table_close';
    if (isTable) dropEmptyCells(tokens);
    const content = tokens.findLast(({ nesting }) => nesting === 0);
    env.last = content?.type === 'inline' ? content.children : null;
  });
  block.ruler.before('table', 'unfinished_table', readTableHead, { alt: ['paragraph'] });
  inline.ruler.before('backticks', 'unfinished_code', readCode);
  inline.ruler.after('link', 'unfinished_link', readLink);
  inline.ruler.before('autolink', 'unfinished_autolink', readAutolink);
  inline.ruler2.after('balance_pairs', 'unfinished_emphasis', closeEmphasis);
}

/** Drops the empty cells with which the parser fills an incomplete row. */
function dropEmptyCells(tokens: Token[]): void {
  const last = tokens.findLastIndex(({ type, content }) => type === 'tr_open' || (type === 'inline' && content !== ''));
  const ends = tokens.splice(last + 1).filter(({ type }) => type !== 'inline');
  for (const token of ends) tokens.push(token);
}

function isUnfinished(env: object): env is Unfinished {
  return 'isUnfinished' in env;
}

/** Whether inline content is at the end of an unfinished text. */
export function isAtEnd({ env, tokens }: StateInline): boolean {
  return isUnfinished(env) && env.last === tokens;
}

/** Reads a row at the end of the text as a table before its delimiter line arrives. */
function readTableHead(state: StateBlock, startLine: number, _endLine: number, silent: boolean): boolean {
  if (!isUnfinished(state.env) || startLine !== state.lineMax - 1) return false;
  const start = (state.bMarks[startLine] ?? 0) + (state.tShift[startLine] ?? 0);
  const row = state.src.slice(start, state.eMarks[startLine]);
  if (!/^\|.*[^|\s]/.test(row) || start + row.length < state.src.trimEnd().length) return false;
  if (silent) return true;
  state.push('table_open', 'table', 1);
  state.push('tr_open', 'tr', 1);
  for (const cell of row.replace(/^\||\|$/g, '').split(/(?<!\\)\|/)) {
    const token = state.push('inline', '', 0);
    token.content = cell.trim();
    token.children = [];
  }
  state.push('tr_close', 'tr', -1);
  state.push('table_close', 'table', -1);
  state.line = startLine + 1;
  return true;
}

/** Reads unclosed code, which extends to the end of the text. */
function readCode(state: StateInline, silent: boolean): boolean {
  if (!isAtEnd(state) || state.src[state.pos] !== '`') return false;
  const [signs = ''] = /^`+/.exec(state.src.slice(state.pos, state.posMax)) ?? [];
  const rest = state.src.slice(state.pos + signs.length, state.posMax);
  if (new RegExp(`(?<!\`)${signs}(?!\`)`).test(rest)) return false;
  if (!silent) {
    const code = rest
      .replace(/(?<!`)`+$/, '')
      .replaceAll('\n', ' ')
      .trim();
    if (code !== '') state.push('code_inline', 'code', 0).content = code;
  }
  state.pos = state.posMax;
  return true;
}

/** Reads a link or image with an incomplete target as text. */
function readLink(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state;
  if (!isAtEnd(state) || silent) return false;
  const start = src.startsWith('![', pos) ? pos + 1 : pos;
  if (src[start] !== '[') return src[pos] === '!' && pos === posMax - 1 && skip(state, 1);
  const end = state.md.helpers.parseLinkLabel(state, start, false);
  state.pos = pos;
  // The brackets are more likely a footnote or a check box than a link.
  if (/^\[[\d\s,x]*\]?$/.test(src.slice(start, posMax))) return skip(state, posMax - pos);
  if (end < 0) return skip(state, start + 1 - pos);
  if (
    !/^(?:$|\($|\(<[^<>\n]*$|\(<?[^\s<>)]+>?(?:\s+(?:"[^"]*|'[^']*|\([^)]*)?["')]?)?$)/.test(src.slice(end + 1, posMax))
  )
    return false;
  state.pos = start + 1;
  state.posMax = end;
  state.md.inline.tokenize(state);
  state.pos = posMax;
  state.posMax = posMax;
  return true;
}

function skip(state: StateInline, characters: number): true {
  state.pos += characters;
  return true;
}

function readAutolink(state: StateInline, silent: boolean): boolean {
  const rest = state.src.slice(state.pos, state.posMax);
  return isAtEnd(state) && !silent && /^<(?:h|ht|htt|https?|https?:[^\s<>]*)?$/.test(rest) && skip(state, 1);
}

/** Closes open emphasis at the end of the text and hides trailing markers. */
function closeEmphasis(state: StateInline): void {
  if (!isAtEnd(state)) return;
  const { delimiters, tokens } = state;
  const closers = new Set(delimiters.map(({ end }) => end));
  const isOpen = (index: number): boolean => delimiters[index]?.end === -1 && !closers.has(index);
  const signs = new Map(delimiters.map(({ token }, index) => [token, index]));
  let end = tokens.length;
  for (; end > 0; end--) {
    const sign = tokens[end - 1];
    const index = signs.get(end - 1);
    if (sign === undefined || index === undefined || !isOpen(index)) break;
    sign.content = '';
  }
  let covered = -1;
  const open: number[] = [];
  for (const [index, delimiter] of delimiters.entries()) {
    covered = Math.max(covered, delimiter.end);
    if (
      index > covered &&
      delimiter.token < end &&
      isOpen(index) &&
      delimiter.open &&
      !isWithinWord(tokens, delimiter.token)
    )
      open.push(index);
  }
  for (const index of open.toReversed()) {
    const opener = delimiters[index];
    if (opener === undefined) continue;
    state.push('text', '', 0);
    opener.end = delimiters.length;
    delimiters.push({ ...opener, token: tokens.length - 1, end: -1, open: false, close: true });
  }
}

/** Whether an asterisk is within a word, where it is more likely multiplication than emphasis. */
function isWithinWord(tokens: readonly Token[], sign: number): boolean {
  let before = sign;
  while (before >= 0 && sign - before < 3 && tokens[before]?.content === tokens[sign]?.content) before--;
  return /[\p{L}\p{N}]$/u.test(tokens[before]?.content ?? '');
}
