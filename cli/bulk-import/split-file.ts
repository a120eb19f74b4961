/**
 * Takes the list `conversations:` out of a large workspace file without ever holding it: the rest of the file as text, with the number of lines
 * that are missing where the list was, and the items one by one as text. Knows JSON (any layout) and block sequences of YAML; a file that writes the list in
 * another way is read whole.
 */
import { createReadStream } from 'node:fs';

/** One item of the list as text, and its first line in the file, from 1. */
export interface ItemText {
  readonly text: string;
  readonly line: number;
}

export type Piece =
  | { readonly kind: 'rest'; readonly text: string }
  /** So many lines of the file are not in the rest, between what came of it before and what comes after. */
  | { readonly kind: 'gap'; readonly lines: number }
  | ({ readonly kind: 'item' } & ItemText);

const listName = 'conversations';
/** Small enough for a chunk and its lines to die young: larger strings stay until the whole heap is cleaned. */
const chunkBytes = 65_536;

/** Pieces of the file in order; `undefined` as the only one when the list is written in a way that cannot be split. */
export async function* splitFile(file: string): AsyncGenerator<Piece | undefined> {
  const chunks = createReadStream(file, { encoding: 'utf8', highWaterMark: chunkBytes });
  const splitter = (await beginsWithBrace(file)) ? new JsonSplitter() : new YamlSplitter();
  for await (const chunk of chunks as AsyncIterable<string>) {
    yield* splitter.add(chunk);
    if (splitter.isUnsplittable) {
      yield undefined;
      return;
    }
  }
  yield* splitter.end();
}

async function beginsWithBrace(file: string): Promise<boolean> {
  for await (const chunk of createReadStream(file, { encoding: 'utf8', end: 65_535 }) as AsyncIterable<string>) {
    const text = chunk.replace(/^\ufeff/, '').trimStart();
    if (text !== '') return text.startsWith('{');
  }
  return false;
}

interface Splitter {
  readonly isUnsplittable: boolean;
  add(chunk: string): Iterable<Piece>;
  end(): Iterable<Piece>;
}

const quote = 34;
const backslash = 92;
const newline = 10;
const [openBrace, closeBrace, openBracket, closeBracket, comma, colon] = [123, 125, 91, 93, 44, 58];
const isSpace = (code: number): boolean => code === 32 || code === newline || code === 13 || code === 9;

/** Follows nesting and strings; what stands in the list of the document's key is given out item by item. */
class JsonSplitter implements Splitter {
  readonly isUnsplittable = false;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #inList = false;
  /** The last string at the document's level, or that string and a colon: the key that a value follows. */
  #key = '';
  #afterColon = false;
  #line = 1;
  #itemLine = 1;
  /** Line of the list's opening bracket. */
  #listLine = 1;
  /** Text of the piece that is being read. */
  #held = '';
  #hasItem = false;

