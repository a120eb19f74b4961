/**
 * A fake of the meeting provider as a small real HTTP server with the wire format of Cloudflare RealtimeKit: sessions,
 * transcripts and recordings with signed download URLs, signed webhooks, and faults on demand. For tests and the demo.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Answer,
  answerRecording,
  listRecordings,
  toRecording,
  type PlayedRecording,
  createWebhookSender,
  type WebhookSender,
} from './realtimekit-recordings.ts';

/** One row of the JSON artifact. Fields may have any value, to simulate invalid responses. */
export interface ArtifactRow {
  startTime?: unknown;
  endTime?: unknown;
  sentence?: unknown;
  peerData?: unknown;
}

/** Content of the download: rows as JSON, or raw bytes (complete, or generated while they are sent). */
export type PlayedArtifact =
  | { readonly rows: readonly unknown[] }
  | { readonly bytes: string | Uint8Array; readonly contentType?: string }
  | { readonly stream: () => Iterable<string>; readonly contentType?: string };

export interface PlayedSession {
  readonly id: string;
  readonly meetingId: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Null while the session has not ended. */
  readonly endedAt: string | null;
}

/** Operation in which a fault occurs. */
export type FaultPoint = 'sessions' | 'transcript' | 'download' | 'recordings' | 'recording-download';

export type Fault =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Accepts the request and never responds. */
  | { readonly kind: 'silent' }
  /** Responds after this many milliseconds. */
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** Sends this many bytes of the response, then closes the connection. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** Sends this many bytes of the response, then nothing more. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  /** Responds with 200 and text that is not JSON. */
  | { readonly kind: 'garbage' }
  /** The signed URL has expired: 403, like object stores. */
  | { readonly kind: 'expired' };

export interface SeenRequest {
  readonly point: FaultPoint | 'other';
  readonly path: string;
  readonly authorization: string | undefined;
  readonly range: string | undefined;
}

export interface RealtimeKitServer {
  /** Value for REALTIMEKIT_BASE_URL. */
  readonly baseUrl: string;
  /** Value for REALTIMEKIT_API_TOKEN. */
  readonly apiToken: string;
  readonly requests: readonly SeenRequest[];
  addSession(session: PlayedSession): void;
  /** Sets or removes the transcript of a session. Without a transcript, the API returns 404. */
  setArtifact(sessionId: string, artifact: PlayedArtifact | undefined): void;
  /** Adds a recording, or replaces the one with the same id. */
  setRecording(recording: PlayedRecording): void;
  /** Signs webhooks. The server returns the public key at `keyUrl`. */
  readonly webhooks: WebhookSender & { readonly keyUrl: string };
  /** Makes the operation fail this many times; by default until `clearFaults`. */
  addFault(point: FaultPoint, fault: Fault, times?: number): void;
  clearFaults(): void;
  stop(): Promise<void>;
}

const usualBasePath = '/client/v4/accounts/account-1/realtime/kit/app-1';
const defaultPageSize = 50;

/**
 * Starts the server. @param options a port (default: any free one), the token that the API requires, and the path
 * before `/sessions`.
 */
