/** Recordings of the fake meeting provider: their metadata in its API, and their bytes, complete or from an offset. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A response to a request that has no fault. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly parts: Iterable<string | Uint8Array>;
}

export interface PlayedRecording {
  readonly id: string;
  readonly meetingId: string;
  readonly status: string;
  /** ISO 8601; null before the recording starts. */
  readonly startedAt: string | null;
  readonly stoppedAt: string | null;
  /** Size that the API reports; default the real size. */
  readonly fileSize?: number | null;
  readonly content?: PlayedContent;
  /** URL that the API returns; default a signed URL of this server. */
  readonly downloadUrl?: string;
  /** Whether the server supports `Range`; if false, it sends the whole file. */
  readonly hasRanges?: boolean;
}

export interface PlayedContent {
  readonly sizeBytes: number;
  /** Entity tag of the bytes, including the quotes. */
  readonly etag: string;
  /** Yields the bytes from an offset to the end. They are generated while they are sent. */
  read(offset: number): Iterable<Uint8Array>;
}

type Sign = (recording: PlayedRecording) => string;

const itemsPerPage = 50;

export function listRecordings(recordings: readonly PlayedRecording[], query: URLSearchParams, sign: Sign): unknown {
  const matching = recordings.filter((item) => item.meetingId === query.get('meeting_id'));
  const size = Number(query.get('per_page') ?? itemsPerPage);
  const start = (Number(query.get('page_no') ?? 1) - 1) * size;
  const page = matching.slice(start, start + size);
  const paging = { start_offset: start, end_offset: start + page.length, total_count: matching.length };
  return { success: true, data: page.map((item) => toRecording(item, sign)), paging };
}

export function toRecording(recording: PlayedRecording, sign: Sign): unknown {
  const isUploaded = recording.status === 'UPLOADED' && recording.content !== undefined;
  return {
    id: recording.id,
    status: recording.status,
    download_url: isUploaded ? (recording.downloadUrl ?? sign(recording)) : null,
    audio_download_url: null,
    download_url_expiry: isUploaded ? new Date(Date.now() + 7 * 86_400_000).toISOString() : null,
    file_size: recording.fileSize === undefined ? (recording.content?.sizeBytes ?? null) : recording.fileSize,
    session_id: null,
    started_time: recording.startedAt,
    stopped_time: recording.stoppedAt,
    invoked_time: recording.startedAt ?? '2030-01-15T10:00:00.000Z',
    output_file_name: `${recording.meetingId}_${recording.id}.mp4`,
  };
}

/**
 * Returns the response to a download, as an object store sends it: `Range` is applied only if `If-Range` matches the
 * ETag.
 */
export function answerRecording({ content, hasRanges }: PlayedRecording, headers: IncomingHttpHeaders): Answer {
  if (content === undefined) return { status: 404, contentType: 'application/xml', parts: [] };
  const { sizeBytes, etag } = content;
  const offset = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag;
  const usual = { etag, ...(hasRanges === false ? {} : { 'accept-ranges': 'bytes' }) };
  if (offset === 0 || hasRanges === false || !isSame) {
    return {
      status: 200,
      contentType: 'video/mp4',
      headers: { ...usual, 'content-length': String(sizeBytes) },
      parts: content.read(0),
    };
  }
  if (offset >= sizeBytes) {
    return {
      status: 416,
      contentType: 'application/xml',
      headers: { 'content-range': `bytes */${sizeBytes}` },
      parts: [],
    };
  }
  const part = {
    'content-length': String(sizeBytes - offset),
    'content-range': `bytes ${offset}-${sizeBytes - 1}/${sizeBytes}`,
  };
  return { status: 206, contentType: 'video/mp4', headers: { ...usual, ...part }, parts: content.read(offset) };
}

/** Creates content from existing bytes. It is sent in chunks, as by a server. */
export function playBytes(bytes: Uint8Array, etag: string): PlayedContent {
  return {
    sizeBytes: bytes.byteLength,
    etag,
    *read(offset) {
      for (let from = offset; from < bytes.byteLength; from += chunkBytes)
        yield bytes.subarray(from, from + chunkBytes);
    },
  };
}

const chunkBytes = 65_536;

export interface WebhookSender {
  /** Path at which the server returns the key. */
  readonly keyPath: string;
  keyDocument(): unknown;
  /** Public key in PEM. */
  readonly publicKey: string;
  /** Returns signature headers for exactly this body. */
  headers(body: string, deliveryId?: string): Record<string, string>;
}

export function createWebhookSender(): WebhookSender {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  return {
    keyPath: '/.well-known/webhooks.json',
    keyDocument: () => ({ success: true, data: { publicKey: pem } }),
    publicKey: pem,
    headers: (body, deliveryId = randomUUID()) => ({
      'content-type': 'application/json',
      'rtk-webhook-id': 'webhook-1',
      'rtk-uuid': deliveryId,
      'rtk-signature': sign('RSA-SHA256', Buffer.from(body), privateKey).toString('base64'),
    }),
  };
}
