/**
 * Splits the list `conversations:` from a large workspace file without loading it: yields the rest of the file as text,
 * the number of removed lines, and the items one by one. Supports JSON and block sequences of YAML; files with another
 * layout are read at once.
 */
import { createReadStream } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { JsonScanner, jsonByte } from '#libs/infrastructure/json';

/** One item of the list as text, and its first line in the file, from 1. */
export interface ItemText {
  readonly text: string;
  readonly line: number;
}

export type Piece =
  | { readonly kind: 'rest'; readonly text: string }
  /** Number of lines that were removed from the rest at this position. */
  | { readonly kind: 'gap'; readonly lines: number }
  | ({ readonly kind: 'item' } & ItemText);

const listName = 'conversations';
const newline = 0x0a;
/** Small chunks and their lines are freed by the fast garbage collection of young objects. */
const chunkBytes = 65_536;

/** Yields the pieces in order, or only `undefined` when the layout is not supported. */
export async function* splitFile(file: string): AsyncGenerator<Piece | undefined> {
  const chunks = createReadStream(file, { highWaterMark: chunkBytes });
  const splitter = (await startsWithBrace(file)) ? new JsonSplitter() : new YamlSplitter();
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    yield* splitter.add(chunk);
    if (splitter.isUnsplittable) {
      yield undefined;
      return;
    }
  }
  yield* splitter.end();
}

async function startsWithBrace(file: string): Promise<boolean> {
  for await (const chunk of createReadStream(file, { encoding: 'utf8', end: 65_535 }) as AsyncIterable<string>) {
    const text = chunk.replace(/^\ufeff/, '').trimStart();
    if (text !== '') return text.startsWith('{');
  }
  return false;
}

interface Splitter {
  readonly isUnsplittable: boolean;
  add(chunk: Buffer): Iterable<Piece>;
  end(): Iterable<Piece>;
}

class JsonSplitter implements Splitter {
  readonly isUnsplittable = false;
  readonly #scanner = new JsonScanner();
  readonly #decoder = new StringDecoder('utf8');
  #isInList = false;
  /**
   * Text after the last brace or comma of the document, up to the length of a key. `#isListNext` is true when this text
   * is the key of the list.
   */
  #key = '';
  #isListNext = false;
  /** Line of the next byte, and of the list's opening bracket. */
  #line = 1;
  #listLine = 1;
  /** Bytes of the current item from earlier chunks. */
  #buffered: Buffer[] = [];

  *add(chunk: Buffer): Generator<Piece> {
    let from = 0;
    let keyFrom = 0;
    for (let at = this.#find(chunk, 0); at < chunk.length; at = this.#find(chunk, at + 1)) {
      const sign = chunk[at];
      const { depth } = this.#scanner;
      if (this.#isInList) {
        if (depth > 2 || (depth === 2 && sign !== jsonByte.comma)) continue;
        yield* this.#finishItem(chunk.subarray(from, at));
        from = depth === 2 ? at + 1 : at;
        if (depth === 2) continue;
        yield* this.#closeGap(this.#line - this.#listLine);
        this.#isInList = false;
      } else if (this.#isListNext && depth === 2 && sign === jsonByte.openBracket) {
        yield { kind: 'rest', text: this.#decode(chunk.subarray(from, at + 1)) };
        from = at + 1;
        this.#isInList = true;
        this.#listLine = this.#line;
      } else if (depth === 1) {
        this.#isListNext =
          sign === jsonByte.colon && this.#readKey(chunk.subarray(keyFrom, at)).trim() === `"${listName}"`;
        this.#key = '';
        keyFrom = at + 1;
      }
    }
    if (this.#isInList) this.#buffered.push(Buffer.from(chunk.subarray(from)));
    else {
      this.#key = this.#readKey(chunk.subarray(keyFrom));
      if (from < chunk.length) yield { kind: 'rest', text: this.#decode(chunk.subarray(from)) };
    }
  }

  *end(): Generator<Piece> {
    if (this.#isInList) yield* this.#closeGap(this.#line - this.#listLine);
    const text = this.#decode(Buffer.concat(this.#buffered)) + this.#decoder.end();
    if (text !== '') yield { kind: 'rest', text };
  }

  #find(chunk: Buffer, from: number): number {
    return this.#scanner.find(chunk, from, 2);
  }

  /** Returns the beginning of the key, which is enough to recognize the key of the list. */
  #readKey(part: Buffer): string {
    return this.#key + part.toString('latin1', 0, 256);
  }

  *#finishItem(tail: Buffer): Generator<Piece> {
    const firstLine = this.#line;
    const text = this.#decode(Buffer.concat([...this.#buffered, tail]));
    this.#buffered = [];
    const blank = text.length - text.trimStart().length;
    if (blank < text.length)
      yield { kind: 'item', text, line: firstLine + text.slice(0, blank).split('\n').length - 1 };
  }

  /** Replaces the removed lines with one line break, so that the text after the list starts on a new line. */
  *#closeGap(lines: number): Generator<Piece> {
    if (lines === 0) return;
    yield { kind: 'rest', text: '\n' };
    if (lines > 1) yield { kind: 'gap', lines: lines - 1 };
  }

  #decode(bytes: Buffer): string {
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) this.#line++;
    return this.#decoder.write(bytes);
  }
}

/** Splits by line: the content of an item is indented more than its dash. */
class YamlSplitter implements Splitter {
  isUnsplittable = false;
  readonly #decoder = new StringDecoder('utf8');
  #part = '';
  #line = 0;
  /** Whether the current line is before the list, in it or after it. */
  #section: 'before' | 'in' | 'after' = 'before';
  /** Indentation of the dashes; -1 before the first one. */
  #indent = -1;
  #item: string[] = [];
  #itemLine = 0;
  /** Lines that belong to the list. */
  #gapLines = 0;

  *add(chunk: Buffer): Generator<Piece> {
    const lines = (this.#part + this.#decoder.write(chunk)).split('\n');
    this.#part = lines.pop() ?? '';
    for (const line of lines) yield* this.#read(`${line}\n`);
  }

  *end(): Generator<Piece> {
    const last = this.#part + this.#decoder.end();
    if (last !== '') yield* this.#read(last);
    yield* this.#finishItem();
    yield { kind: 'gap', lines: this.#gapLines };
  }

  *#read(line: string): Generator<Piece> {
    this.#line++;
    if (this.#section === 'in' && this.#isAfterList(line)) {
      yield* this.#finishItem();
      this.#section = 'after';
      yield { kind: 'gap', lines: this.#gapLines };
      this.#gapLines = 0;
    }
    if (this.#section === 'in') {
      this.#gapLines++;
      yield* this.#readInList(line);
      return;
    }
    if (this.#section === 'before' && /^(?:conversations|"conversations"|'conversations')\s*:/.test(line)) {
      if (/^[^:]+:\s*(?:#.*)?$/.test(line)) this.#section = 'in';
      else if (!/^[^:]+:\s*(?:\[\s*\]|null|~)\s*(?:#.*)?$/.test(line)) this.isUnsplittable = true;
    }
    yield { kind: 'rest', text: line };
  }

  /** Returns true for the first line after the list. */
  #isAfterList(line: string): boolean {
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
