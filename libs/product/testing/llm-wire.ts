/** Writes the responses of the fake language model in the real wire format, and simulates faults. */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/** Fault of one request. */
export type LlmFault =
  /** Responds only after this time, unless the client disconnects first. */
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** Never responds. */
  | { readonly kind: 'silent' }
  /** Sends headers and half of a body, then nothing more. */
  | { readonly kind: 'stalled' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: number; readonly body?: string }
  /** Responds with status 200 and this body. */
  | { readonly kind: 'body'; readonly body: string }
  /** Responds with a truncated reply: `finish_reason: "length"`. */
  | { readonly kind: 'truncated' }
  | { readonly kind: 'finish'; readonly reason: string }
  /** Responds with this value of `content`, e.g. null or a number. */
  | { readonly kind: 'content'; readonly content: unknown }
  /** Closes the connection in the middle of the response. */
  | { readonly kind: 'dropped' }
  /** Responds with `refusal` instead of content. */
  | { readonly kind: 'refusal' }
  /** Sends a valid response without `usage`. */
  | { readonly kind: 'no_usage' }
  /**
   * Simulates a server without streaming: requests for a stream receive this status, or a complete response if no
   * status is set.
   */
  | { readonly kind: 'no_streams'; readonly status?: number }
  /**
   * Sends server-sent events, even if the client did not request them. `ending` defines how the stream ends (`dropped`
   * closes the connection).
   */
  | ({
      readonly kind: 'stream';
      readonly ending?: 'whole' | 'length' | 'cut_off' | 'error' | 'garbage' | 'dropped' | 'stalled';
    } & LlmSpeech);

/** Timing and reasoning of a streamed reply. */
export interface LlmSpeech {
  /** Milliseconds between two words. */
  readonly pauseMs?: number;
  /** Reasoning text that is sent in a separate field before the reply; empty: no reasoning. */
  readonly reasoning?: string;
  /** Called before each word; a returned promise is awaited. */
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

/** Sends the response of a fault. Returns true when the fault replaces the response, also when nothing is sent. */
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
      // Without this header, the client would wait half a second before its only retry.
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

/** Waits `delayMs`. Returns false when the client disconnects first. */
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