export async function startRealtimeKit(
  options: { port?: number; apiToken?: string; basePath?: string } = {},
): Promise<RealtimeKitServer> {
  const basePath = options.basePath ?? usualBasePath;
  const apiToken = options.apiToken ?? `token-${randomBytes(8).toString('hex')}`;
  const sessions: PlayedSession[] = [];
  const artifacts = new Map<string, PlayedArtifact>();
  const recordings = new Map<string, PlayedRecording>();
  const signatures = new Map<string, string>();
  const webhooks = createWebhookSender();
  const requests: SeenRequest[] = [];
  let faults: { point: FaultPoint; fault: Fault; remaining: number }[] = [];
  let origin = '';

  function takeFault(point: FaultPoint): Fault | undefined {
    const found = faults.find((item) => item.point === point && item.remaining > 0);
    if (found !== undefined) found.remaining -= 1;
    return found?.fault;
  }

  function signDownload(id: string, fileName: string): string {
    const signature = randomBytes(16).toString('hex');
    signatures.set(signature, id);
    return `${origin}/download/${encodeURIComponent(fileName)}?X-Signature=${signature}`;
  }

  function findRecordings(url: URL, path: string): Answer {
    const sign = ({ id }: PlayedRecording): string => signDownload(id, `${id}.mp4`);
    if (path === '/recordings') return json(200, listRecordings([...recordings.values()], url.searchParams, sign));
    const recording = recordings.get(decodeURIComponent(path.slice('/recordings/'.length)));
    if (recording === undefined) return json(404, { success: false, error: { code: 404, message: 'not found' } });
    return json(200, { success: true, data: toRecording(recording, sign) });
  }

  function findAnswer(url: URL): Answer {
    const path = url.pathname.slice(basePath.length);
    if (path.startsWith('/recordings')) return findRecordings(url, path);
    if (path === '/sessions') return json(200, listSessions(sessions, url.searchParams));
    const [, id, rest] = /^\/sessions\/([^/]+)(\/transcript)?$/.exec(path) ?? [];
    const session = sessions.find((item) => id !== undefined && item.id === decodeURIComponent(id));
    if (session === undefined) return json(404, { success: false, error: { code: 404, message: 'not found' } });
    if (rest === undefined) return json(200, { success: true, data: toSession(session) });
    if (!artifacts.has(session.id))
      return json(404, { success: false, error: { code: 404, message: 'no transcript' } });
    const data = {
      sessionId: session.id,
      transcript_download_url: signDownload(session.id, `${session.id}.json`),
      transcript_download_url_expiry: new Date(Date.now() + 7 * 86_400_000).toISOString(),
    };
    return json(200, { success: true, data });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', origin);
    const isDownload = url.pathname.startsWith('/download/');
    const signed = signatures.get(url.searchParams.get('X-Signature') ?? '') ?? '';
    const recording = isDownload ? recordings.get(signed) : undefined;
    const point = isDownload
      ? recording === undefined
        ? 'download'
        : 'recording-download'
      : url.pathname.startsWith(`${basePath}/recordings`)
        ? 'recordings'
        : url.pathname.endsWith('/transcript')
          ? 'transcript'
          : url.pathname.startsWith(`${basePath}/sessions`)
            ? 'sessions'
            : 'other';
    const { authorization, range } = request.headers;
    if (url.pathname === webhooks.keyPath) return send(response, json(200, webhooks.keyDocument()));
    requests.push({ point: point, path: url.pathname, authorization, range });
    if (point === 'other') return send(response, json(404, { success: false }));
    const isAllowed = isDownload ? authorization === undefined : authorization === `Bearer ${apiToken}`;
    if (!isAllowed)
      return send(
        response,
        json(isDownload ? 400 : 401, { success: false, error: { code: 401, message: 'unauthorized' } }),
      );
    const fault = takeFault(point);
    if (recording !== undefined) return play(response, answerRecording(recording, request.headers), fault);
    const artifact = artifacts.get(signed);
    const answer = !isDownload ? findAnswer(url) : artifact === undefined ? expired : toAnswer(artifact);
    await play(response, answer, fault);
  }

  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl: `${origin}${basePath}`,
    apiToken,
    requests,
    addSession: (session) => void sessions.push(session),
    setArtifact: (sessionId, artifact) => {
      if (artifact === undefined) artifacts.delete(sessionId);
      else artifacts.set(sessionId, artifact);
    },
    setRecording: (recording) => void recordings.set(recording.id, recording),
    webhooks: { ...webhooks, keyUrl: `${origin}${webhooks.keyPath}` },
    addFault: (point, fault, times = Number.POSITIVE_INFINITY) =>
      void faults.push({ point: point, fault, remaining: times }),
    clearFaults: () => {
      faults = [];
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const expired: Answer = {
  status: 403,
  contentType: 'application/xml',
  parts: ['<Error><Code>AccessDenied</Code></Error>'],
};

function json(status: number, body: unknown): Answer {
  return { status, contentType: 'application/json', parts: [JSON.stringify(body)] };
}

function toAnswer(artifact: PlayedArtifact): Answer {
  if ('rows' in artifact) return json(200, artifact.rows);
  const contentType = artifact.contentType ?? 'application/octet-stream';
  return { status: 200, contentType, parts: 'bytes' in artifact ? [artifact.bytes] : artifact.stream() };
}

async function play(response: ServerResponse, answer: Answer, fault: Fault | undefined): Promise<void> {
  if (fault === undefined) return send(response, answer);
  if ('status' in fault) {
    response.writeHead(fault.status, { 'content-type': 'text/plain', ...fault.headers }).end(fault.body ?? 'fault');
    return;
  }
  if (fault.kind === 'silent') return;
  if (fault.kind === 'garbage')
    return send(response, {
      status: 200,
      contentType: 'text/html',
      parts: ['<!doctype html><p>This is not what you wanted'],
    });
  if (fault.kind === 'expired') return send(response, expired);
  if (fault.kind === 'slow') {
    setTimeout(() => void send(response, answer).catch(() => response.destroy()), fault.delayMs);
    return;
  }
  await send(response, answer, fault.afterBytes, fault.kind === 'cut');
}

/** Sends a response with back-pressure. After `cutAfter` bytes, it closes the connection or sends nothing more. */
async function send(
  response: ServerResponse,
  answer: Answer,
  cutAfter = Number.POSITIVE_INFINITY,
  cuts = true,
): Promise<void> {
  response.writeHead(answer.status, { 'content-type': answer.contentType, ...answer.headers });
  let sent = 0;
  for (const part of answer.parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'utf8') : part;
    if (sent + bytes.length > cutAfter) {
      response.write(bytes.subarray(0, cutAfter - sent));
      if (cuts) setTimeout(() => response.destroy(), 20);
      return;
    }
    sent += bytes.length;
    if (response.destroyed) return;
    if (!response.write(bytes)) await waitForDrain(response);
  }
  response.end();
}

/** Resolves when the client has read the written bytes, or has disconnected. */
async function waitForDrain(response: ServerResponse): Promise<void> {
  const settled = new AbortController();
  const { signal } = settled;
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  settled.abort();
}

function listSessions(sessions: readonly PlayedSession[], query: URLSearchParams): unknown {
  const meetingId = query.get('associated_id');
  const matching = sessions.filter((item) => meetingId === null || item.meetingId === meetingId);
  const size = Number(query.get('per_page') ?? defaultPageSize);
  const start = (Number(query.get('page_no') ?? 1) - 1) * size;
  const page = matching.slice(start, start + size);
  return {
    success: true,
    data: { sessions: page.map(toSession) },
    paging: { start_offset: start, end_offset: start + page.length, total_count: matching.length },
  };
}

function toSession(session: PlayedSession): unknown {
  return {
    id: session.id,
    associated_id: session.meetingId,
    meeting_display_name: 'Conversation',
    status: session.endedAt === null ? 'LIVE' : 'ENDED',
    type: 'meeting',
    started_at: session.startedAt,
    ...(session.endedAt === null ? {} : { ended_at: session.endedAt }),
    created_at: session.startedAt,
    updated_at: session.endedAt ?? session.startedAt,
    live_participants: session.endedAt === null ? 2 : 0,
    minutes_consumed: 0,
    organization_id: 'organization-1',
  };
}

/**
 * Yields the text of a JSON transcript with `count` rows, generated while it is read. `makeRow` is called once per row
 * each time the text is read.
 */
export function* streamArtifact(count: number, makeRow: (index: number) => ArtifactRow): Generator<string> {
  let part = '[';
  for (let index = 0; index < count; index++) {
    part += `${index === 0 ? '' : ','}${JSON.stringify(makeRow(index))}`;
    if (part.length < 65_536) continue;
    yield part;
    part = '';
  }
  yield `${part}]`;
}
