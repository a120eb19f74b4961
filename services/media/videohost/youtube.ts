/**
 * Client for the YouTube Data API v3: OAuth with a refresh token, resumable uploads, thumbnails, captions. Messages
 * never contain tokens or upload URLs.
 */
import { randomUUID } from 'node:crypto';
import { type Outbound, OutboundError, type OutboundReply, type OutboundRequest } from '#libs/infrastructure/outbound';
import { parseRetryAfter } from '#libs/infrastructure/time';
import {
  type CaptionHost,
  type CaptionLabel,
  type PublishedVideo,
  type UploadState,
  type VideoDetails,
  type VideoHost,
  VideoHostError,
} from '../video-host.ts';

export interface YoutubeSettings {
  readonly outbound: Outbound;
  /** Usually `https://www.googleapis.com`. */
  readonly apiUrl: string;
  /** Usually `https://oauth2.googleapis.com/token`. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly refreshToken: string;
}

const callTimeoutMs = 60_000;
/** Timeout for sending one chunk. */
const sendTimeoutMs = 600_000;
const maxTitleLength = 100;
const maxDescriptionBytes = 5_000;
const chunkedStatus = 308;

export function createYoutube(settings: YoutubeSettings): VideoHost {
  const { outbound } = settings;
  let accessToken: string | undefined;

  async function authorize(signal: AbortSignal): Promise<string> {
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: settings.clientId,
      client_secret: settings.clientSecret,
      refresh_token: settings.refreshToken,
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const reply = await sendRequest({ method: 'POST', url: settings.tokenUrl, headers, body: form.toString(), signal });
    const body = await readJson(reply);
    if (reply.status >= 500 || reply.status === 429)
      throw new VideoHostError('away', `the host's token server answered ${reply.status}`);
    const token = property(body, 'access_token');
    if (reply.status !== 200 || typeof token !== 'string') {
      const reason = readReason(property(body, 'error'));
      throw new VideoHostError(
        'unauthorized',
        `the host gave no access for the refresh token (${reason ?? reply.status})`,
      );
    }
    return token;
  }

  async function sendRequest(request: OutboundRequest): Promise<OutboundReply> {
    try {
      return await outbound.request({ timeoutMs: callTimeoutMs, ...request });
    } catch (error) {
      request.signal?.throwIfAborted();
      if (error instanceof OutboundError) throw new VideoHostError('away', error.message);
      throw error;
    }
  }

  /** Calls the API with the access token. An expired token is replaced once. */
  async function call(request: OutboundRequest & { readonly signal: AbortSignal }): Promise<OutboundReply> {
    for (let attempt = 1; ; attempt += 1) {
      accessToken ??= await authorize(request.signal);
      const reply = await sendRequest({
        ...request,
        headers: { ...request.headers, authorization: `Bearer ${accessToken}` },
      });
      if (reply.status !== 401) return reply;
      reply.discard();
      accessToken = undefined;
      if (attempt === 2) throw new VideoHostError('unauthorized', 'the host rejected the access token');
    }
  }

  async function readState(reply: OutboundReply): Promise<UploadState> {
    const { status } = reply;
    if (status === chunkedStatus) {
      reply.discard();
      const last = /^bytes=0-(\d+)$/.exec(reply.headers['range'] ?? '')?.[1];
      return { kind: 'incomplete', receivedBytes: last === undefined ? 0 : Number(last) + 1 };
    }
    if (status === 404 || status === 410) {
      reply.discard();
      return { kind: 'gone' };
    }
    if (status !== 200 && status !== 201) throw await toError(reply);
    return { kind: 'complete', video: toVideo(await readJson(reply)) };
  }

  return {
    name: 'youtube',
    captions: createYoutubeCaptions({ apiUrl: settings.apiUrl, call, sendTimeoutMs }),
    startUpload: async (details, file, signal) => {
      const url = new URL('/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status', settings.apiUrl).href;
      const headers = {
        'content-type': 'application/json; charset=UTF-8',
        'x-upload-content-length': String(file.sizeBytes),
        'x-upload-content-type': file.contentType,
      };
      const reply = await call({ method: 'POST', url, headers, body: JSON.stringify(toMetadata(details)), signal });
      if (reply.status !== 200) throw await toError(reply);
      reply.discard();
      return requireSession(reply.headers['location'], settings.apiUrl);
    },
    readUploadState: async (session, sizeBytes, signal) => {
      const headers = { 'content-range': `bytes */${sizeBytes}`, 'content-length': '0' };
      return readState(await call({ method: 'PUT', url: session, headers, signal }));
    },
    send: async (session, chunk, { offset, sizeBytes }, signal) => {
      const last = offset + chunk.byteLength - 1;
      const headers = {
        'content-range': `bytes ${offset}-${last}/${sizeBytes}`,
        'content-length': String(chunk.byteLength),
      };
      return readState(
        await call({ method: 'PUT', url: session, headers, body: chunk, timeoutMs: sendTimeoutMs, signal }),
      );
    },
    setThumbnail: async (videoId, jpeg, signal) => {
      const url = new URL('/upload/youtube/v3/thumbnails/set', settings.apiUrl);
      url.searchParams.set('videoId', videoId);
      const headers = { 'content-type': 'image/jpeg', 'content-length': String(jpeg.byteLength) };
      const reply = await call({
        method: 'POST',
        url: url.href,
        headers,
        body: jpeg,
        timeoutMs: sendTimeoutMs,
        signal,
      });
      if (reply.status !== 200) throw await toError(reply);
      const items = property(await readJson(reply), 'items');
      return largest(Array.isArray(items) ? (items[0] as unknown) : undefined);
    },
  };
}

/** Returns the metadata without characters that the host rejects, and shortened to its limits. */
function toMetadata({ title, description, tags, categoryId, privacy }: VideoDetails): unknown {
  const clean = (text: string): string => text.toWellFormed().replaceAll(/[<>]/g, '').trim();
  const short = new TextDecoder().decode(Buffer.from(clean(description)).subarray(0, maxDescriptionBytes), {
    stream: true,
  }); // without an incomplete character at the end
  const snippet = {
    title: clean(title).slice(0, maxTitleLength).toWellFormed() || 'Conversation',
    description: short,
    tags,
    categoryId,
  };
  return { snippet, status: { privacyStatus: privacy, selfDeclaredMadeForKids: false } };
}

/** Returns the upload URL. Rejects URLs of other hosts, because bytes and token are sent to this URL. */
function requireSession(location: string | undefined, apiUrl: string): string {
  const [url, api] = [URL.parse(location ?? ''), new URL(apiUrl)];
  const isGoogle =
    url?.protocol === 'https:' && api.hostname.endsWith('.googleapis.com') && url.hostname.endsWith('.googleapis.com');
  if (url === null || (url.origin !== api.origin && !isGoogle)) {
    throw new VideoHostError('refused', 'the host returned a foreign address for the upload');
  }
  return url.href;
}

function toVideo(body: unknown): PublishedVideo {
  const id = property(body, 'id');
  if (typeof id !== 'string' || !/^[\w-]{1,64}$/.test(id))
    throw new VideoHostError('refused', 'the host returned no valid video id');
  const url = `https://www.youtube.com/watch?v=${id}`;
  return { id, url, thumbnail: largest(property(property(body, 'snippet'), 'thumbnails')) };
}

function largest(thumbnails: unknown): string | null {
  for (const size of ['maxres', 'standard', 'high', 'medium', 'default']) {
    const url = property(property(thumbnails, size), 'url');
    if (typeof url === 'string' && URL.canParse(url)) return url;
  }
  return null;
}

interface Settings {
  readonly apiUrl: string;
  /** Calls the API with the channel's access token. */
  readonly call: (request: OutboundRequest & { readonly signal: AbortSignal }) => Promise<OutboundReply>;
  readonly sendTimeoutMs: number;
}

const notFoundStatus = 404;
/** The captions already exist on the host. */
const conflictStatus = 409;

export function createYoutubeCaptions({ apiUrl, call, sendTimeoutMs }: Settings): CaptionHost {
  async function upload(method: 'POST' | 'PUT', part: string, facts: unknown, file: Uint8Array, signal: AbortSignal) {
    const url = new URL('/upload/youtube/v3/captions?uploadType=multipart', apiUrl);
    url.searchParams.set('part', part);
    const { contentType, body } = writeRelated(facts, file);
    const headers = { 'content-type': contentType, 'content-length': String(body.byteLength) };
    return await call({ method, url: url.href, headers, body, timeoutMs: sendTimeoutMs, signal });
  }

  async function replace(id: string, file: Uint8Array, signal: AbortSignal): Promise<boolean> {
    const reply = await upload('PUT', 'id', { id }, file, signal);
    if (reply.status === notFoundStatus) return discard(reply, false);
    if (reply.status !== 200) throw await toError(reply);
    return discard(reply, true);
  }

  async function find(videoId: string, label: CaptionLabel, signal: AbortSignal): Promise<string | undefined> {
    const url = new URL('/youtube/v3/captions?part=snippet', apiUrl);
    url.searchParams.set('videoId', videoId);
    const reply = await call({ method: 'GET', url: url.href, signal });
    if (reply.status !== 200) throw await toError(reply);
    const items = property(await readJson(reply), 'items');
    const own = (Array.isArray(items) ? (items as unknown[]) : []).find((item) => {
      const snippet = property(item, 'snippet');
      return property(snippet, 'language') === label.language && property(snippet, 'name') === label.name;
    });
    return own === undefined ? undefined : readId(own);
  }

  return {
    add: async (videoId, label, file, signal) => {
      const reply = await upload('POST', 'snippet', { snippet: { videoId, ...label, isDraft: false } }, file, signal);
      if (reply.status === 200 || reply.status === 201) return readId(await readJson(reply));
      if (reply.status !== conflictStatus) throw await toError(reply);
      // The captions were sent before, but the response was lost.
      reply.discard();
      const id = await find(videoId, label, signal);
      if (id === undefined || !(await replace(id, file, signal)))
        throw new VideoHostError('away', 'the host reports a conflict but lists no captions');
      return id;
    },
    replace,
    remove: async (id, signal) => {
      const url = new URL('/youtube/v3/captions', apiUrl);
      url.searchParams.set('id', id);
      const reply = await call({ method: 'DELETE', url: url.href, signal });
      if (reply.status !== 200 && reply.status !== 204 && reply.status !== notFoundStatus) throw await toError(reply);
      reply.discard();
    },
  };
}

/** Returns a `multipart/related` body (RFC 2387): the metadata as JSON, followed by the file. */
function writeRelated(facts: unknown, file: Uint8Array): { contentType: string; body: Buffer } {
  const boundary = `part-${randomUUID()}`;
  const head =
    `--${boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n${JSON.stringify(facts)}\r\n` +
    `--${boundary}\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { contentType: `multipart/related; boundary=${boundary}`, body };
}

function readId(resource: unknown): string {
  const id = property(resource, 'id');
  if (typeof id !== 'string' || !/^[\w=-]{1,200}$/.test(id))
    throw new VideoHostError('refused', 'the host returned no valid id of captions');
  return id;
}

function discard<Result>(reply: OutboundReply, result: Result): Result {
  reply.discard();
  return result;
}

/** Delay after the quota is exhausted. The quota is counted per day, and the job retries every hour. */
const quotaDelayMs = 3_600_000;
/** Delay after a 429 without a readable `Retry-After`, and the maximum delay for a longer `Retry-After`. */
const defaultRetryAfterMs = 60_000;
const maxRetryAfterMs = 3_600_000;
const quotaReasons = new Set([
  'quotaExceeded',
  'dailyLimitExceeded',
  'uploadLimitExceeded',
  'rateLimitExceeded',
  'userRateLimitExceeded',
]);

export async function toError(reply: OutboundReply): Promise<VideoHostError> {
  const { status } = reply;
  const errors = property(property(await readJson(reply), 'error'), 'errors');
  const reason = readReason(property(Array.isArray(errors) ? (errors[0] as unknown) : undefined, 'reason'));
  const message = `the host answered ${status}${reason === undefined ? '' : ` (${reason})`}`;
  if (reason !== undefined && quotaReasons.has(reason)) return new VideoHostError('busy', message, quotaDelayMs);
  const requestedMs = parseRetryAfter(reply.headers['retry-after'], Date.now()) ?? 0;
  const retryAfterMs = requestedMs > 0 ? Math.min(requestedMs, maxRetryAfterMs) : undefined;
  if (status === 429) return new VideoHostError('busy', message, retryAfterMs ?? defaultRetryAfterMs);
  return new VideoHostError(status >= 500 || status === 408 ? 'away' : 'refused', message, retryAfterMs);
}

/** Returns the parsed body; returns undefined when the body is not JSON. */
export async function readJson(reply: OutboundReply): Promise<unknown> {
  try {
    return JSON.parse(await reply.text()) as unknown;
  } catch (error) {
    if (error instanceof OutboundError) throw new VideoHostError('away', error.message);
    return undefined;
  }
}

export function readReason(value: unknown): string | undefined {
  return typeof value === 'string' && /^\w{1,60}$/.test(value) ? value : undefined;
}

export function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
