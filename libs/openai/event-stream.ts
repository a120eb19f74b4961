/**
 * A chat completion that comes as server-sent events, put together to what it would have been without streaming (rules/providers#language-models).
 * A stream ends with a `finish_reason`, or with `[DONE]` when text came; one that ends otherwise is cut off. An error in the middle of it is no answer.
 */
import { ThoughtFilter } from '#libs/thoughts';
import { parseLeniently } from './lenient-json.ts';
import { readFinish, textOf } from './message-text.ts';
import type { ThinkingHabit } from './thinking-habit.ts';

interface Chunk {
  readonly choices?: readonly Choice[] | null;
  readonly usage?: unknown;
  readonly error?: unknown;
  readonly object?: unknown;
  readonly type?: unknown;
}

interface Choice {
  readonly delta?: { readonly content?: unknown; readonly refusal?: unknown } | null;
  readonly finish_reason?: unknown;
  readonly error?: unknown;
}

/** Events that say no more than that the server is there. */
const keepAlives = new Set(['ping', 'heartbeat', 'keepalive', 'keep-alive']);

/** Takes the text of a stream in pieces, cut anywhere. */
export class EventStreamReader {
  readonly #habit: ThinkingHabit | undefined;
  #isFirst = true;
  #line = '';
  /** Of an event: its name, and its data so far when they take several lines. */
  #event = '';
  #data: string[] = [];
  readonly #thoughts = new ThoughtFilter();
  #refusal = '';
  #finishReason: unknown;
  #usage: unknown;
  #isOver = false;
  #isBroken = false;
  #size = 0;

  /** @param habit of the model; without it no words are held back that may be thoughts. */
  constructor(habit?: ThinkingHabit) {
    this.#habit = habit;
  }

  /** The answer without thoughts as far as it has come; empty when the model refuses or the stream is no answer. */
  get words(): string {
    if (this.#isBroken || this.#refusal !== '') return '';
    const { words, hasThoughts } = this.#thoughts;
    return !hasThoughts && this.#habit?.mayBeThought(words) === true ? '' : words;
  }

  /** The server has said that nothing more comes. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Characters that are kept. */
  get size(): number {
    return this.#line.length + this.#size + this.#refusal.length;
  }

  push(text: string): void {
    const given = this.#isFirst && text !== '' ? text.replace(/^\ufeff/, '') : text;
    this.#isFirst &&= text === '';
    if (!/[\r\n]/.test(given) && !this.#line.endsWith('\r')) {
      this.#line += given;
      return;
    }
    // A line that ends with half of its end is not over yet.
    const lines = (this.#line + given).split(/\r\n|\r(?!$)|\n/);
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
  }

  /** The completion, or `{}` for what is none. */
  finish(): Record<string, unknown> {
    this.push('\n\n');
    if (this.#isBroken) return {};
    const { raw } = this.#thoughts;
    const message = { role: 'assistant', content: raw, refusal: this.#refusal === '' ? null : this.#refusal };
    const finish = this.#finishReason ?? (this.#isOver ? 'stop' : 'length');
    return { choices: [{ index: 0, message, finish_reason: finish }], usage: this.#usage };
  }

  #take(line: string): void {
    if (this.#isBroken || this.#isOver) return;
    if (line === '') return this.#endEvent();
    if (line.startsWith('event:')) this.#event = line.slice('event:'.length).trim();
    this.#isBroken = this.#event === 'error';
    if (!line.startsWith('data:') || keepAlives.has(this.#event)) return;
    const data = line.slice('data:'.length).trim();
    if (data === '[DONE]') {
      this.#endEvent();
      this.#isOver = true;
    } else if (this.#data.length > 0 || !this.#takeData(data)) {
      this.#size += data.length;
      this.#data.push(data);
    }
  }

  /** Not all servers put an empty line between two events: data of one line are taken as they come, others at the end of their event. */
  #endEvent(): void {
    if (this.#data.length > 0 && !this.#takeData(this.#data.join('\n'))) this.#isBroken = true;
    this.#data = [];
    this.#event = '';
  }

  /** False for what is no JSON. */
  #takeData(data: string): boolean {
    if (data === '') return true;
    let chunk: unknown;
    try {
      chunk = parseLeniently(data);
    } catch {
      return false;
    }
    if (typeof chunk !== 'object' || chunk === null || isError(chunk)) this.#isBroken = true;
    else this.#takeChunk(chunk);
    return true;
  }

  #takeChunk(chunk: Chunk): void {
    this.#usage = chunk.usage ?? this.#usage;
    const choice = Array.isArray(chunk.choices) ? (chunk.choices[0] as Choice | null | undefined) : undefined;
    const piece = textOf(choice?.delta?.content) ?? '';
    this.#size += piece.length;
    this.#thoughts.push(piece);
    if (typeof choice?.delta?.refusal === 'string') this.#refusal += choice.delta.refusal;
    this.#finishReason = readFinish(choice?.finish_reason) ?? this.#finishReason;
  }
}

function isError(chunk: Chunk): boolean {
  const [choice] = Array.isArray(chunk.choices) ? (chunk.choices as (Choice | null)[]) : [];
  const given = [chunk.error, choice?.error].some((error) => error !== undefined && error !== null && error !== '' && error !== false);
  return given || chunk.object === 'error' || chunk.type === 'error';
}
