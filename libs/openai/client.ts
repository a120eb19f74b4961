/** The client of an OpenAI-compatible server (rules/providers#language-models): bounded bodies, no redirects, failures without what was said. */
import OpenAI, { toFile } from 'openai';
import { parseRetryAfter } from '#libs/time';
import { EventStreamReader } from './event-stream.ts';
import { type ClientSettings, type TextListener, ModelFailure } from './failure.ts';
import { parseLeniently } from './lenient-json.ts';

export { toFile };

const maxResponseBytes = 4 * 1024 * 1024;
/** An event says a few letters in some hundred bytes; what is kept of it is bounded as a whole answer is. */
const maxStreamBytes = 64 * 1024 * 1024;
const maxRetryAfterSeconds = 3_600;

/** Client with one retry on 408, 409, 429, 5xx, timeouts and broken connections. */
export function createClient(settings: ClientSettings): OpenAI {
  return new OpenAI({
    baseURL: settings.baseUrl,
    // The client insists on a key; servers without one ignore it.
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

/** The listener to an answer while it comes; whether its model is known to write no thoughts without an opening marker. */
export interface StreamOptions {
  readonly listener: TextListener;
  readonly isPlain: boolean;
}

/** The same client for one call whose answer may come as events, and is heard meanwhile. */
export function withStreaming(client: OpenAI, hearing: StreamOptions): OpenAI {
  return client.withOptions({ fetch: (url, init) => fetchWhole(url, init, hearing) });
}

/**
 * Reads the whole body, bounded, within the attempt's timeout: the client's own timer ends with the headers. Some servers stream whatever
 * they are asked; their events are put together here.
 */
async function fetchWhole(url: string | URL | Request, init?: RequestInit, hearing?: StreamOptions): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'error' });
  const { status, statusText, headers } = response;
  const contentType = headers.get('content-type')?.toLowerCase() ?? '';
  const isUntyped = contentType === '' || /^(?:text\/plain|application\/octet-stream)\b/.test(contentType);
  if (response.ok && (contentType.startsWith('text/event-stream') || (isUntyped && hearing !== undefined))) {
    return Response.json(await readEvents(readBounded(response, maxStreamBytes), hearing), { status });
  }
  const parts: Uint8Array[] = [];
  for await (const part of readBounded(response, maxResponseBytes)) parts.push(part);
  const body = Buffer.concat(parts);
  const value = response.ok && /^[^;]*\bjson\b/.test(contentType) ? parseIfJson(body.toString('utf8')) : undefined;
  if (value !== undefined) return Response.json(value, { status });
  const hasBody = status !== 204 && status !== 205 && status !== 304;
  return new Response(hasBody ? body : null, { status, statusText, headers });
}

/** Undefined for what is no JSON, which the client tells. */
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

/** The completion. One that breaks off is asked for again by the client, but not when somebody has heard a part of it: it is cut off then (C1). */
async function readEvents(body: AsyncIterable<Uint8Array>, hearing: StreamOptions | undefined): Promise<Record<string, unknown>> {
  const reader = new EventStreamReader({ isPlain: hearing?.isPlain ?? false });
  const decoder = new TextDecoder();
  let deliveredLength = 0;
  try {
    for await (const part of body) {
      reader.push(decoder.decode(part, { stream: true }));
      if (reader.size > maxResponseBytes) throw new ModelFailure('unreadable', 'the response is too large');
      const { text: words, isOver } = reader;
      if (hearing !== undefined && words.length !== deliveredLength) {
        deliveredLength = words.length;
        hearing.listener(words);
      }
      if (isOver) break;
    }
  } catch (error) {
    if (deliveredLength === 0) throw error;
  }
  return reader.finish();
}

/** What went wrong with a call, as a failure that can be told. */
export function toFailure(error: unknown, signal: AbortSignal): ModelFailure {
  const failure = error instanceof OpenAI.APIConnectionError ? error.cause : error; // what is thrown while the body is read comes wrapped
  if (failure instanceof ModelFailure) return failure;
  if (signal.aborted) return new ModelFailure('cancelled', 'the work ended before the model answered');
  if (error instanceof OpenAI.APIConnectionTimeoutError) return new ModelFailure('timeout', 'the model did not answer in time');
  if (error instanceof OpenAI.APIConnectionError) return new ModelFailure('connection', 'the model could not be reached');
  if (error instanceof OpenAI.APIError && typeof error.status === 'number') {
    const retryAfter = readRetryAfter(error.headers);
    return new ModelFailure('status', `the model answered with status ${error.status}`, { status: error.status, retryAfter });
  }
  return new ModelFailure('unreadable', 'the model’s response could not be read');
}

/** Seconds to wait, at least 1; undefined when the server does not ask for a delay. Dates are read by the clock of the server. */
function readRetryAfter(headers: Headers | undefined): number | undefined {
  const ms = parseRetryAfter(headers?.get('retry-after'), Date.parse(headers?.get('date') ?? ''));
  return ms === undefined || ms === 0 ? undefined : Math.min(Math.ceil(ms / 1_000), maxRetryAfterSeconds);
}
