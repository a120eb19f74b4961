/**
 * A scripted fake of the video host: OAuth tokens, resumable uploads, thumbnails and captions in YouTube's wire format,
 * with their faults.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer as readBytes, text as readText } from 'node:stream/consumers';
import {
  answerCaptions,
  type CaptionsLocation,
  findCaptionsLocation,
  type PlayedCaptions,
} from './youtube-captions.ts';

export type YoutubeFaultPoint = 'token' | 'begin' | 'chunk' | 'ask' | 'thumbnail' | CaptionsLocation;

export type YoutubeFault =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly reason?: string;
      /** Seconds. */ readonly retryAfter?: number;
    }
  /** The request is processed, but its response is lost. */
  | { readonly kind: 'answer_lost' }
  /** Never responds. */
  | { readonly kind: 'silent' }
  /** Stores only this many bytes of the chunk. */
  | { readonly kind: 'keeps'; readonly bytes: number }
  /** Rejects the access token as expired. */
  | { readonly kind: 'token_expired' }
  /** Redirects the caller to this URL. */
  | { readonly kind: 'redirect'; readonly location: string }
  /** Returns this URL as the location of the upload. */
  | { readonly kind: 'upload_at'; readonly location: string };

export interface PlayedVideo {
  readonly id: string;
  readonly metadata: { readonly snippet: Record<string, unknown>; readonly status: Record<string, unknown> };
  readonly sizeBytes: number;
  readonly sha256: string;
  thumbnail: Buffer | undefined;
  readonly captions: PlayedCaptions[];
}

export interface YoutubeServer {
  /** Value for YOUTUBE_API_URL. */
  readonly baseUrl: string;
  /** Value for YOUTUBE_TOKEN_URL. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly refreshToken: string;
  readonly videos: readonly PlayedVideo[];
  /** Requests so far, each with its `Content-Range`; null without this header. */
  readonly seen: readonly { readonly location: YoutubeFaultPoint; readonly range: string | null }[];
  /** Makes the next requests at this location fail, each with one of the faults in order. */
  fail(location: YoutubeFaultPoint, ...faults: YoutubeFault[]): void;
  /** Discards all unfinished uploads. */
  forgetSessions(): void;
  stop(): Promise<void>;
}

interface Session {
  readonly metadata: PlayedVideo['metadata'];
  readonly sizeBytes: number;
  readonly hash: ReturnType<typeof createHash>;
  received: number;
  video: PlayedVideo | undefined;
}

const chunkUnit = 262_144;

