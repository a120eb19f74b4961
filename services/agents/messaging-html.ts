/**
 * Converts Markdown to HTML for messaging platforms (rules/agents#visitor-chat; rules/providers#telegram-html): a, b,
 * i, s, code, pre and blockquote, with line breaks as `\n`. The text is first collected as runs of equal formatting;
 * tags are then written from the runs, so the result is always well-formed.
 */
import MarkdownIt, { type MarkdownIt as Parser, type StateBlock, type Token } from 'markdown-it';
import { readBareAddresses } from './bare-address.ts';
import { dropAmbiguousEnd, isAtEnd, readUnfinished, type Unfinished } from './unfinished-markdown.ts';

export interface MessagingHtml {
  /** Converts Markdown to HTML. HTML in the Markdown is shown as text; only Markdown markup disappears. */
  render(markdown: string): string;
  /** Renders incomplete Markdown: open markup at the end is shown as if it were closed (C1). */
  renderUnfinished(markdown: string): string;
}

/** Text with the same formatting. Code has no other formatting, as messaging platforms require. */
interface Run {
  readonly text: string;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly strike: boolean;
  readonly code: boolean;
  readonly href: string | undefined;
}
type Marks = Omit<Run, 'text'>;

/**
 * A block on its own lines. `quote` is the number of the quotation, 0 = none; `gap` is the number of line breaks before
 * the block.
 */
type Block =
  | { readonly kind: 'text'; readonly runs: Run[]; readonly quote: number; readonly gap: number }
  | {
      readonly kind: 'pre';
      readonly text: string;
      readonly language: string;
      readonly quote: number;
      readonly gap: number;
    };

/** Maximum nesting. A text with deeper nesting is shown as source, since the parser drops that content. */
const maxNesting = 40;
/**
 * Maximum ratio of HTML to Markdown size. A text that exceeds it, e.g. by indents of nested lists, is shown as source.
 */
const maxGrowth = 8;
const plain: Marks = { bold: false, italic: false, strike: false, code: false, href: undefined };
const linkSchemes = /^(https?:\/\/|mailto:|tg:\/\/)/i;

/** Creates the renderer for visitors' messages and all replies. */
export function createMessagingHtml(): MessagingHtml {
  const parser = new MarkdownIt({ html: false, linkify: false, typographer: false, breaks: false, maxNesting });
  // Reference definitions would disappear from the text, so the parser does not read them.
  parser.disable('reference');
  limitTables(parser);
  readUnfinished(parser);
  readBareAddresses(parser, isAtEnd);
  const render = (markdown: string, env: Partial<Unfinished>): string => {
    const tokens = parser.parse(markdown, { ...env });
    const tooDeep = tokens.some((token) => token.nesting === 1 && token.level >= maxNesting - 1);
    const html = tooDeep ? '' : writeBlocks(new BlockReader().read(tokens)).trim();
    if (html === '' && !tooDeep && env.isUnfinished === true) return '';
    return html === '' || html.length > maxGrowth * (markdown.length + 100) ? escapeText(markdown.trim()) : html;
  };
  return {
    render: (markdown) => render(markdown.toWellFormed(), {}),
    renderUnfinished: (markdown) => render(dropAmbiguousEnd(markdown).toWellFormed(), { isUnfinished: true }),
  };
}

/**
 * Shows tables with too many missing cells as source. The parser adds missing cells, so that many columns and short
 * rows grow a thousandfold (16 KB took seconds). In a complete table each cell has at least one character.
 */
function limitTables({ block: { ruler } }: Parser): void {
  const readTable = ruler.getRules('').find(({ name }) => name === 'table');
  if (readTable === undefined) throw new Error('markdown-it has no table rule');
  const hasAllCells = (state: StateBlock, startLine: number, endLine: number): boolean => {
    let line = startLine;
    while (line < endLine && !state.isEmpty(line)) line++;
    const header = state.getLines(startLine, startLine + 1, 0, false);
    const sizeChars = (state.eMarks[line - 1] ?? 0) - (state.bMarks[startLine] ?? 0);
    return header.split('|').length * (line - startLine) <= sizeChars;
  };
  const rule: typeof readTable = (state, startLine, endLine, silent) =>
    readTable(state, startLine, endLine, true) &&
    hasAllCells(state, startLine, endLine) &&
    (silent || readTable(state, startLine, endLine, false));
  ruler.at('table', rule, { alt: ['paragraph', 'reference'] });
}

