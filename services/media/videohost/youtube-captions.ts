/** Captions on YouTube: `captions.insert`, `update`, `list` and `delete` of the Data API v3. A file goes with its facts as `multipart/related`. */
import { randomUUID } from 'node:crypto';
import type { OutboundReply, OutboundRequest } from '#libs/outbound';
import { type CaptionHost, type CaptionLabel, VideoHostError } from './video-host.ts';
import { property, readJson, toError } from './youtube-replies.ts';

interface Settings {
  readonly apiUrl: string;
  /** A call with the channel's access token. */
  readonly call: (request: OutboundRequest & { readonly signal: AbortSignal }) => Promise<OutboundReply>;
  readonly sendTimeoutMs: number;
}

const gone = 404;
/** Captions of this language and name are there. */
const exists = 409;

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
    if (reply.status === gone) return discard(reply, false);
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
      if (reply.status !== exists) throw await toError(reply);
      // Sent before, and the answer was lost.
      reply.discard();
      const id = await find(videoId, label, signal);
      if (id === undefined || !(await replace(id, file, signal))) throw new VideoHostError('away', 'the host has captions, and shows none');
      return id;
    },
    replace,
    remove: async (id, signal) => {
      const url = new URL('/youtube/v3/captions', apiUrl);
      url.searchParams.set('id', id);
      const reply = await call({ method: 'DELETE', url: url.href, signal });
      if (reply.status !== 200 && reply.status !== 204 && reply.status !== gone) throw await toError(reply);
      reply.discard();
    },
  };
}

/** RFC 2387: the facts as JSON, then the file. */
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
  if (typeof id !== 'string' || !/^[\w=-]{1,200}$/.test(id)) throw new VideoHostError('refused', 'the host names no captions');
  return id;
}

function discard<Result>(reply: OutboundReply, result: Result): Result {
  reply.discard();
  return result;
}
