/**
 * Requests chat completions from any OpenAI-compatible server. Everything except a complete, readable reply is a {@link
 * ModelFailure}; no turn is recorded then (D33a).
 */
import { truncateText } from '#libs/infrastructure/errors';
import { toStorableText } from '#libs/infrastructure/json';
import { isBlank } from '#libs/infrastructure/text';
import { readThoughts } from '#libs/infrastructure/thoughts';
import type * as Library from './client.ts';
import { hasReasoning, isCompleteFinish, readFinish, textOf } from './event-stream.ts';
import { type ClientSettings, ModelFailure, type ModelUsage, type TextListener } from './failure.ts';
import { createThinkingHabit, type ThinkingHabit } from './thinking-habit.ts';

export interface PromptMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface Completion {
  readonly text: string;
  /** Everything the model wrote, including thoughts. Used to estimate the cost when the server reports no usage. */
  readonly written: string;
  readonly usage: ModelUsage;
  /** Model name reported by the server. */
  readonly model?: string;
}

export interface Model {
  /** Name of the requested model. */
  readonly name: string;
  readonly baseUrl: string;
  /**
   * Returns the reply. Calls `listener` while the model writes, if the server supports streaming. Makes at most two
   * attempts and ends when the signal is aborted.
   * @throws ModelFailure
   */
  complete(messages: readonly PromptMessage[], signal: AbortSignal, listener?: TextListener): Promise<Completion>;
}

export interface ModelSettings extends ClientSettings {
  readonly model: string;
  /** By default, the habit is stored in memory. */
  readonly habit?: ThinkingHabit;
}

const maxNameLength = 200;
const maxReplyCharacters = 100_000;
/** Larger than the context of any model; a higher count is an error of the server. */
const maxTokens = 100_000_000;

/**
 * Statuses of servers that do not support streaming, or do not support usage in streams. The request is repeated
 * without streaming.
 */
const streamRefusals = new Set([400, 404, 405, 406, 415, 422, 501]);

export function createModel(settings: ModelSettings): Model {
  const open = createLazyClient(settings);
  const habit = settings.habit ?? createThinkingHabit(settings.model);
  /** Set to false once a server has rejected a streamed request and accepted the same request without streaming. */
  let canStream = true;

  async function request(
    messages: readonly PromptMessage[],
    signal: AbortSignal,
    listener?: TextListener,
  ): Promise<Completion> {
    const [{ client, withStreaming, toFailure }, isPlain] = await Promise.all([
      open(),
      listener !== undefined && habit.isPlain(),
    ]);
    const body = { model: settings.model, messages: [...messages] };
    let completion: unknown;
    try {
      completion =
        listener === undefined
          ? await client.chat.completions.create(body, { signal })
          : await withStreaming(client, { listener: skipLeadingSpace(listener), isPlain }).post('/chat/completions', {
              body: { ...body, stream: true, stream_options: { include_usage: true } },
              signal,
            });
    } catch (error) {
      throw toFailure(error, signal);
    }
    if (listener !== undefined && signal.aborted) throw toFailure(undefined, signal);
    return await readAnswer(completion, habit);
  }

  return {
    name: settings.model,
    baseUrl: settings.baseUrl,
    complete: async (messages, signal, listener) => {
      if (listener === undefined || !canStream) return request(messages, signal);
      try {
        return await request(messages, signal, listener);
      } catch (error) {
        if (!(error instanceof ModelFailure) || !streamRefusals.has(error.status ?? 0)) throw error;
        const complete = await request(messages, signal);
        canStream = false;
        return complete;
      }
    },
  };
}

/** Calls the listener from the first visible character up to the maximum reply length. */
function skipLeadingSpace(listener: TextListener): TextListener {
  let hasStarted = false;
  return (content) => {
    hasStarted ||= content.trim() !== '';
    if (hasStarted && content.length <= maxReplyCharacters) listener(content);
  };
}

async function readAnswer(completion: unknown, habit: ThinkingHabit): Promise<Completion> {
  const choices = property(completion, 'choices');
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = property(choice, 'message');
  const content = property(message, 'content');
  const finish = readFinish(property(choice, 'finish_reason'));
  const reportedUsage = property(completion, 'usage');
  const usage = {
    promptTokens: count(property(reportedUsage, 'prompt_tokens')),
    completionTokens: count(property(reportedUsage, 'completion_tokens')),
  };
  const fail = (kind: ModelFailure['kind'], text: string): ModelFailure => new ModelFailure(kind, text, { usage });
  if (finish === 'length') throw fail('truncated', 'the reply is truncated');
  if (finish === 'content_filter') throw fail('filtered', 'the provider filtered the reply');
  if (typeof property(message, 'refusal') === 'string' && property(message, 'refusal') !== '')
    throw fail('refused', 'the model refused');
  if (typeof finish === 'string' && !isCompleteFinish(finish)) throw fail('empty', 'the model returned no reply');
  if (content === null || content === undefined) throw fail('empty', 'the model returned no reply');
  const written = textOf(content);
  if (written === undefined) throw fail('unreadable', 'the reply is not text');
  const { text: reply, isUnopened } = readThoughts(written);
  const isPlain = isUnopened === false && reply.trim() === written.trim() && !hasReasoning(message);
  if (isUnopened === true || isPlain) await habit.record(isUnopened);
  const text = toStorableText(reply).trim(); // D75
  if (text.length > maxReplyCharacters) throw fail('unreadable', 'the reply is too long');
  if (isBlank(text)) throw fail('empty', 'the reply is empty');
  const model = property(completion, 'model');
  return {
    text,
    written,
    usage,
    ...(typeof model === 'string' && model !== '' ? { model: truncateText(model, maxNameLength) } : {}),
  };
}

function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= maxTokens
    ? value
    : undefined;
}

type LoadedClient = typeof Library & { readonly client: ReturnType<typeof Library.createClient> };

/** Returns a function that loads the library and creates the client on first use. */
export function createLazyClient(settings: ClientSettings): () => Promise<LoadedClient> {
  let opened: Promise<LoadedClient> | undefined;
  return () =>
    (opened ??= import('./client.ts').then((library) => ({ ...library, client: library.createClient(settings) })));
}