  *add(chunk: string): Generator<Piece> {
    let from = 0;
    const take = (to: number): string => {
      const text = this.#held + chunk.slice(from, to);
      this.#held = '';
      from = to;
      return text;
    };
    for (let at = 0; at < chunk.length; at++) {
      const code = chunk.charCodeAt(at);
      if (code === newline) this.#line++;
      if (this.#inString) {
        this.#readString(code, chunk, at);
        continue;
      }
      if (this.#inList && this.#depth === 2 && (code === comma || code === closeBracket)) {
        const text = take(at);
        if (this.#hasItem) yield { kind: 'item', text, line: this.#itemLine };
        this.#hasItem = false;
        if (code === closeBracket) {
          yield* this.#closeGap(this.#line - this.#listLine);
          this.#depth--;
          this.#inList = false;
        } else from = at + 1;
        continue;
      }
      if (this.#inList && this.#depth === 2 && !this.#hasItem && !isSpace(code)) {
        this.#hasItem = true;
        this.#itemLine = this.#line;
      }
      if (this.#open(code)) yield { kind: 'rest', text: take(at + 1) };
    }
    this.#held += chunk.slice(from);
    if (!this.#inList && this.#held.length > 0) {
      yield { kind: 'rest', text: this.#held };
      this.#held = '';
    }
  }

  *end(): Generator<Piece> {
    if (this.#inList) yield* this.#closeGap(this.#line - this.#listLine - (this.#held.split('\n').length - 1));
    if (this.#held !== '') yield { kind: 'rest', text: this.#held };
  }

  /** One line break stays of the list's, so that what follows is not on the line of what came before. */
  *#closeGap(lines: number): Generator<Piece> {
    if (lines === 0) return;
    yield { kind: 'rest', text: '\n' };
    if (lines > 1) yield { kind: 'gap', lines: lines - 1 };
  }

  #readString(code: number, chunk: string, at: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (code === backslash) this.#escaped = true;
    else if (code === quote) {
      this.#inString = false;
      return;
    }
    if (this.#depth === 1 && !this.#afterColon && this.#key.length <= listName.length) this.#key += chunk.charAt(at);
  }

  /** True when the list has just been opened. */
  #open(code: number): boolean {
    if (code === quote) {
      this.#inString = true;
      if (this.#depth === 1 && !this.#afterColon) this.#key = '';
    } else if (code === openBrace || code === openBracket) {
      this.#depth++;
      if (code === openBracket && this.#depth === 2 && this.#afterColon && this.#key === listName) {
        this.#inList = true;
        this.#listLine = this.#line;
        this.#hasItem = false;
        return true;
      }
    } else if (code === closeBrace || code === closeBracket) this.#depth--;
    else if (this.#depth === 1 && code === colon) this.#afterColon = true;
    else if (this.#depth === 1 && code === comma) this.#afterColon = false;
    return false;
  }
}

/** Follows lines: the content of an item is indented more than the item's dash, whatever it is. */
class YamlSplitter implements Splitter {
  isUnsplittable = false;
  #part = '';
  #line = 0;
  /** Before the list, in it, after it. */
  #place: 'before' | 'in' | 'after' = 'before';
  /** Indentation of the dashes; -1 before the first one. */
  #indent = -1;
  #item: string[] = [];
  #itemLine = 0;
  /** Lines that belong to the list. */
  #gapLines = 0;

  *add(chunk: string): Generator<Piece> {
    const lines = (this.#part + chunk).split('\n');
    this.#part = lines.pop() ?? '';
    for (const line of lines) yield* this.#read(`${line}\n`);
  }

  *end(): Generator<Piece> {
    if (this.#part !== '') yield* this.#read(this.#part);
    yield* this.#finishItem();
    yield { kind: 'gap', lines: this.#gapLines };
  }

  *#read(line: string): Generator<Piece> {
    this.#line++;
    if (this.#place === 'in' && this.#leaves(line)) {
      yield* this.#finishItem();
      this.#place = 'after';
      yield { kind: 'gap', lines: this.#gapLines };
      this.#gapLines = 0;
    }
    if (this.#place === 'in') {
      this.#gapLines++;
      yield* this.#readInList(line);
      return;
    }
    if (this.#place === 'before' && /^(?:conversations|"conversations"|'conversations')\s*:/.test(line)) {
      if (/^[^:]+:\s*(?:#.*)?$/.test(line)) this.#place = 'in';
      else if (!/^[^:]+:\s*(?:\[\s*\]|null|~)\s*(?:#.*)?$/.test(line)) this.isUnsplittable = true;
    }
    yield { kind: 'rest', text: line };
  }

  /** True for a line that is no part of the list any more. */
  #leaves(line: string): boolean {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) return false;
    const indent = line.length - line.trimStart().length;
    if (this.#indent < 0) return !/^ *-(?:\s|$)/.test(line);
    return indent < this.#indent || (indent === this.#indent && !/^ *-(?:\s|$)/.test(line));
  }

  *#readInList(line: string): Generator<Piece> {
    const dash = /^( *)-(?:\s|$)/.exec(line)?.[1];
    if (dash !== undefined && (this.#indent < 0 || dash.length === this.#indent)) {
      yield* this.#finishItem();
      this.#indent = dash.length;
      this.#itemLine = this.#line;
      this.#item = [line];
    } else if (this.#item.length > 0) this.#item.push(line);
  }

  *#finishItem(): Generator<Piece> {
    if (this.#item.length === 0) return;
    yield { kind: 'item', text: this.#item.join(''), line: this.#itemLine };
    this.#item = [];
  }
}
