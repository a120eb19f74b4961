/** Contract of downloads: metadata of stored audio, the recording to display, and captions. */
import { byClients, withoutActor, rpc, Type } from '#libs/infrastructure/contract';
import { AudioMetadata, id } from '../schemas.ts';

/** Reply of `GET /conversations/{id}/video` (rules/media#video; D27). */
export const Video = Type.Object(
  {
    url: Type.String({
      description:
        'Relative media path with a marker `?v=` that changes with the file. It needs no token and cannot be guessed.',
    }),
    name: Type.String({ description: 'Name of the stored file.' }),
  },
  { $id: 'Video', description: 'Where the recording can be downloaded.' },
);

export const downloadRpcs = {
  getAudioMetadata: rpc({
    subject: 'media.audio.get-meta',
    callers: { transcripts: withoutActor },
    summary: 'Metadata and digest of the audio of a conversation; null without audio.',
    request: Type.Object({ conversation_id: id }),
    reply: Type.Object({
      audio: Type.Union([AudioMetadata, Type.Null()]),
      sha256: Type.Union([Type.String({ description: 'SHA-256 of the bytes, lower-case hex.' }), Type.Null()]),
    }),
  }),
  getVideo: rpc({
    subject: 'media.recordings.get-video',
    callers: byClients,
    summary:
      'Address and name of the recording to show: an unfinalised trimmed one, else the full one, else the trimmed one.',
    request: Type.Object({ conversation_id: id }),
    reply: Video,
  }),
  getCaptions: rpc({
    subject: 'media.recordings.get-captions',
    callers: byClients,
    summary: 'WebVTT captions of the recording to show (T4). 404 without a recording or transcript.',
    request: Type.Object({ conversation_id: id }),
    reply: Type.String({ description: 'UTF-8 WebVTT, as raw bytes rather than a JSON string.' }),
    timeoutMs: 60_000,
  }),
};
