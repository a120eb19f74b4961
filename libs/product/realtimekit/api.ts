/** Calls of the provider's API and downloads from its signed URLs. */
import { unavailable } from '#libs/infrastructure/errors';
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import { OutboundError, type Outbound, type OutboundReply } from '#libs/infrastructure/outbound';
import { parseInstant, parseRetryAfter, type Instant } from '#libs/infrastructure/time';

/** The provider's rate limit is exceeded (429). */
export class ProviderBusy extends Error {
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('the rate limit of the meeting provider is exceeded');
    this.name = 'ProviderBusy';
    this.retryAfterMs = retryAfterMs;
  }
}

/** The download is larger than the importer accepts; retrying does not help. */
export class DownloadTooLarge extends Error {
  constructor(what: string, maxBytes: number) {
    super(`the ${what} is larger than ${maxBytes} bytes`);
    this.name = 'DownloadTooLarge';
  }
}

export interface ApiOptions {
  readonly outbound: Outbound;
  /** REALTIMEKIT_BASE_URL: the part of the URLs before `/sessions`. */
  readonly baseUrl: string;
  readonly apiToken: string;
  /** Maximum bytes of a transcript or recording. */
  readonly maxDownloadBytes: number;
  /** Timeout of a whole download. */
  readonly downloadTimeoutMs: number;
}

export interface Api {
  /** Sends a GET request and returns the parsed response. @throws AppError `unavailable`, ProviderBusy */
  call(path: string, signal: AbortSignal): Promise<JsonObject>;
  /**
   * Opens a signed URL. If the URL has expired, a new one is requested once. @throws AppError `unavailable`,
   * ProviderBusy
   */
  open(download: Download, signal: AbortSignal): Promise<OutboundReply>;
  /** Yields the bytes of an opened download. @throws AppError `unavailable`, DownloadTooLarge */
  read(reply: OutboundReply, what: string): AsyncGenerator<Uint8Array>;
}

export interface Download {
  /** `transcript` or `recording`; used in error messages. */
  readonly what: string;
  /** Requests a new signed URL from the provider. */
  readonly findUrl: () => Promise<string>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly statuses: readonly number[];
}

const maxReplyBytes = 4 * 1_048_576;
const apiTimeoutMs = 30_000;
/** Delay after a 429 without a readable `Retry-After`. The next two constants limit a readable one. */
const defaultRetryAfterMs = 10_000;
const minRetryAfterMs = 1_000;
const maxRetryAfterMs = 900_000;

export function createApi(options: ApiOptions): Api {
  const { outbound, apiToken, maxDownloadBytes, downloadTimeoutMs } = options;
  const base = options.baseUrl.replace(/(?<!\/)\/+$/, '');
  return {
    call: async (path, signal) => {
      const headers = { authorization: `Bearer ${apiToken}`, accept: 'application/json' };
      const request = { url: `${base}${path}`, headers, timeoutMs: apiTimeoutMs, maxBytes: maxReplyBytes, signal };
      const reply = await translate(outbound.request(request));
      if (reply.status !== 200) {
        reply.discard();
        throw toStatusError(reply, 'the meeting provider');
      }
      return parseReply(await translate(reply.text()));
    },
    open: async ({ what, findUrl, headers, statuses }, signal) => {
      for (let attempt = 1; ; attempt++) {
        // The URL is signed. The API token must not be sent to its host.
        const request = { url: await findUrl(), timeoutMs: downloadTimeoutMs, maxBytes: maxDownloadBytes, signal };
        const reply = await translate(outbound.request(headers === undefined ? request : { ...request, headers }));
        if (statuses.includes(reply.status)) {
          if ((reply.headers['content-encoding'] ?? 'identity') === 'identity') return reply;
          reply.discard();
          throw unavailable(`the ${what} download has a content encoding; its exact bytes are unknown`);
        }
        reply.discard();
        // The host rejects an expired URL with one of these statuses.
        const isExpired = reply.status === 401 || reply.status === 403 || reply.status === 410;
        if (!isExpired || attempt === 2) throw toStatusError(reply, `the ${what} download`);
      }
    },
    read: (reply, what) => readBody(reply, what, maxDownloadBytes),
  };
}

/**
 * Converts network failures to `unavailable`, since they are expected and retried. Their messages contain only origins.
 */
async function translate<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof OutboundError ? unavailable(error.message) : error;
  }
}

async function* readBody(reply: OutboundReply, what: string, maxBytes: number): AsyncGenerator<Uint8Array> {
  try {
    yield* reply.body;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw error.kind === 'too_large' ? new DownloadTooLarge(what, maxBytes) : unavailable(error.message);
  }
}

function toStatusError(reply: OutboundReply, provider: string): Error {
  if (reply.status === 429) {
    const retryAfterMs = parseRetryAfter(reply.headers['retry-after'], Date.now()) ?? defaultRetryAfterMs;
    return new ProviderBusy(Math.min(maxRetryAfterMs, Math.max(minRetryAfterMs, retryAfterMs)));
  }
  return unavailable(`${provider} answered with status ${reply.status}`);
}

function parseReply(text: string): JsonObject {
  let reply: unknown;
  try {
    reply = JSON.parse(text);
  } catch {
    reply = undefined;
  }
  if (!isJsonObject(reply) || reply['success'] === false) throw invalidResponse();
  return reply;
}

export function invalidResponse(): Error {
  return unavailable('invalid response from the meeting provider');
}

/**
 * Returns all items of a paged list without duplicates. `readItems` extracts the items from a response; the caller
 * validates them.
 */
export async function listPages(
  api: Api,
  path: string,
  query: Readonly<Record<string, string>>,
  readItems: (data: unknown) => unknown[] | undefined,
  signal: AbortSignal,
): Promise<unknown[]> {
  const found = new Map<unknown, unknown>();
  for (let page = 1; page <= maxPages; page++) {
    const params = new URLSearchParams({ ...query, page_no: String(page), per_page: String(itemsPerPage) });
    const { data, paging } = await api.call(`${path}?${params.toString()}`, signal);
    const items = readItems(data);
    if (items === undefined) throw invalidResponse();
    const known = found.size;
    for (const item of items) found.set(isJsonObject(item) ? item['id'] : undefined, item);
    const total = isJsonObject(paging) ? paging['total_count'] : undefined;
    // The provider can return smaller pages or ignore the page number, so a page without new items ends the list too.
    if (found.size === known || (typeof total === 'number' && found.size >= total)) break;
  }
  return [...found.values()];
}

const itemsPerPage = 100;
const maxPages = 50;

export function readInstant(value: unknown): Instant | undefined {
  const parsed = typeof value === 'string' ? parseInstant(value) : undefined;
  return parsed?.kind === 'instant' ? parsed.instant : undefined;
}
