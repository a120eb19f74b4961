/**
 * The language model behind the chat: any OpenAI-compatible server. Only a complete, sensible answer is an answer; everything
 * else is a {@link ModelFailure}, and the turn does not happen (D33a).
 */
import { truncateText } from '#libs/errors';
import { toStorableText } from '#libs/json';
import { isBlank } from '#libs/text';
import { readThoughts } from '#libs/thoughts';
import { type ClientSettings, type TextListener, ModelFailure, type ModelUsage } from './failure.ts';
import { createLazyClient } from './lazy.ts';
import { hasReasoning, isCompleteFinish, readFinish, textOf } from './message-text.ts';
import { createThinkingHabit, type ThinkingHabit } from './thinking-habit.ts';

export interface PromptMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface Completion {
  readonly text: string;
  /** What it costs where usage is not told: all that the model wrote, its thoughts included. */
  readonly written: string;
  readonly usage: ModelUsage;
  /** Which model the server says has answered. */
  readonly model?: string;
}

export interface Model {
  /** As it is asked for, and where. */
  readonly name: string;
  readonly baseUrl: string;
  /**
   * A listener hears the answer as the model writes it, from its first word on, where the server can do that.
   * @throws ModelFailure; never hangs longer than two attempts, nor past the signal.
   */
  answer(messages: readonly PromptMessage[], signal: AbortSignal, listener?: TextListener): Promise<Completion>;
}

export interface ModelSettings extends ClientSettings {
  readonly model: string;
  /** By default forgotten with the process. */
  readonly habit?: ThinkingHabit;
}

const maxNameLength = 200;
const maxReplyCharacters = 100_000;
/** More than any model takes; a larger count is a mistake of the server. */
const maxTokens = 100_000_000;

/** Statuses of servers that cannot stream, or not with their usage: they are asked again for a whole answer. */
const streamRefusals = new Set([400, 404, 405, 406, 415, 422, 501]);

export function createModel(settings: ModelSettings): Model {
  const open = createLazyClient(settings);
  const habit = settings.habit ?? createThinkingHabit(settings.model);
  /** Until a server has refused what it then did whole. */
  let canStream = true;

  async function request(messages: readonly PromptMessage[], signal: AbortSignal, listener?: TextListener): Promise<Completion> {
    const [{ client, withStreaming, toFailure }, isPlain] = await Promise.all([open(), listener !== undefined && habit.isPlain()]);
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
    answer: async (messages, signal, listener) => {
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

/** From the first word on, and never more than an answer may have. */
function skipLeadingSpace(listener: TextListener): TextListener {
  let hasBegun = false;
  return (content) => {
    hasBegun ||= content.trim() !== '';
    if (hasBegun && content.length <= maxReplyCharacters) listener(content);
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
  if (finish === 'length') throw fail('truncated', 'the answer is cut off');
  if (finish === 'content_filter') throw fail('filtered', 'the provider filtered the answer');
  if (typeof property(message, 'refusal') === 'string' && property(message, 'refusal') !== '') throw fail('refused', 'the model refused');
  if (typeof finish === 'string' && !isCompleteFinish(finish)) throw fail('empty', 'the model gave no answer');
  if (content === null || content === undefined) throw fail('empty', 'the model gave no answer');
  const written = textOf(content);
  if (written === undefined) throw fail('unreadable', 'the answer is no text');
  const { words, isUnopened } = readThoughts(written);
  const isPlain = isUnopened === false && words.trim() === written.trim() && !hasReasoning(message);
  if (isUnopened === true || isPlain) await habit.record(isUnopened);
  const text = toStorableText(words).trim(); // D75
  if (text.length > maxReplyCharacters) throw fail('unreadable', 'the answer is too long');
  if (isBlank(text)) throw fail('empty', 'the answer is empty');
  const model = property(completion, 'model');
  return { text, written, usage, ...(typeof model === 'string' && model !== '' ? { model: truncateText(model, maxNameLength) } : {}) };
}

function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= maxTokens ? value : undefined;
}
