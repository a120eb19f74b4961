/** Answers as they were recorded, without the thoughts that earlier releases left in some of them (D84). */
import { dropThoughts } from '#libs/thoughts';
import type { MessagingHtml } from './messaging-html.ts';

/** The words of an answer; `""` when it was all thoughts. */
export function dropThoughtsOf(body: string): string {
  const words = dropThoughts(body);
  return words === body ? body : words.trim();
}

/** A message of the agent with its HTML. */
export function cleanAgentMessage<M extends { readonly body: string; readonly html: string }>(message: M, writer: MessagingHtml): M {
  const body = dropThoughtsOf(message.body);
  return body === message.body ? message : { ...message, body, html: body === '' ? '' : writer.render(body) };
}

/** Whether JSON of recorded messages may hold thoughts, so that it takes a closer look. */
export function mayContainThoughts(json: string): boolean {
  return /think|thought|reason|analysis|commentary|channel|assistant|reflection|scratchpad|<\||end_of_turn/i.test(json);
}
