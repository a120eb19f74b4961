/**
 * Removes a model's thoughts from its reply (D84; rules/providers#language-models), since thoughts can quote
 * confidential parts of the prompt. Most servers return thoughts in a separate field. Others include them in the text
 * between markers, often without the opening marker, which is part of the prompt template. The reply is the text after
 * the last closing marker. Markers inside code are ignored. Inline code is read line by line, so that a stray backtick
 * affects only one line; a fence without an end is not code.
 */
import { type Marker, markerStarts, mayBecomeStripped, readMarker, startsInChannel } from './markers.ts';

/** An open fence, or a backtick that may start inline code. */
interface Code {
  readonly isFence: boolean;
  readonly sign: string;
  readonly length: number;
  /** Text of the code from its opening characters. */
  text: string;
  /** Offset of the first marker in the code. The marker is used only if the text turns out not to be code. */
  markerAt: number | undefined;
}

const signs = new RegExp(String.raw`\\|${'`'}+|\n|${markerStarts}`, 'g');
const runs = /`+/g;
const linePrefix = /[ \t>]{0,100}(?:(?:[-+*]|\d{1,9}[.)])[ \t]{1,100}){0,5}/y;
const unclearLineStart = /^(?:[-+*]|\d{1,9}[.)]?|`+|~+)?$/;
const fenceRun = /`{3,}|~{3,}/y;
const maxInfo = 200;
const strippedRole = 'assistant';
const longestStripped = 20;
/** Limits the text that is copied when a part of the input is read again. */
const maxPiece = 4_096;
/** Length of the start of a reply that is enough to recognise JSON. */
const headLength = 64;

/** Accepts a reply in chunks of any size. */
export class ThoughtFilter {
  #raw = '';
  #answer = '';
  /** Text that is not decided yet; `#at` is the read position in it. */
  #tail = '';
  #at = 0;
  #code: Code | undefined;
  #isThinking = false;
  /** It is not decided yet whether the reply starts with thoughts. */
  #isAtStart = true;
  #isLineStart = true;
  #allowsFences = true;
  /** The start of the reply may be a channel of thoughts or a normal sentence. */
  #isUnsure = false;
  /** Number of remaining runs of backticks by length, in a line that is read again. */
  #remainingRuns: Map<number, number> | undefined;
  /**
   * Position after the first closing marker in code within a thought. If no other closing marker follows, the text was
   * not code.
   */
  #afterCodeAt: number | undefined;
  #afterFirstAt: number | undefined;
  #mayBeJson = false;
  #isUnopened = false;
  readonly #isSecondReading: boolean;

  constructor({ isSecondReading = false } = {}) {
    this.#isSecondReading = isSecondReading;
    this.#isAtStart = !isSecondReading;
  }

  push(piece: string): void {
    for (let at = 0; at < piece.length; at += maxPiece) {
      const part = piece.slice(at, at + maxPiece);
      this.#raw += part;
      this.#tail += part;
      this.#read(false);
    }
  }

  /** Returns all received text, including thoughts. */
  get raw(): string {
    return this.#raw;
  }

  /** Returns the reply so far. It restarts after each closing marker; for JSON it is empty until the end. */
  get text(): string {
    if (this.#mayBeJson) return '';
    if (this.#isThinking || this.#isAtStart) return this.#answer;
    const { text = '', markerAt } = this.#code ?? {};
    const tail = strippedRole.startsWith(this.#tail) ? this.#tail : '';
    return this.#answer + (markerAt === undefined ? text + tail : text.slice(0, markerAt));
  }

  /** Returns whether thoughts precede the reply. */
  get hasThoughts(): boolean {
    return this.#afterFirstAt !== undefined;
  }

  /** Returns the text after the first closing marker. */
  get afterFirst(): string {
    return this.#afterFirstAt === undefined ? '' : this.#raw.slice(this.#afterFirstAt);
  }

  /** Returns whether a closing marker ended thoughts that had no opening marker. */
  get isUnopened(): boolean {
    return this.#isUnopened;
  }

  /** Returns the complete reply. Thoughts without a closing marker are not part of it. */
  finish(): string {
    this.#read(true);
    for (let { code } = { code: this.#code }; code !== undefined; code = this.#code) {
      this.#discardCode(code);
      this.#read(true);
    }
    if (!this.#isThinking || this.#isSecondReading) return this.#answer;
    if (this.#isUnsure) return this.#readAgain(0);
    return this.#afterCodeAt === undefined ? this.#answer : this.#readAgain(this.#afterCodeAt);
  }

  #readAgain(at: number): string {
    const again = new ThoughtFilter({ isSecondReading: true });
    again.push(this.#raw.slice(at));
    return again.finish();
  }

  #read(isEnd: boolean): void {
    this.#at = 0;
    let canContinue = !this.#isAtStart || this.#readStart(isEnd);
    while (canContinue && this.#at < this.#tail.length)
      canContinue = this.#isLineStart ? this.#readLineStart(isEnd) : this.#readOn(isEnd);
    this.#tail = this.#tail.slice(this.#at);
  }

  /**
   * Decides whether the reply starts with thoughts. Like the other readers, returns false when more text is required.
   */
  #readStart(isEnd: boolean): boolean {
    this.#tail = this.#tail.trimStart();
    if (this.#tail === '') return false;
    const begins = startsInChannel(this.#tail, isEnd);
    if (begins === 'more') return false;
    this.#isAtStart = false;
    this.#isThinking = begins !== 'no';
    this.#isUnsure = begins === 'perhaps';
    return true;
  }

  /** Reads the start of a line, where a fence may begin or end. */
  #readLineStart(isEnd: boolean): boolean {
    const text = this.#tail;
    linePrefix.lastIndex = this.#at;
    const prefix = linePrefix.exec(text)?.[0] ?? '';
    const start = this.#at + prefix.length;
    if (!isEnd && text.length - start < 12 && unclearLineStart.test(text.slice(start))) return false;
    fenceRun.lastIndex = start;
    const run = this.#allowsFences ? fenceRun.exec(text)?.[0] : undefined;
    const end = run === undefined ? undefined : this.#readFence({ text, start, prefix, run, isEnd });
    if (end === 'more') return false;
    if (end === undefined) {
      this.#isLineStart = false;
      this.#append(prefix);
    }
    this.#at = end ?? start;
    return true;
  }

  /** @returns the end of the line; undefined if the line is not a fence */
  #readFence(line: {
    text: string;
    start: number;
    prefix: string;
    run: string;
    isEnd: boolean;
  }): number | 'more' | undefined {
    const { text, start, prefix, run, isEnd } = line;
    const infoAt = start + run.length;
    const newLine = text.indexOf('\n', infoAt);
    const isWhole = newLine >= 0 || isEnd;
    const info = text.slice(infoAt, newLine < 0 ? infoAt + maxInfo + 1 : newLine);
    const end = newLine < 0 ? infoAt + info.length : newLine + 1;
    const code = this.#code;
    if (code?.isFence === true) {
      if (run[0] !== code.sign || run.length < code.length || /[^ \t>]/.test(prefix)) return undefined;
      const rest = info.trimStart();
      const isClosed = rest === '' ? isWhole : readMarker(rest, 0, isWhole);
      if (isClosed === 'more' || (rest === '' && !isWhole && info.length <= maxInfo)) return 'more';
      if (isClosed === undefined || isClosed === false) return undefined;
      code.text += text.slice(start - prefix.length, rest === '' ? end : infoAt);
      this.#closeCode(code);
      this.#isLineStart = rest === '';
      return rest === '' ? end : infoAt;
    }
    if (info.length > maxInfo || (run.startsWith('`') && info.includes('`')) || hasMarker(info)) return undefined;
    if (!isWhole) return 'more';
    const opened = text.slice(start - prefix.length, end);
    this.#code = { isFence: true, sign: run[0] ?? '', length: run.length, text: opened, markerAt: undefined };
    return end;
  }

  #readOn(isEnd: boolean): boolean {
    const text = this.#tail;
    signs.lastIndex = this.#at;
    const found = signs.exec(text);
    const end = found?.index ?? (isEnd ? text.length : findStripped(text, this.#at));
    this.#append(text.slice(this.#at, end));
    this.#at = end;
    if (found === null) return false;
    const [sign] = found;
    if (sign === '\n') return this.#readNewLine();
    const isCut = !isEnd && end + sign.length === text.length;
    if (sign === '\\')
      return (
        !isCut &&
        this.#appendCharacters(this.#code === undefined && /^[\\`]/.test(text.slice(end + 1, end + 2)) ? 2 : 1)
      );
    if (sign.startsWith('`')) return !isCut && this.#readRun(sign);
    const marker = readMarker(text, end, isEnd);
    if (marker === 'more') return false;
    return marker === undefined ? this.#appendCharacters(1) : this.#readMarkerAt(marker);
  }

  #appendCharacters(count: number): true {
    this.#append(this.#tail.slice(this.#at, this.#at + count));
    this.#at += count;
    return true;
  }

  #readNewLine(): true {
    const code = this.#code;
    if (code?.isFence === false) {
      this.#discardCode(code);
      return true;
    }
    this.#isLineStart = true;
    this.#remainingRuns = undefined;
    return this.#appendCharacters(1);
  }

  #readRun({ length }: string): true {
    const remaining = this.#remainingRuns === undefined ? Infinity : (this.#remainingRuns.get(length) ?? 0) - 1;
    this.#remainingRuns?.set(length, remaining);
    const code = this.#code;
    if (code === undefined && remaining > 0)
      this.#code = { isFence: false, sign: '`', length, text: '', markerAt: undefined };
    this.#appendCharacters(length);
    if (code?.isFence === false && code.length === length) this.#closeCode(code);
    return true;
  }

  #readMarkerAt({ kind, length }: Marker): true {
    const code = this.#code;
    if (code === undefined) {
      this.#at += length;
      if (kind === 'close') this.#startAnswer();
      else this.#isThinking = true;
      return true;
    }
    if (this.#isThinking && kind === 'close')
      this.#afterCodeAt ??= this.#raw.length - this.#tail.length + this.#at + length;
    code.markerAt ??= code.text.length;
    return this.#appendCharacters(length);
  }

  #startAnswer(): void {
    this.#afterFirstAt ??= this.#raw.length - this.#tail.length + this.#at;
    this.#isUnopened ||= !this.#isThinking;
    this.#isThinking = false;
    this.#isUnsure = false;
    this.#answer = '';
    this.#afterCodeAt = undefined;
    this.#isLineStart = true;
    this.#remainingRuns = undefined;
  }

  #closeCode({ text }: Code): void {
    this.#code = undefined;
    this.#append(text);
  }

  /** Treats text as prose that looked like code: its line has no closing backtick, or its fence has no end. */
  #discardCode(code: Code): void {
    const { isFence, length, text, markerAt } = code;
    if (markerAt === undefined) return this.#closeCode(code);
    const readAt = isFence ? markerAt : length;
    this.#code = undefined;
    this.#append(text.slice(0, readAt));
    const rest = text.slice(readAt);
    this.#tail = rest + this.#tail.slice(this.#at);
    this.#at = 0;
    if (isFence) {
      this.#allowsFences = false;
      this.#isLineStart = false;
      return;
    }
    // For each run, it is now known whether another run of this length follows, so a line is read at most twice.
    this.#remainingRuns = new Map();
    for (const [run] of rest.matchAll(runs))
      this.#remainingRuns.set(run.length, (this.#remainingRuns.get(run.length) ?? 0) + 1);
  }

  #append(text: string): void {
    if (this.#code !== undefined) this.#code.text += text;
    else if (!this.#isThinking) {
      const isHead = this.#answer.length < headLength;
      this.#answer += text;
      if (isHead) this.#mayBeJson ||= mayBecomeJson(this.#answer);
    }
  }
}

