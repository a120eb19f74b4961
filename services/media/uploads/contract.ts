/** Contract of uploads: limits of audio, and operations of the bulk import. */
import { byOperators, rpc, Type, withoutActor } from '#libs/infrastructure/contract';
import type { ErrorReasons } from '#libs/infrastructure/contract';
import { id, StoredFile } from '../schemas.ts';

/**
 * Allowed extensions of audio uploads in lower case. Upper-case extensions are accepted too (rules/http#limits; D27).
 */
export const audioExtensions = ['aac', 'flac', 'm4a', 'mp3', 'oga', 'ogg', 'opus', 'wav', 'webm'] as const;

/** Maximum size of an audio file in bytes: 500 MiB, inclusive (rules/http#limits; D27). */
export const maxAudioBytes = 524_288_000;

/** Errors of an audio upload with their reasons (rules/media#audio-upload). */
export const audioUploadErrors: ErrorReasons = Object.freeze({
  invalid_conversation_audio: {
    code: 'bad_request',
    when: 'The extension is not allowed, or the file is empty or over 524 288 000 bytes.',
  },
});

/** Maximum size of a recording in bytes: 10 000 parts of 5 MiB, the limit of a multipart upload. */
export const maxRecordingBytes = 10_000 * 5_242_880;

export const uploadRpcs = {
  listFiles: rpc({
    subject: 'media.files.list-many',
    callers: { cli: withoutActor, directory: withoutActor },
    summary: 'Lists audio and recordings of conversations, for the bulk import and exports of people.',
    request: Type.Object({ conversation_ids: Type.Array(id, { maxItems: 10_000 }) }),
    reply: Type.Object({ items: Type.Array(StoredFile) }),
  }),
  setFinalized: rpc({
    subject: 'admin.media.recordings.set-finalized',
    callers: byOperators,
    audit: 'recording.set-finalized',
    summary: 'Marks trimmed recordings as finalised or not (D27). Conversations without one are skipped.',
    request: Type.Object({
      items: Type.Array(Type.Object({ conversation_id: id, finalized: Type.Boolean() }), { maxItems: 10_000 }),
    }),
    reply: Type.Object({ changed: Type.Array(id, { description: 'Conversations whose recording was changed.' }) }),
  }),
};
