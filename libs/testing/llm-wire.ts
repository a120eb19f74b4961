/** The wire format of the fake language model, and its faults. */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/** Fault of one request. */
export type LlmFault =
  /** Responds only after this time; detects a client that disconnects. */
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** Never responds. */
  | { readonly kind: 'silent' }
  /** Sends headers and half a body, then nothing. */
  | { readonly kind: 'stalled' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: number; readonly body?: string }
  /** Status 200 with this body. */
  | { readonly kind: 'body'; readonly body: string }
  /** A truncated reply: `finish_reason: "length"`. */
  | { readonly kind: 'truncated' }
  | { readonly kind: 'finish'; readonly reason: string }
  /** Value of `content`, e.g. null or a number. */
  | { readonly kind: 'content'; readonly content: unknown }
  /** Closes the connection in the middle of the response. */
  | { readonly kind: 'dropped' }
  /** `refusal` instead of content. */
  | { readonly kind: 'refusal' }
  /** A valid response without `usage`. */
  | { readonly kind: 'no_usage' }
  /** Does not support streaming: requests for it get this status, or a complete response if no status is given. */
  | { readonly kind: 'no_streams'; readonly status?: number }
  /** Server-sent events, whether requested or not; `ending` defines how they end (`dropped` closes the connection). */
  | ({
      readonly kind: 'stream';
      readonly ending?: 'whole' | 'length' | 'cut_off' | 'error' | 'garbage' | 'dropped' | 'stalled';
    } & LlmSpeech);

/** Timing and reasoning of a streamed reply. */
export interface LlmSpeech {
  /** Pause between words. */
  readonly pauseMs?: number;
  /** Reasoning of the model, sent in a separate field before the reply; empty: none. */
  readonly reasoning?: string;
  /** Awaited before each word if it returns a promise. */
  readonly before?: (word: string) => Promise<void> | undefined;
}

export function completion(model: string, content: unknown, finishReason: string): Record<string, unknown> {
  return {
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [
      { index: 0, finish_reason: finishReason, logprobs: null, message: { role: 'assistant', content, refusal: null } },
    ],
    usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
  };
}

/** Returns true when the fault replaces the response, even if nothing is ever sent. */
export async function sendFault(response: ServerResponse, model: string, fault: LlmFault): Promise<boolean> {
  switch (fault.kind) {
    case 'slow':
    case 'no_usage':
    case 'stream':
    case 'no_streams':
      return false;
    case 'refusal':
      sendJson(response, 200, {
        ...completion(model, null, 'stop'),
        choices: [
          {
            index: 0,
            finish_reason: 'stop',
            message: { role: 'assistant', content: null, refusal: 'I cannot help with that.' },
          },
        ],
      });
      return true;
    case 'silent':
      return true;
    case 'stalled':
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write('{"id":"chatcmpl-1","object":"chat.comp');
      return true;
    case 'status':
      if (fault.retryAfter !== undefined) response.setHeader('Retry-After', String(fault.retryAfter));
      // By default the client would wait half a second before its one retry.
      else response.setHeader('retry-after-ms', '1');
      if (fault.body === undefined) sendError(response, fault.status, 'scripted failure');
      else response.writeHead(fault.status, { 'Content-Type': 'text/html' }).end(fault.body);
      return true;
    case 'body':
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(fault.body);
      return true;
    case 'truncated':
      sendJson(response, 200, completion(model, 'The answer begins here and', 'length'));
      return true;
    case 'finish':
      sendJson(response, 200, completion(model, 'Something', fault.reason));
      return true;
    case 'content':
      sendJson(response, 200, completion(model, fault.content, 'stop'));
      return true;
    case 'dropped':
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
      response.write('{"id":');
      await new Promise((resolve) => setTimeout(resolve, 10));
      response.destroy();
      return true;
  }
}

export async function sendStream(
  response: ServerResponse,
  model: string,
  answer: string,
  fault: LlmFault & { kind: 'stream' },
  includesUsage = true,
): Promise<void> {
  const { ending = 'whole', pauseMs = 0, reasoning = '', before } = fault;
  const send = (data: unknown): void => void response.write(`data: ${JSON.stringify(data)}\n\n`);
  const chunk = (delta: unknown, finish: string | null): unknown => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
  send(chunk({ role: 'assistant', content: '' }, null));
  if (reasoning !== '') send(chunk({ reasoning_content: reasoning }, null));
  for (const [index, word] of answer.split(/(?<= )/).entries()) {
    if (index > 0 && pauseMs > 0 && !(await waitOrClose(response, pauseMs))) return;
    await before?.(word.trim());
    send(chunk({ content: word }, null));
  }
  if (ending === 'stalled') return;
  if (ending === 'dropped') {
    await waitOrClose(response, 10);
    response.destroy();
    return;
  }
  if (ending === 'error')
    send({ error: { message: 'The server had an error', type: 'server_error', param: null, code: null } });
  if (ending === 'garbage') response.write('data: {"choices":[{"del\n\n');
  if (ending === 'length') send(chunk({}, 'length'));
  if (ending === 'whole') {
    send(chunk({}, 'stop'));
    const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
    if (includesUsage) send({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model, choices: [], usage });
    response.write('data: [DONE]\n\n');
  }
  response.end();
}

/** Returns false when the client disconnected first. */
export function waitOrClose(response: ServerResponse, delayMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const disconnect = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      response.off('close', disconnect);
      resolve(true);
    }, delayMs);
    response.once('close', disconnect);
  });
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

export function sendError(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) response.destroy();
  else sendJson(response, status, { error: { message, type: 'invalid_request_error', param: null, code: null } });
}