export async function startYoutube(): Promise<YoutubeServer> {
  const [clientId, clientSecret, refreshToken] = ['client-1', `secret-${randomUUID()}`, `refresh-${randomUUID()}`];
  const sessions = new Map<string, Session>();
  const videos: PlayedVideo[] = [];
  const seen: { location: YoutubeFaultPoint; range: string | null }[] = [];
  const faults = new Map<YoutubeFaultPoint, YoutubeFault[]>();
  let accessToken = '';

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const range = request.headers['content-range'] ?? null;
    const location = findLocation(request.method ?? '', url, range);
    if (location === undefined) return sendError(response, 404, 'notFound');
    seen.push({ location: location, range });
    const fault = faults.get(location)?.shift();
    if (fault?.kind === 'silent') return;
    if (fault?.kind === 'token_expired') accessToken = '';
    if (fault?.kind === 'redirect') return sendOn(request, response, fault.location);
    if (fault?.kind === 'status') {
      request.resume();
      if (fault.retryAfter !== undefined) response.setHeader('retry-after', String(fault.retryAfter));
      return sendError(response, fault.status, fault.reason ?? 'backendError');
    }
    if (location === 'token') return answerToken(await readText(request), response);
    const bytes = await readBytes(request);
    if (accessToken === '' || request.headers.authorization !== `Bearer ${accessToken}`)
      return sendError(response, 401, 'authError');
    const answer = fault?.kind === 'answer_lost' ? () => response.destroy() : undefined;
    if (location === 'begin')
      return begin(request, bytes, fault?.kind === 'upload_at' ? fault.location : undefined, response);
    if (location === 'thumbnail') return setThumbnail(url.searchParams.get('videoId'), bytes, answer, response);
    if (location.startsWith('captions ')) {
      const reply = answerCaptions(videos, location as CaptionsLocation, { url, headers: request.headers, bytes });
      return answer === undefined ? sendReply(response, reply) : void answer();
    }
    takeChunk(url.searchParams.get('upload_id') ?? '', bytes, { range: range ?? '', fault, answer }, response);
  }

  function answerToken(text: string, response: ServerResponse): void {
    const form = new URLSearchParams(text);
    const isClient = form.get('client_id') === clientId && form.get('client_secret') === clientSecret;
    if (!isClient) return sendJson(response, 401, { error: 'invalid_client' });
    if (form.get('grant_type') !== 'refresh_token' || form.get('refresh_token') !== refreshToken) {
      return sendJson(response, 400, {
        error: 'invalid_grant',
        error_description: 'Token has been expired or revoked.',
      });
    }
    accessToken = `access-${randomUUID()}`;
    sendJson(response, 200, { access_token: accessToken, expires_in: 3599, token_type: 'Bearer' });
  }

  function begin(
    request: IncomingMessage,
    bytes: Buffer,
    elsewhere: string | undefined,
    response: ServerResponse,
  ): void {
    const id = randomUUID();
    const metadata = JSON.parse(bytes.toString('utf8')) as PlayedVideo['metadata'];
    const sizeBytes = Number(request.headers['x-upload-content-length']);
    sessions.set(id, { metadata, sizeBytes, hash: createHash('sha256'), received: 0, video: undefined });
    const location = elsewhere ?? `${baseUrl}/upload/youtube/v3/videos?uploadType=resumable&upload_id=${id}`;
    response.writeHead(200, { location }).end();
  }

  function takeChunk(
    id: string,
    bytes: Buffer,
    { range, fault, answer }: { range: string; fault: YoutubeFault | undefined; answer: (() => void) | undefined },
    response: ServerResponse,
  ): void {
    const session = sessions.get(id);
    if (session === undefined) return sendError(response, 404, 'notFound');
    const [, first, last, total] = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+)$/.exec(range) ?? [];
    if (Number(total) !== session.sizeBytes) return sendError(response, 400, 'invalidContentRange');
    if (first !== undefined) {
      const isLast = Number(last) + 1 === session.sizeBytes;
      const fits = Number(first) === session.received && bytes.byteLength === Number(last) - Number(first) + 1;
      if (!fits || (!isLast && bytes.byteLength % chunkUnit !== 0))
        return sendError(response, 400, 'invalidContentRange');
      const stored = fault?.kind === 'keeps' ? bytes.subarray(0, fault.bytes) : bytes;
      session.hash.update(stored);
      session.received += stored.byteLength;
    }
    if (session.received === session.sizeBytes && session.video === undefined) {
      const { metadata, sizeBytes } = session;
      session.video = {
        id: `video-${videos.length + 1}`,
        metadata,
        sizeBytes,
        sha256: session.hash.digest('hex'),
        thumbnail: undefined,
        captions: [],
      };
      videos.push(session.video);
    }
    if (answer !== undefined) return answer();
    if (session.video !== undefined)
      return sendJson(response, first === undefined ? 200 : 201, toResource(session.video));
    const had = session.received === 0 ? {} : { range: `bytes=0-${session.received - 1}` };
    response.writeHead(308, { ...had, 'content-length': '0' }).end();
  }

  function setThumbnail(
    id: string | null,
    bytes: Buffer,
    answer: (() => void) | undefined,
    response: ServerResponse,
  ): void {
    const video = videos.find((item) => item.id === id);
    if (video === undefined) return sendError(response, 404, 'videoNotFound');
    video.thumbnail = bytes;
    if (answer !== undefined) return answer();
    sendJson(response, 200, { kind: 'youtube#thumbnailSetResponse', items: [toThumbnails(video.id)] });
  }

  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    request.on('error', () => undefined);
    serve(request, response).catch((error: unknown) =>
      sendError(response, 400, error instanceof Error ? error.name : 'badRequest'),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl,
    tokenUrl: `${baseUrl}/token`,
    clientId,
    clientSecret,
    refreshToken,
    videos,
    seen,
    fail: (location, ...more) => void faults.set(location, [...(faults.get(location) ?? []), ...more]),
    forgetSessions: () => sessions.clear(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function findLocation(method: string, url: URL, range: string | null): YoutubeFaultPoint | undefined {
  if (method === 'POST' && url.pathname === '/token') return 'token';
  if (method === 'POST' && url.pathname === '/upload/youtube/v3/thumbnails/set') return 'thumbnail';
  const captions = findCaptionsLocation(method, url);
  if (captions !== undefined) return captions;
  if (url.pathname !== '/upload/youtube/v3/videos' || url.searchParams.get('uploadType') !== 'resumable')
    return undefined;
  if (method === 'POST') return 'begin';
  return method === 'PUT' ? (range?.startsWith('bytes */') === true ? 'ask' : 'chunk') : undefined;
}

function toThumbnails(id: string): unknown {
  const picture = (name: string, width: number) => ({
    url: `https://i.ytimg.example/${id}/${name}.jpg`,
    width,
    height: width / 2,
  });
  return { default: picture('default', 120), high: picture('hqdefault', 480), maxres: picture('maxresdefault', 1280) };
}

function toResource({ id, metadata }: PlayedVideo): unknown {
  const thumbnails = { default: { url: `https://i.ytimg.example/${id}/default.jpg`, width: 120, height: 90 } };
  return {
    kind: 'youtube#video',
    id,
    snippet: { ...metadata.snippet, thumbnails },
    status: { ...metadata.status, uploadStatus: 'uploaded' },
  };
}

function sendOn(request: IncomingMessage, response: ServerResponse, location: string): void {
  request.resume();
  response.writeHead(307, { location }).end();
}

function sendReply(response: ServerResponse, { status, reason, body }: ReturnType<typeof answerCaptions>): void {
  if (reason !== undefined) return sendError(response, status, reason);
  if (body !== undefined) return sendJson(response, status, body);
  response.writeHead(status).end();
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}

function sendError(response: ServerResponse, status: number, reason: string): void {
  if (response.headersSent) return void response.destroy();
  sendJson(response, status, {
    error: { code: status, message: 'scripted failure', errors: [{ domain: 'youtube', reason, message: reason }] },
  });
}
