/**
 * Combines a streamed chat completion into the same object as without streaming (rules/providers#language-models). A
 * stream is complete after a `finish_reason`, or after `[DONE]` if it had text; otherwise it is truncated. An error
 * event invalidates the reply.
 */
import { ThoughtFilter } from '#libs/infrastructure/thoughts';
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

/** Accepts the stream in chunks of any size. */
export class EventStreamReader {
  readonly #isPlain: boolean;
  #isFirst = true;
  /** Set when the server sends a complete JSON response instead of events. */
  #document: string | undefined;
  #line = '';
  /** Name of the current event, and its data lines. */
  #event = '';
  #data: string[] = [];
  readonly #thoughts = new ThoughtFilter();
  /** The server sends thoughts in a separate field, so the content does not contain any. */
  #hasReasoning = false;
  #refusal = '';
  #finishReason: unknown;
  #usage: unknown;
  #isOver = false;
  #isBroken = false;
  #size = 0;

  /**
   * @param isPlain the model is known to write no thoughts without an opening marker; otherwise text that could be a
   * thought is withheld.
   */
  constructor({ isPlain }: { readonly isPlain: boolean }) {
    this.#isPlain = isPlain;
  }

  /** The reply so far, without thoughts; empty after a refusal or an error. */
  get text(): string {
    if (this.#isBroken || this.#refusal !== '') return '';
    const { text, hasThoughts } = this.#thoughts;
    const isAnswer = hasThoughts || this.#hasReasoning || this.#isComplete;
    return isAnswer || (this.#isPlain && !startsLikeThought(text)) ? text : '';
  }

  /** The text is final: a closing marker of thoughts cannot follow. */
  get #isComplete(): boolean {
    return this.#finishReason === undefined ? this.#isOver : isCompleteFinish(this.#finishReason);
  }

  /** The server has announced the end of the stream. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Number of buffered characters. */
  get size(): number {
    return (this.#document?.length ?? 0) + this.#line.length + this.#size + this.#refusal.length;
  }

  push(text: string): void {
    const input = this.#isFirst && text !== '' ? text.replace(/^\ufeff/, '') : text;
    if (this.#isFirst && input.trimStart().startsWith('{')) this.#document = '';
    this.#isFirst &&= input.trim() === '';
    if (this.#document !== undefined) {
      this.#document += input;
      return;
    }
    if (!/[\r\n]/.test(input) && !this.#line.endsWith('\r')) {
      this.#line += input;
      return;
    }
    // A `\r` at the end can be the first half of a `\r\n`.
    const lines = (this.#line + input).split(/\r\n|\r(?!$)|\n/);
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#readLine(line);
  }

  /** Returns the completion; `{}` after an error in the stream. */
  finish(): Record<string, unknown> {
    if (this.#document !== undefined) return readDocument(this.#document);
    this.push('\n\n');
    if (this.#isBroken) return {};
    const { raw } = this.#thoughts;
    const refusal = this.#refusal === '' ? null : this.#refusal;
    const message = {
      role: 'assistant',
      content: raw,
      refusal,
      ...(this.#hasReasoning ? { reasoning: 'not kept' } : {}),
    };
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

  /**
   * Some servers omit the empty line between events, so single-line data is processed immediately and multi-line data
   * at the end of its event.
   */
  #endEvent(): void {
    if (this.#data.length > 0 && !this.#readData(this.#data.join('\n'))) this.#isBroken = true;
    this.#data = [];
    this.#event = '';
  }

  /** Returns false for incomplete or invalid JSON. */
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

const keepAlives = new Set(['ping', 'pong', 'heartbeat', 'keepalive']);
/** Fields in which servers report an error instead of a chunk. */
const errorTexts = ['error', 'errors', 'detail', 'message', 'msg', 'exception', 'error_message', 'error_msg', 'reason'];
const codes = ['code', 'status', 'status_code', 'error_code', 'state', 'type', 'event', 'object'];
const errorWord = /error|exception|fail|denied|abort|unavailable|overload/i;

/** Returns true for event names, data and lines that only keep the connection alive. */
function isKeepAlive(text: string): boolean {
  return text.length < 40 && keepAlives.has(text.replace(/[^a-z]/gi, '').toLowerCase());
}

function isErrorName(event: string): boolean {
  return errorWord.test(event);
}

/**
 * Returns whether a line is a field or a comment of the stream. Other lines are written by failing servers or proxies
 * (D85).
 */
function isStreamField(line: string): boolean {
  const [, name] = /^([a-z][\w-]*)?(?::|$)/i.exec(line) ?? [];
  return name === undefined ? line.startsWith(':') || isKeepAlive(line) : !errorWord.test(name);
}

/** @param event an object or array. */
function isErrorEvent(event: object): boolean {
  if (Array.isArray(event))
    return event.some((item) => typeof item === 'object' && item !== null && isErrorEvent(item));
  const fields = event as Readonly<Record<string, unknown>>;
  const choice = Array.isArray(fields['choices'])
    ? (fields['choices'][0] as { readonly error?: unknown } | null | undefined)
    : undefined;
  if ([fields['error'], fields['errors'], choice?.error].some(isSet)) return true;
  if (codes.some((name) => isErrorCode(fields[name]))) return true;
  // Some servers add `code: 0, message: "Success"` to every chunk, which is not an error.
  if (choice !== undefined || codes.some((name) => isSuccess(fields[name]))) return false;
  return errorTexts.some((name) => isSet(fields[name]));
}

function isSet(value: unknown): boolean {
  return (
    value !== undefined &&
    value !== null &&
    value !== '' &&
    value !== false &&
    !(Array.isArray(value) && value.length === 0)
  );
}

function isErrorCode(value: unknown): boolean {
  return typeof value === 'string' && !/^\d+$/.test(value) ? errorWord.test(value) : Number(value) >= 400;
}

function isSuccess(value: unknown): boolean {
  return (
    value === 0 ||
    value === 200 ||
    (typeof value === 'string' && /^(?:0|200|ok|success|succeeded|processing|queued|ping)$/i.test(value))
  );
}

/** Returns the text of a message or of its text parts; undefined without text. */
export function textOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : undefined;
  return content
    .map((part: { type?: unknown; text?: unknown } | null) => (part?.type === 'text' ? textOf(part.text) : ''))
    .join('');
}

/** Returns undefined for an empty string or "null", which some servers send instead of null. */
export function readFinish(finish: unknown): unknown {
  return finish === '' || finish === 'null' ? null : finish;
}

/** Finish reasons of complete replies: OpenAI's, and reasons of models that some servers forward. */
const completeFinishReasons = new Set(['stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence']);

export function isCompleteFinish(finish: unknown): boolean {
  return typeof finish === 'string' && completeFinishReasons.has(finish.toLowerCase());
}

/** Returns whether a message or chunk has thoughts in a separate field. */
export function hasReasoning(message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return false;
  const { reasoning_content: content, reasoning, content: parts } = message as Readonly<Record<string, unknown>>;
  if ([content, reasoning].some((text) => typeof text === 'string' && text.trim() !== '')) return true;
  return Array.isArray(parts) && parts.some((part: { type?: unknown } | null) => part?.type === 'thinking');
}

/** Matches strings as a whole, so that the replacement does not change their contents. */
const stringOrToken = /"(?:[^"\\]|\\[\s\S])*"?|-?\b(?:NaN|Infinity|inf)\b/gi;

/**
 * Parses JSON of model servers, which can contain `NaN` and `Infinity`, e.g. the logarithm of zero. Such numbers become
 * null (D85).
 * @throws SyntaxError
 */
export function parseLeniently(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return JSON.parse(
      text.replace(/^\ufeff/, '').replace(stringOrToken, (found) => (found.startsWith('"') ? found : 'null')),
    );
  }
}