/** Returns the visible text of HTML written by {@link createMessagingHtml}. */
export function toVisibleText(html: string): string {
  const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' };
  return html.replaceAll(/<[^<>]*>/g, '').replaceAll(/&(?:lt|gt|quot|amp);/g, (entity) => entities[entity] ?? entity);
}

/** Converts block tokens of the parser to a flat list of blocks. */
class BlockReader {
  readonly #blocks: Block[] = [];
  #lastInList = false;
  readonly #lists: { ordered: boolean; next: number }[] = [];
  #marker: string | undefined;
  #heading = false;
  #tight = false;
  #quoteDepth = 0;
  #quotes = 0;
  #table: string[][] | undefined;

  read(tokens: readonly Token[]): Block[] {
    for (const token of tokens) this.#readToken(token);
    return this.#blocks;
  }

  #readToken(token: Token): void {
    switch (token.type) {
      case 'inline':
        if (this.#table === undefined)
          this.#addText(readInline(token.children ?? [], { ...plain, bold: this.#heading }));
        else this.#table.at(-1)?.push(joinRuns(readInline(token.children ?? [], plain)));
        break;
      case 'paragraph_open':
        this.#tight = token.hidden;
        break;
      case 'heading_open':
      case 'heading_close':
        this.#heading = token.nesting === 1;
        this.#tight = false;
        break;
      case 'bullet_list_open':
      case 'ordered_list_open':
        this.#flushMarker();
        this.#lists.push({ ordered: token.type === 'ordered_list_open', next: Number(token.attrGet('start') ?? 1) });
        break;
      case 'bullet_list_close':
      case 'ordered_list_close':
        this.#lists.pop();
        break;
      case 'list_item_open':
        this.#marker = this.#nextMarker();
        break;
      case 'list_item_close':
        this.#flushMarker();
        break;
      case 'blockquote_open':
        this.#flushMarker();
        if (this.#quoteDepth++ === 0) this.#quotes++;
        break;
      case 'blockquote_close':
        this.#quoteDepth--;
        break;
      case 'fence':
      case 'code_block':
        this.#flushMarker();
        this.#addPre(token.content.replace(/\n$/, ''), token.info.trim());
        break;
      case 'hr':
        this.#tight = false;
        this.#addText([{ ...plain, text: '———' }]);
        break;
      case 'table_open':
        this.#flushMarker();
        this.#table = [];
        break;
      case 'tr_open':
        this.#table?.push([]);
        break;
      case 'table_close':
        this.#addPre((this.#table ?? []).map((cells) => cells.join(' | ')).join('\n'), '');
        this.#table = undefined;
        break;
      default:
    }
  }

  #nextMarker(): string {
    const list = this.#lists.at(-1);
    const indent = '  '.repeat(Math.max(0, this.#lists.length - 1));
    return list?.ordered === true ? `${indent}${list.next++}. ` : `${indent}• `;
  }

  /** Writes the marker of a list item that has no text. */
  #flushMarker(): void {
    if (this.#marker !== undefined) this.#addText([]);
  }

  #addText(runs: Run[]): void {
    const inList = this.#lists.length > 0;
    const prefix = this.#marker ?? '  '.repeat(this.#lists.length);
    const tightItem = inList && (this.#tight || this.#marker !== undefined) && this.#lastInList;
    this.#marker = undefined;
    const text = prefix === '' ? runs : [{ ...plain, text: prefix }, ...runs];
    this.#push({ kind: 'text', runs: text, quote: this.#quote, gap: tightItem ? 1 : 2 }, inList);
  }

  #addPre(text: string, info: string): void {
    // Any other info string would disappear, so it becomes the first line of the text.
    const hasLanguage = text !== '' && /^[\w+#.-]+$/.test(info);
    const content = hasLanguage || info === '' ? text : [info, text].filter((part) => part !== '').join('\n');
    this.#push(
      { kind: 'pre', text: content, language: hasLanguage ? info : '', quote: this.#quote, gap: 1 },
      this.#lists.length > 0,
    );
  }

  get #quote(): number {
    return this.#quoteDepth === 0 ? 0 : this.#quotes;
  }

  #push(block: Block, inList: boolean): void {
    this.#blocks.push(block);
    this.#lastInList = inList;
  }
}

