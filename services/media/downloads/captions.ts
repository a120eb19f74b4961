/** Captions of a recording (T4): the transcript's, moved to where its window lies in the file. */
import {
  byteStream,
  ownContext,
  rawBytes,
  withDigest,
  type Bus,
  type CallContext,
  type JsonStream,
  type RawJson,
  type TaggedReply,
} from '#libs/nats';
import type { Queryable } from '#libs/sql';
import { transcripts } from '#services/transcripts';
import { findRecordingStart } from '../file-statements.ts';
import type { RecordingKind } from '../schemas.ts';

export interface CaptionDependencies {
  readonly db: Queryable;
  readonly bus: Bus;
}

/** WebVTT. @throws AppError 404 without a transcript */
export async function readCaptions(
  { db, bus }: CaptionDependencies,
  conversationId: number,
  recording: { readonly kind: RecordingKind; readonly object_key: string },
  context: CallContext,
): Promise<RawJson | JsonStream | TaggedReply<RawJson | JsonStream>> {
  // A trimmed recording begins with the window.
  const isWhole = recording.kind === 'full';
  const start = isWhole ? await findRecordingStart(db, { conversationId, objectKey: recording.object_key }) : undefined;
  const request = { conversation_id: conversationId, video_started_at: start?.started_at ?? null };
  const reply = await bus.callRaw(transcripts.rpcs.caption, request, ownContext(context));
  const body = reply.kind === 'bytes' ? rawBytes(reply.bytes) : byteStream(reply.chunks);
  return reply.digest === undefined ? body : withDigest(body, reply.digest);
}
