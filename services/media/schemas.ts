/** Schemas shared by the contracts of several features. */
import { rowId, type Static, Type } from '#libs/infrastructure/contract';

export const id = rowId;
export const nullableId = Type.Union([Type.Integer(), Type.Null()]);

/** Schema of `infos.audio`, and of the reply of an upload (rules/media#audio-upload; D27). */
export const AudioMetadata = Type.Object(
  {
    path: Type.String({
      description: "Key of the object in the platform's store; it cannot be guessed and is not an address.",
    }),
    name: Type.String({ description: 'Base name of the uploaded file.' }),
    content_type: Type.String({ description: "Media type by the file's extension, e.g. `audio/mpeg`." }),
    size_bytes: Type.Integer({ description: 'Size of the file in bytes.' }),
    source: Type.String({ description: 'Where the file came from: `upload`.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the upload finished.' }),
  },
  { $id: 'AudioMetadata', description: 'Metadata of the audio of a conversation.' },
);
export type AudioMetadata = Static<typeof AudioMetadata>;

/** Kinds of recordings as they appear in paths: the full recording and the trimmed recording. */
export const recordingKinds = ['full', 'front_trimmed'] as const;
export type RecordingKind = (typeof recordingKinds)[number];

/** A stored file of a conversation, with the fields that the bulk import compares. */
export const StoredFile = Type.Object({
  conversation_id: id,
  kind: Type.Enum(['audio', ...recordingKinds]),
  name: Type.String(),
  size_bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ description: 'Lower-case hex.' }),
  finalized: Type.Boolean(),
});
export type StoredFile = Static<typeof StoredFile>;

/** Maximum size of a logo in bytes: 5 MB, inclusive (rules/http#limits; D51). */
export const maxLogoBytes = 5_242_880;