function readInline(tokens: readonly Token[], base: Marks): Run[] {
  const runs: Run[] = [];
  const hrefs: (string | undefined)[] = [];
  let bold = base.bold ? 1 : 0;
  let italic = 0;
  let strike = 0;
  const add = (text: string, extra: Partial<Marks> = {}): void => {
    if (text === '') return;
    const href = extra.href ?? hrefs.at(-1);
    const code = extra.code === true && href === undefined;
    runs.push(
      code ? { ...plain, code, text } : { text, bold: bold > 0, italic: italic > 0, strike: strike > 0, code, href },
    );
  };
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'strong_open' || token.type === 'strong_close') bold += token.nesting;
    else if (token.type === 'em_open' || token.type === 'em_close') italic += token.nesting;
    else if (token.type === 's_open' || token.type === 's_close') strike += token.nesting;
    else if (token.type === 'link_open') {
      hrefs.push(checkLink(readAttribute(token, 'href')));
      if (tokens[index + 1]?.type === 'link_close') add(readAttribute(token, 'href'));
    } else if (token.type === 'link_close') hrefs.pop();
    else if (token.type === 'softbreak' || token.type === 'hardbreak') add('\n');
    else if (token.type === 'code_inline') add(token.content, { code: true });
    else if (token.type === 'image') {
      const source = readAttribute(token, 'src');
      const href = hrefs.at(-1) ?? checkLink(source);
      const alternative = joinRuns(readInline(token.children ?? [], plain));
      add(alternative === '' ? source : alternative, href === undefined ? {} : { href });
    } else add(token.content);
  }
  return runs;
}

function readAttribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? '');
}

/** Returns an absolute link with a known scheme. Returns undefined for other links, which are shown as text. */
function checkLink(href: string): string | undefined {
  return linkSchemes.test(href) && URL.canParse(href) ? href : undefined;
}

function joinRuns(runs: readonly Run[]): string {
  return runs.map((run) => run.text).join('');
}

function writeBlocks(blocks: readonly Block[]): string {
  let html = '';
  let quote = 0;
  for (const [index, block] of blocks.entries()) {
    if (block.quote !== quote && quote !== 0) html += '</blockquote>';
    if (index > 0) html += '\n'.repeat(block.gap);
    if (block.quote !== quote && block.quote !== 0) html += '<blockquote>';
    quote = block.quote;
    html += block.kind === 'text' ? writeRuns(block.runs) : writePre(block.text, block.language);
  }
  return quote === 0 ? html : `${html}</blockquote>`;
}

function writePre(text: string, language: string): string {
  const content = escapeText(text);
  return language === ''
    ? `<pre>${content}</pre>`
    : `<pre><code class="language-${escapeAttribute(language)}">${content}</code></pre>`;
}

/** Writes runs as HTML. Tags change where the formatting changes and are closed in reverse order. */
function writeRuns(runs: readonly Run[]): string {
  let html = '';
  let open: string[] = [];
  const change = (tags: string[]): void => {
    let same = 0;
    while (same < open.length && open[same] === tags[same]) same++;
    for (const tag of open.slice(same).toReversed()) html += `</${tag.split(' ', 1)[0]}>`;
    for (const tag of tags.slice(same)) html += `<${tag}>`;
    open = tags;
  };
  for (const run of runs) {
    change(tagsOf(run));
    html += escapeText(run.text);
  }
  change([]);
  return html;
}

function tagsOf(run: Run): string[] {
  if (run.code) return ['code'];
  const tags: string[] = [];
  if (run.href !== undefined) tags.push(`a href="${escapeAttribute(run.href)}"`);
  if (run.bold) tags.push('b');
  if (run.italic) tags.push('i');
  if (run.strike) tags.push('s');
  return tags;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function escapeAttribute(text: string): string {
  return escapeText(text).replaceAll('"', '&quot;');
}
