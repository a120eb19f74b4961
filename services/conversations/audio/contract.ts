/** Contract: the audio of a conversation, for the media service. */
import { job, nullable, withoutActor, rpc, Type } from '#libs/contract';
import { dataErrors, Id } from '../schemas.ts';

export const AudioMetadata = Type.Object(
  {
    path: Type.String(),
    name: Type.String(),
    content_type: Type.String(),
    size_bytes: Type.Integer({ minimum: 0 }),
    source: Type.String(),
    created_at: Type.String(),
  },
  { description: 'What is stored under `infos.audio` (rules/media#audio-upload).' },
);

export const AudioAttachment = Type.Object({
  conversation_id: Id,
  blob_id: Type.Integer({ minimum: 1, description: 'Rises with every upload: an older one never replaces a newer one.' }),
  audio: AudioMetadata,
  actor_account_id: nullable(Type.Integer()),
  actor_person_id: nullable(Type.Integer({ description: 'Author of the note.' })),
  note: Type.Optional(Type.Boolean({ description: 'False: no note, as the file came by bulk import. Default true.' })),
});

export const audioRpcs = {
  attachAudio: rpc({
    subject: 'conversations.audio.attach',
    callers: { media: withoutActor },
    summary: 'Sets `infos.audio` and adds the note of the upload; once per blob. 404 when the conversation is absent.',
    request: AudioAttachment,
    reply: Type.Object({ audio: AudioMetadata }),
    errors: dataErrors,
  }),
  checkAudio: rpc({
    subject: 'conversations.audio.check',
    callers: { media: withoutActor },
    summary: 'Whether `infos.audio` may become this; asked before an upload is made the audio. 404 when the conversation is absent.',
    request: Type.Object({ conversation_id: Id, audio: AudioMetadata }),
    reply: Type.Object({ ok: Type.Literal(true) }),
    errors: dataErrors,
  }),
} as const;

export const audioJobs = {
  attachAudio: job({
    type: 'conversations.attach-audio',
    startedBy: ['media'],
    summary: 'As the operation, for when it could not be reached.',
    payload: AudioAttachment,
    policy: { maxAttempts: 20, timeoutMs: 30_000, concurrency: 2 },
  }),
} as const;
