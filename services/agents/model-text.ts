/**
 * Text of the language model: token estimates, JSON replies, and replies without thoughts. The estimate uses no
 * tokenizer, since servers behind `LLM_BASE_URL` use different ones. It is high on purpose: a low estimate can fail the
 * reply, a high one only shortens the history. Prose counts 1.5 to 2 times the tokens of byte-pair tokenizers; digits,
 * inner capitals and emoji count as split.
 */
import { toStorableText } from '#libs/infrastructure/json';
import { dropThoughts } from '#libs/infrastructure/thoughts';
import type { MessagingHtml } from './messaging-html.ts';

/** Lower-case ASCII letters and spaces: characters per token. */
const charactersPerToken = 3;
/** UTF-8 bytes per token in other scripts: one token per Cyrillic letter, 1.5 per Chinese character. */
const bytesPerToken = 2;
/** Tokens per four-byte character, e.g. emoji. */
const tokensPerAstral = 3;
/** Tokens for the role and separators of a message in a chat template. */
const tokensPerMessage = 8;

export function estimateTokens(text: string): number {
  let letters = 0;
  let others = 0;
  let astral = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) {
      if (code >= 0xd800 && code <= 0xdbff) astral++;
    } else if (code === 0x20 || (code >= 0x61 && code <= 0x7a)) letters++;
    else others++;
  }
  const otherBytes = Math.max(0, Buffer.byteLength(text) - letters - others - 4 * astral);
  return Math.ceil(letters / charactersPerToken + others + otherBytes / bytesPerToken + astral * tokensPerAstral);
}

/** Returns the estimated tokens of a chat message. */
export function estimateMessage(text: string): number {
  return estimateTokens(text) + tokensPerMessage;
}

/** The model's reply has the wrong format. The error message describes the problem without quoting the reply. */
export class UnusableReply extends Error {
  override readonly name = 'UnusableReply';
}

/**
 * Parses a reply that should be JSON, possibly in a code fence. Removes thoughts (D84) and characters that cannot be
 * stored (D75) from strings.
 * @throws SyntaxError; RangeError when nested too deeply
 */
export function parseJsonReply(text: string): unknown {
  return JSON.parse(removeCodeFence(text.trim()), (_key, value: unknown) =>
    typeof value === 'string' ? toStorableText(dropThoughts(value)) : value,
  );
}

function removeCodeFence(text: string): string {
  const opening = /^```(?:json)?[^\S\n]*\n/.exec(text)?.[0];
  return opening !== undefined && text.endsWith('```') ? text.slice(opening.length, -3) : text;
}

/**
 * Returns a recorded reply without thoughts, which earlier releases stored (D84). Returns `""` if the reply contains
 * only thoughts.
 */
export function dropThoughtsOf(body: string): string {
  const text = dropThoughts(body);
  return text === body ? body : text.trim();
}

/** Returns a message of the agent without thoughts. A changed message is rendered again. */
export function cleanAgentMessage<M extends { readonly body: string; readonly html: string }>(
  message: M,
  writer: MessagingHtml,
): M {
  const body = dropThoughtsOf(message.body);
  return body === message.body ? message : { ...message, body, html: body === '' ? '' : writer.render(body) };
}

/** Fast check whether JSON of recorded messages may contain thoughts. */
export function mayContainThoughts(json: string): boolean {
  return /think|thought|reason|analysis|commentary|channel|assistant|reflection|scratchpad|<\||end_of_turn/i.test(json);
}
