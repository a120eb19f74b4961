/**
 * Client of an OpenAI-compatible server (rules/providers#language-models): bounded bodies, no redirects, errors without
 * message contents.
 */
import OpenAI, { toFile } from 'openai';
import { parseRetryAfter } from '#libs/infrastructure/time';
import { EventStreamReader, parseLeniently } from './event-stream.ts';
import { type ClientSettings, type TextListener, ModelFailure } from './failure.ts';

export { toFile };

const maxResponseBytes = 4 * 1024 * 1024;
/**
 * Limits the raw stream: an event has only a few characters in some hundred bytes. The text read from a stream has the
 * same limit as a complete response.
 */
const maxStreamBytes = 64 * 1024 * 1024;
const maxRetryAfterSeconds = 3_600;

/** Creates a client with one retry on 408, 409, 429, 5xx, timeouts and broken connections. */
export function createClient(settings: ClientSettings): OpenAI {
  return new OpenAI({
    baseURL: settings.baseUrl,
    // The library requires a key; servers without authentication ignore it.
    apiKey: settings.apiKey === '' ? 'none' : settings.apiKey,
    organization: null,
    project: null,
    webhookSecret: null,
    timeout: settings.timeoutMs,
    maxRetries: 1,
    logLevel: 'off',
    fetch: fetchWhole,
  });
}

/** `isPlain`: the model is known to write no thoughts without an opening marker. */
export interface StreamOptions {
  readonly listener: TextListener;
  readonly isPlain: boolean;
}

/** Returns a copy of the client for one streamed call. */
export function withStreaming(client: OpenAI, streaming: StreamOptions): OpenAI {
  return client.withOptions({ fetch: (url, init) => fetchWhole(url, init, streaming) });
}

/**
 * Reads the whole body with a size limit and within the timeout of the attempt; the library's own timer ends at the
 * headers. Some servers stream without a request for it; their events are combined here.
 */
async function fetchWhole(
  url: string | URL | Request,
  init?: RequestInit,
  streaming?: StreamOptions,
): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'error' });
  const { status, statusText, headers } = response;
  const contentType = headers.get('content-type')?.toLowerCase() ?? '';
  const isUntyped = contentType === '' || /^(?:text\/plain|application\/octet-stream)\b/.test(contentType);
  if (response.ok && (contentType.startsWith('text/event-stream') || (isUntyped && streaming !== undefined))) {
    return Response.json(await readEvents(readBounded(response, maxStreamBytes), streaming), { status });
  }
  const parts: Uint8Array[] = [];
  for await (const part of readBounded(response, maxResponseBytes)) parts.push(part);
  const body = Buffer.concat(parts);
  const value = response.ok && /^[^;]*\bjson\b/.test(contentType) ? parseIfJson(body.toString('utf8')) : undefined;
  if (value !== undefined) return Response.json(value, { status });
  const hasBody = status !== 204 && status !== 205 && status !== 304;
  return new Response(hasBody ? body : null, { status, statusText, headers });
}

/** Returns undefined for invalid JSON, which the library reports. */
function parseIfJson(text: string): unknown {
  try {
    return parseLeniently(text);
  } catch {
    return undefined;
  }
}

async function* readBounded(response: Response, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > maxBytes) throw new ModelFailure('unreadable', 'the response is too large');
    yield part;
  }
}

/**
 * Returns the completion. The library retries a broken stream unless the listener has already received text; then the
 * reply counts as truncated (C1).
 */
async function readEvents(
  body: AsyncIterable<Uint8Array>,
  streaming: StreamOptions | undefined,
): Promise<Record<string, unknown>> {
  const reader = new EventStreamReader({ isPlain: streaming?.isPlain ?? false });
  const decoder = new TextDecoder();
  let deliveredLength = 0;
  try {
    for await (const part of body) {
      reader.push(decoder.decode(part, { stream: true }));
      if (reader.size > maxResponseBytes) throw new ModelFailure('unreadable', 'the response is too large');
      const { text, isOver } = reader;
      if (streaming !== undefined && text.length !== deliveredLength) {
        deliveredLength = text.length;
        streaming.listener(text);
      }
      if (isOver) break;
    }
  } catch (error) {
    if (deliveredLength === 0) throw error;
  }
  return reader.finish();
}

/** Converts an error of a call to a `ModelFailure`. */
export function toFailure(error: unknown, signal: AbortSignal): ModelFailure {
  const failure = error instanceof OpenAI.APIConnectionError ? error.cause : error; // errors while the body is read are wrapped
  if (failure instanceof ModelFailure) return failure;
  if (signal.aborted) return new ModelFailure('cancelled', 'aborted before the model replied');
  if (error instanceof OpenAI.APIConnectionTimeoutError)
    return new ModelFailure('timeout', 'the model did not reply in time');
  if (error instanceof OpenAI.APIConnectionError) return new ModelFailure('connection', 'the model cannot be reached');
  if (error instanceof OpenAI.APIError && typeof error.status === 'number') {
    const retryAfter = readRetryAfter(error.headers);
    return new ModelFailure('status', `the model returned status ${error.status}`, {
      status: error.status,
      retryAfter,
    });
  }
  return new ModelFailure('unreadable', 'unreadable response of the model');
}

/**
 * Returns the seconds to wait, at least 1; undefined when the server does not request a delay. HTTP dates are compared
 * with the server's clock.
 */
function readRetryAfter(headers: Headers | undefined): number | undefined {
  const ms = parseRetryAfter(headers?.get('retry-after'), Date.parse(headers?.get('date') ?? ''));
  return ms === undefined || ms === 0 ? undefined : Math.min(Math.ceil(ms / 1_000), maxRetryAfterSeconds);
}
