/**
 * A chat completion that comes as server-sent events, put together to what it would have been without streaming (rules/providers#language-models).
 * A stream ends with a `finish_reason`, or with `[DONE]` when text came; one that ends otherwise is cut off. An error in the middle of it is no answer.
 */
import { ThoughtFilter } from '#libs/thoughts';
import { parseLeniently } from './lenient-json.ts';
import { hasReasoning, isCompleteFinish, readFinish, textOf } from './message-text.ts';
import { isErrorName, isKeepAlive, isStreamField, isErrorEvent } from './stream-faults.ts';
import { startsLikeThought } from './thinking-habit.ts';

interface Chunk {
  readonly choices?: readonly Choice[] | null;
  readonly usage?: unknown;
}

interface Delta {
  readonly content?: unknown;
  readonly refusal?: unknown;
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
}

interface Choice {
  readonly delta?: Delta | null;
  readonly finish_reason?: unknown;
}

/** Takes the text of a stream in pieces, cut anywhere. */
export class EventStreamReader {
  readonly #isPlain: boolean;
  #isFirst = true;
  /** The server sends a whole answer in the place of events. */
  #document: string | undefined;
  #line = '';
  /** Of an event: its name, and its data so far when they take several lines. */
  #event = '';
  #data: string[] = [];
  readonly #thoughts = new ThoughtFilter();
  /** The server has sent thoughts apart from the text, so the text has none. */
  #hasReasoning = false;
  #refusal = '';
  #finishReason: unknown;
  #usage: unknown;
  #isOver = false;
  #isBroken = false;
  #size = 0;

  /** @param isPlain the model is known to write no thoughts without an opening marker; otherwise text is held back that may be one. */
  constructor({ isPlain }: { readonly isPlain: boolean }) {
    this.#isPlain = isPlain;
  }

  /** The answer without thoughts as far as it has come; empty when the model refuses or the stream is no answer. */
  get text(): string {
    if (this.#isBroken || this.#refusal !== '') return '';
    const { words, hasThoughts } = this.#thoughts;
    const isAnswer = hasThoughts || this.#hasReasoning || this.#isComplete;
    return isAnswer || (this.#isPlain && !startsLikeThought(words)) ? words : '';
  }

  /** No closing marker can follow any more. */
  get #isComplete(): boolean {
    return this.#finishReason === undefined ? this.#isOver : isCompleteFinish(this.#finishReason);
  }

  /** The server has said that nothing more comes. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Characters that are kept. */
  get size(): number {
    return (this.#document?.length ?? 0) + this.#line.length + this.#size + this.#refusal.length;
  }

  push(text: string): void {
    const given = this.#isFirst && text !== '' ? text.replace(/^\ufeff/, '') : text;
    if (this.#isFirst && given.trimStart().startsWith('{')) this.#document = '';
    this.#isFirst &&= given.trim() === '';
    if (this.#document !== undefined) {
      this.#document += given;
      return;
    }
    if (!/[\r\n]/.test(given) && !this.#line.endsWith('\r')) {
      this.#line += given;
      return;
    }
    // A line that ends with half of its end is not over yet.
    const lines = (this.#line + given).split(/\r\n|\r(?!$)|\n/);
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#readLine(line);
  }

  /** The completion, or `{}` for what is none. */
  finish(): Record<string, unknown> {
    if (this.#document !== undefined) return readDocument(this.#document);
    this.push('\n\n');
    if (this.#isBroken) return {};
    const { raw } = this.#thoughts;
    const refusal = this.#refusal === '' ? null : this.#refusal;
    const message = { role: 'assistant', content: raw, refusal, ...(this.#hasReasoning ? { reasoning: 'not kept' } : {}) };
    const finish = this.#finishReason ?? (this.#isOver ? 'stop' : 'length');
    return { choices: [{ index: 0, message, finish_reason: finish }], usage: this.#usage };
  }

  #readLine(line: string): void {
    if (this.#isBroken || this.#isOver) return;
    if (line === '') return this.#endEvent();
    if (line.startsWith('event:')) this.#event = line.slice('event:'.length).trim();
    this.#isBroken = isErrorName(this.#event) || !isStreamField(line);
    if (!line.startsWith('data:') || isKeepAlive(this.#event)) return;
    const data = line.slice('data:'.length).trim();
    if (this.#data.length === 0 && isKeepAlive(data)) return;
    if (data === '[DONE]') {
      this.#endEvent();
      this.#isOver = true;
    } else if (this.#data.length > 0 || !this.#readData(data)) {
      this.#size += data.length;
      this.#data.push(data);
    }
  }

  /** Not all servers put an empty line between two events: data of one line are taken as they come, others at the end of their event. */
  #endEvent(): void {
    if (this.#data.length > 0 && !this.#readData(this.#data.join('\n'))) this.#isBroken = true;
    this.#data = [];
    this.#event = '';
  }

  /** False for what is no JSON. */
  #readData(data: string): boolean {
    if (data === '') return true;
    let chunk: unknown;
    try {
      chunk = parseLeniently(data);
    } catch {
      return false;
    }
    if (typeof chunk !== 'object' || chunk === null || isErrorEvent(chunk)) this.#isBroken = true;
    else this.#readChunk(chunk);
    return true;
  }

  #readChunk(chunk: Chunk): void {
    this.#usage = chunk.usage ?? this.#usage;
    const choice = Array.isArray(chunk.choices) ? (chunk.choices[0] as Choice | null | undefined) : undefined;
    this.#hasReasoning ||= hasReasoning(choice?.delta);
    const piece = textOf(choice?.delta?.content) ?? '';
    this.#size += piece.length;
    this.#thoughts.push(piece);
    if (typeof choice?.delta?.refusal === 'string') this.#refusal += choice.delta.refusal;
    this.#finishReason = readFinish(choice?.finish_reason) ?? this.#finishReason;
  }
}

function readDocument(text: string): Record<string, unknown> {
  try {
    return parseLeniently(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
