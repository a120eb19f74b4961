/**
 * A chat completion that comes as server-sent events, put together to what it would have been without streaming (rules/providers#language-models).
 * A stream that ends before its `finish_reason` is cut off; an error in the middle of it is no answer.
 */
import { textOf, ThoughtFilter } from './thoughts.ts';

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: unknown; readonly refusal?: unknown };
    readonly finish_reason?: unknown;
  }[];
  readonly usage?: unknown;
  readonly error?: unknown;
}

/** Takes the text of a stream in pieces, cut anywhere. */
export class EventStreamReader {
  #line = '';
  #content = '';
  readonly #thoughts = new ThoughtFilter();
  #words = '';
  #refusal = '';
  #finishReason: unknown;
  #usage: unknown;
  #broken = false;

  /** The answer without thoughts as far as it has come; empty when the model refuses or the stream is no answer. */
  get words(): string {
    return this.#broken || this.#refusal !== '' ? '' : this.#words;
  }

  /** Characters that are kept. */
  get size(): number {
    return this.#line.length + this.#content.length + this.#refusal.length;
  }

  push(text: string): void {
    if (!/[\r\n]/.test(text)) {
      this.#line += text;
      return;
    }
    const lines = (this.#line + text).split(/\r\n|\r|\n/);
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
  }

  /** The completion, or `{}` for what is none. */
  finish(): Record<string, unknown> {
    this.push('\n');
    if (this.#broken) return {};
    const message = { role: 'assistant', content: this.#content, refusal: this.#refusal === '' ? null : this.#refusal };
    return { choices: [{ index: 0, message, finish_reason: this.#finishReason ?? 'length' }], usage: this.#usage };
  }

  #take(line: string): void {
    if (this.#broken || !line.startsWith('data:')) return;
    const data = line.slice('data:'.length).trim();
    if (data === '' || data === '[DONE]') return;
    const chunk = parseChunk(data);
    if (chunk === undefined || (chunk.error ?? null) !== null) {
      this.#broken = true;
      return;
    }
    this.#usage = chunk.usage ?? this.#usage;
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    const piece = textOf(choice?.delta?.content) ?? '';
    this.#content += piece;
    this.#words += this.#thoughts.push(piece);
    if (typeof choice?.delta?.refusal === 'string') this.#refusal += choice.delta.refusal;
    this.#finishReason = choice?.finish_reason ?? this.#finishReason;
  }
}

function parseChunk(data: string): Chunk | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
