/** Stored files: what is told of them over NATS, and their bytes over HTTP (rules/media#video, rules/media#audio-download). */
import { notFound } from '#libs/errors';
import type { Logger } from '#libs/logger';
import type { CallContext, Handlers } from '#libs/nats';
import type { ObjectStore } from '#libs/object-store';
import type { Database } from '#libs/orm';
import type { media } from '../contract.ts';
import { findPublicFile, listRecordings } from '../file-statements.ts';
import type { Exchange } from '../http/index.ts';
import { markerOf, mediaAddress } from '../media-address.ts';
import { chooseRecording } from '../recording-file.ts';
import { serveFile } from './serve-file.ts';
import { type CaptionDependencies, readCaptions } from './captions.ts';
import { findAudio } from './statements.ts';

export interface DownloadDependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly logger: Logger;
  /** Only what a conversation shows of itself to the caller is shown of its files. @throws AppError 404 */
  readonly requireConversation: (id: number, context: CallContext) => Promise<unknown>;
}

export function createDownloadHandlers({
  db,
  bus,
  requireConversation,
}: CaptionDependencies & Pick<DownloadDependencies, 'requireConversation'>): Pick<
  Handlers<typeof media>,
  'getVideo' | 'getCaptions' | 'getAudioMetadata'
> {
  return {
    getVideo: async ({ conversation_id: conversationId }, context) => {
      await requireConversation(conversationId, context);
      const recording = chooseRecording(await listRecordings(db, { conversationId }));
      if (recording === undefined) throw notFound();
      return { url: mediaAddress({ objectKey: recording.object_key, sha256: recording.sha256 }), name: recording.name };
    },
    getCaptions: async ({ conversation_id: conversationId }, context) => {
      await requireConversation(conversationId, context);
      const recording = chooseRecording(await listRecordings(db, { conversationId }));
      if (recording === undefined) throw notFound();
      return await readCaptions({ db, bus }, conversationId, recording, context);
    },
    getAudioMetadata: async ({ conversation_id: conversationId }) => {
      const found = await findAudio(db, { conversationId });
      if (found === undefined) return { audio: null, sha256: null };
      const { path, name, content_type, size_bytes, source, created_at, sha256 } = found;
      return { audio: { path, name, content_type, size_bytes, source, created_at }, sha256 };
    },
  };
}

/** The bytes of the canonical audio, to those who may see the conversation. @throws AppError 404 */
export function createDownloadAudio(deps: DownloadDependencies): (exchange: Exchange, conversationId: number) => Promise<void> {
  return async (exchange, conversationId) => {
    await deps.requireConversation(conversationId, exchange.context);
    const audio = await findAudio(deps.db, { conversationId });
    if (audio === undefined) throw notFound();
    const { path: objectKey, name, content_type: contentType, size_bytes: sizeBytes, sha256 } = audio;
    const served = { cacheControl: 'private, no-cache', disposition: 'attachment' } as const;
    await serveFile(deps, exchange, { objectKey, name, contentType, sizeBytes, sha256, ...served });
  };
}

/** The bytes of a file that needs no token. @throws AppError 404 */
export function createServePublicFile(
  deps: Omit<DownloadDependencies, 'requireConversation'>,
): (exchange: Exchange, objectKey: string, query: URLSearchParams) => Promise<void> {
  return async (exchange, key, query) => {
    const found = await findPublicFile(deps.db, { objectKey: key });
    if (found === undefined) throw notFound();
    const { object_key: objectKey, name, content_type: contentType, size_bytes: sizeBytes, sha256 } = found;
    // The marker names these bytes for ever; any other address is asked about each time.
    const isMarked = query.get('v') === markerOf({ objectKey, sha256 });
    const served = {
      cacheControl: isMarked ? 'public, max-age=31536000, immutable' : 'public, no-cache',
      disposition: 'inline',
    } as const;
    await serveFile(deps, exchange, { objectKey, name, contentType, sizeBytes, sha256, ...served });
  };
}
