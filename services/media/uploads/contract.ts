/** Uploads of audio, and the files of the bulk import. */
import { byOperators, rpc, Type } from '#libs/contract';
import type { ErrorReasons } from '#libs/contract';
import { id, StoredFile } from '../schemas.ts';

/** Extensions that an audio upload may have, in lower case (rules/http#limits); case is ignored (D27). */
export const audioExtensions = ['aac', 'flac', 'm4a', 'mp3', 'oga', 'ogg', 'opus', 'wav', 'webm'] as const;

/** Largest audio file in bytes: 500 MiB, exactly that is accepted (rules/http#limits; D27). */
export const maxAudioBytes = 524_288_000;

/** Application errors of the upload (rules/media#audio-upload). */
export const audioUploadErrors: ErrorReasons = Object.freeze({
  invalid_conversation_audio: {
    code: 'bad_request',
    when: 'The extension is not allowed, or the file is empty or over 524 288 000 bytes.',
  },
});

/** Largest recording in bytes: what an upload in parts of 5 MiB can hold. */
export const maxRecordingBytes = 10_000 * 5_242_880;

export const uploadRpcs = {
  listFiles: rpc({
    subject: 'admin.media.files.list-many',
    callers: byOperators,
    summary: 'Audio and recordings that conversations have at present; for the bulk import.',
    request: Type.Object({ conversation_ids: Type.Array(id, { maxItems: 10_000 }) }),
    reply: Type.Object({ items: Type.Array(StoredFile) }),
  }),
  setFinalized: rpc({
    subject: 'admin.media.recordings.set-finalized',
    callers: byOperators,
    audit: 'recording.set-finalized',
    summary: 'Marks the trimmed recordings of conversations as finalised or not (D27); those without one are left out.',
    request: Type.Object({
      items: Type.Array(Type.Object({ conversation_id: id, finalized: Type.Boolean() }), { maxItems: 10_000 }),
    }),
    reply: Type.Object({ changed: Type.Array(id, { description: 'Conversations whose recording was another before.' }) }),
  }),
};
