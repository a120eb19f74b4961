/**
 * Returns metadata of stored files over NATS, and sends their bytes over HTTP (rules/media#video,
 * rules/media#audio-download).
 */
import { conversations } from '#services/conversations';
import { transcripts } from '#services/transcripts';
import { notFound } from '#libs/infrastructure/errors';
import {
  byteStream,
  type CallContext,
  type HandlersOf,
  withoutActor,
  rawBytes,
  withDigest,
} from '#libs/infrastructure/nats';
import type { Dependencies } from '../dependencies.ts';
import { chooseRecording, mediaUrl, versionMarker } from '../file-names.ts';
import { findAudioFile, findPublicFile, findRecordingStart, listRecordings } from '../files.ts';
import type { Exchange } from '../http/index.ts';
import type { downloadRpcs } from './contract.ts';
import { serveFile } from './serve-file.ts';

export function createDownloadHandlers(deps: Pick<Dependencies, 'db' | 'bus'>): HandlersOf<typeof downloadRpcs> {
  const { db, bus } = deps;
  return {
    getVideo: async ({ conversation_id: conversationId }, context) => {
      const recording = await getRecording(deps, conversationId, context);
      return { url: mediaUrl({ objectKey: recording.object_key, sha256: recording.sha256 }), name: recording.name };
    },
    getCaptions: async ({ conversation_id: conversationId }, context) => {
      const { kind, object_key: objectKey } = await getRecording(deps, conversationId, context);
      // A trimmed recording starts with the transcript window, so only the full recording needs its start (T4).
      const start = kind === 'full' ? await findRecordingStart(db, { conversationId, objectKey }) : undefined;
      const request = { conversation_id: conversationId, video_started_at: start?.started_at ?? null };
      const reply = await bus.callRaw(transcripts.rpcs.caption, request, withoutActor(context));
      const body = reply.kind === 'bytes' ? rawBytes(reply.bytes) : byteStream(reply.chunks);
      return reply.digest === undefined ? body : withDigest(body, reply.digest);
    },
    getAudioMetadata: async ({ conversation_id: conversationId }) => {
      const audio = await findAudioFile(db, { conversationId });
      if (audio === undefined) return { audio: null, sha256: null };
      const { path, name, content_type, size_bytes, source, created_at, sha256 } = audio;
      return { audio: { path, name, content_type, size_bytes, source, created_at }, sha256 };
    },
  };
}

/**
 * Returns the recording to display. @throws AppError 404 without a recording, or when the caller cannot see the
 * conversation
 */
async function getRecording(
  { db, bus }: Pick<Dependencies, 'db' | 'bus'>,
  conversationId: number,
  context: CallContext,
) {
  await bus.call(conversations.rpcs.exists, { id: conversationId }, context);
  const recording = chooseRecording(await listRecordings(db, { conversationId }));
  if (recording === undefined) throw notFound();
  return recording;
}

type DownloadDependencies = Pick<Dependencies, 'db' | 'bus' | 'store' | 'logger'>;

/**
 * Returns the handler that sends the audio of a conversation. @throws AppError 404 without audio, or when the caller
 * cannot see the conversation
 */
export function createDownloadAudio(
  deps: DownloadDependencies,
): (exchange: Exchange, conversationId: number) => Promise<void> {
  return async (exchange, conversationId) => {
    await deps.bus.call(conversations.rpcs.exists, { id: conversationId }, exchange.context);
    const audio = await findAudioFile(deps.db, { conversationId });
    if (audio === undefined) throw notFound();
    const { path: objectKey, name, content_type: contentType, size_bytes: sizeBytes, sha256 } = audio;
    const options = { cacheControl: 'private, no-cache', disposition: 'attachment' } as const;
    await serveFile(deps, exchange, { objectKey, name, contentType, sizeBytes, sha256, ...options });
  };
}

/** Returns the handler that sends a file which requires no token. @throws AppError 404 */
export function createServePublicFile(
  deps: DownloadDependencies,
): (exchange: Exchange, objectKey: string, query: URLSearchParams) => Promise<void> {
  return async (exchange, key, query) => {
    const file = await findPublicFile(deps.db, { objectKey: key });
    if (file === undefined) throw notFound();
    const { object_key: objectKey, name, content_type: contentType, size_bytes: sizeBytes, sha256 } = file;
    // A URL with the current marker always returns the same bytes. Any other URL is revalidated on each request.
    const isImmutable = query.get('v') === versionMarker({ objectKey, sha256 });
    const options = {
      cacheControl: isImmutable ? 'public, max-age=31536000, immutable' : 'public, no-cache',
      disposition: 'inline',
    } as const;
    await serveFile(deps, exchange, { objectKey, name, contentType, sizeBytes, sha256, ...options });
  };
}
