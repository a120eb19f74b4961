/**
 * Captions of the fake video host: insert, update, list and delete in YouTube's wire format. Each language and name has
 * one track.
 */
import type { IncomingMessage } from 'node:http';

export interface PlayedCaptions {
  readonly id: string;
  readonly language: string;
  readonly name: string;
  readonly isDraft: boolean;
  text: string;
}

interface Captioned {
  readonly id: string;
  readonly captions: PlayedCaptions[];
}

export type CaptionsLocation = 'captions insert' | 'captions update' | 'captions list' | 'captions delete';

interface Answer {
  readonly status: number;
  /** Reason that an error response contains. */
  readonly reason?: string;
  readonly body?: unknown;
}

export function findCaptionsLocation(method: string, { pathname, searchParams }: URL): CaptionsLocation | undefined {
  if (pathname === '/upload/youtube/v3/captions' && searchParams.get('uploadType') === 'multipart') {
    if (method === 'POST' && searchParams.get('part') === 'snippet') return 'captions insert';
    return method === 'PUT' && searchParams.get('part') === 'id' ? 'captions update' : undefined;
  }
  if (pathname !== '/youtube/v3/captions') return undefined;
  if (method === 'GET') return 'captions list';
  return method === 'DELETE' ? 'captions delete' : undefined;
}

export function answerCaptions(
  videos: readonly Captioned[],
  location: CaptionsLocation,
  request: { readonly url: URL; readonly headers: IncomingMessage['headers']; readonly bytes: Buffer },
): Answer {
  const all = videos.flatMap((video) => video.captions.map((captions) => ({ video, captions })));
  const { searchParams } = request.url;
  if (location === 'captions list') {
    const video = videos.find(({ id }) => id === searchParams.get('videoId'));
    if (video === undefined) return { status: 404, reason: 'videoNotFound' };
    return {
      status: 200,
      body: { kind: 'youtube#captionListResponse', items: video.captions.map((item) => toResource(video, item)) },
    };
  }
  if (location === 'captions delete') {
    const found = all.find(({ captions }) => captions.id === searchParams.get('id'));
    if (found === undefined) return { status: 404, reason: 'captionNotFound' };
    found.video.captions.splice(found.video.captions.indexOf(found.captions), 1);
    return { status: 204 };
  }
  const { facts, file } = readRelated(request.headers['content-type'] ?? '', request.bytes);
  if (file === '') return { status: 400, reason: 'contentRequired' };
  if (location === 'captions update') {
    const found = all.find(({ captions }) => captions.id === facts['id']);
    if (found === undefined) return { status: 404, reason: 'captionNotFound' };
    found.captions.text = file;
    return { status: 200, body: { kind: 'youtube#caption', id: found.captions.id } };
  }
  const { videoId, language, name, isDraft } = facts['snippet'] as Record<string, unknown>;
  if (typeof language !== 'string' || language === '' || typeof name !== 'string')
    return { status: 400, reason: 'invalidMetadata' };
  const video = videos.find(({ id }) => id === videoId);
  if (video === undefined) return { status: 404, reason: 'videoNotFound' };
  if (video.captions.some((item) => item.language === language && item.name === name))
    return { status: 409, reason: 'captionExists' };
  const captions = {
    id: `${video.id}-captions-${all.length + 1}`,
    language,
    name,
    isDraft: isDraft === true,
    text: file,
  };
  video.captions.push(captions);
  return { status: 200, body: toResource(video, captions) };
}

function toResource({ id: videoId }: Captioned, { id, language, name, isDraft }: PlayedCaptions): unknown {
  return {
    kind: 'youtube#caption',
    id,
    snippet: { videoId, language, name, isDraft, trackKind: 'standard', status: 'serving' },
  };
}

/** Parses an RFC 2387 body with two parts: JSON and the file. @throws Error for any other body */
function readRelated(contentType: string, bytes: Buffer): { facts: Record<string, unknown>; file: string } {
  const boundary = /^multipart\/related; boundary=([\w-]+)$/.exec(contentType)?.[1];
  const parts = bytes.toString('utf8').split(`--${boundary}`);
  if (boundary === undefined || parts.length !== 4 || parts[0] !== '' || parts[3] !== '--\r\n')
    throw new Error('no related parts');
  const [facts, file] = [parts[1] ?? '', parts[2] ?? ''].map((part) => {
    const match = /^\r\nContent-Type: [^\r\n]+\r\n\r\n([^]*)\r\n$/.exec(part);
    if (match === null) throw new Error('no part');
    return match[1] ?? '';
  });
  return { facts: JSON.parse(facts ?? '') as Record<string, unknown>, file: file ?? '' };
}