/** Returns the start of a trailing word that may become a marker, otherwise the end of the text. */
function findStripped(text: string, from: number): number {
  for (
    let at = text.indexOf('a', Math.max(from, text.length - longestStripped));
    at >= 0;
    at = text.indexOf('a', at + 1)
  )
    if (mayBecomeStripped(text.slice(at))) return at;
  return text.length;
}

function hasMarker(text: string): boolean {
  for (const { index } of text.matchAll(new RegExp(markerStarts, 'g'))) {
    const marker = readMarker(text, index, true);
    if (marker !== undefined) return true;
  }
  return false;
}

/**
 * Returns the reply without thoughts. `isUnopened`: whether some thoughts had no opening marker; undefined for JSON,
 * where this is unknown. In a JSON reply, each string is filtered separately, so that the reply remains valid JSON.
 */
export function readThoughts(answer: string): { readonly text: string; readonly isUnopened: boolean | undefined } {
  if (isJson(answer)) return { text: mapStrings(answer, dropThoughts), isUnopened: undefined };
  const filter = new ThoughtFilter();
  filter.push(answer);
  const text = filter.finish();
  const { isUnopened, afterFirst } = filter;
  return { text: isJson(afterFirst) ? mapStrings(afterFirst, dropThoughts) : text, isUnopened };
}

export function dropThoughts(answer: string): string {
  return readThoughts(answer).text;
}

const stringLiteral = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

export function isJson(text: string): boolean {
  if (!/^\s*[{["]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether a text starts like JSON. A single bracket is not enough, because links also start with one. */
function mayBecomeJson(text: string): boolean {
  return /^\s*(?:\{|\[\s*[[{"])/.test(text);
}

/**
 * Applies `clean` to each string of a JSON text.
 * @param json valid JSON
 */
function mapStrings(json: string, clean: (text: string) => string): string {
  return json.replace(stringLiteral, (literal) => {
    const text = JSON.parse(literal) as string;
    const cleaned = clean(text);
    return cleaned === text ? literal : JSON.stringify(cleaned);
  });
}
