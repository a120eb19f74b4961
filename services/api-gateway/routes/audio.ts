/** Upload and download of the canonical audio (rules/media#audio-upload, rules/media#audio-download; D27). */
import { route, Type } from '#libs/contract';
import { dataErrors } from '#services/conversations';
import { AudioMetadata, audioUploadErrors, mediaPaths } from '#services/media';

const path = '/api/coherence/conversations/{conversation_id}/audio';
const params = Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) });
const rangeHeaders = Type.Object({
  Range: Type.Optional(Type.String({ description: 'One range of bytes, e.g. `bytes=0-1023`.' })),
  'If-Range': Type.Optional(Type.String({ description: 'The range counts only while the file has this ETag.' })),
  'If-None-Match': Type.Optional(Type.String({ description: '304 when the file has one of these ETags.' })),
});

export const audioRoutes = [
  route({
    method: 'POST',
    path,
    operationId: 'uploadAudio',
    tag: 'conversations',
    summary: 'Upload and replace the canonical audio',
    description:
      'The previous audio stays until the new one is stored completely. Adds a note with the acting user, the file name and the byte count. ' +
      'A later upload becomes the audio of a future transcription run; it does not rewrite an existing transcript.',
    auth: 'user',
    scope: 'media:write',
    params,
    upload: { part: 'audio', description: 'aac, flac, m4a, mp3, oga, ogg, opus, wav or webm; at most 500 MiB.' },
    handler: 'media',
    forwardTo: ({ params: { conversation_id } }) => mediaPaths.conversationAudio(conversation_id),
    status: 201,
    deadlineMs: 3_600_000,
    replies: { 201: { description: 'The metadata, as stored under `infos.audio`.', schema: AudioMetadata } },
    errors: { ...audioUploadErrors, ...dataErrors, not_found: { code: 'not_found', when: 'No such conversation.' } },
  }),
  route({
    method: 'GET',
    path,
    operationId: 'downloadAudio',
    tag: 'conversations',
    summary: 'Download the canonical audio',
    description: 'Streams the stored file. Of several ranges the whole file is sent.',
    auth: 'shared-or-user',
    scope: 'media:read',
    params,
    headers: rangeHeaders,
    etag: true,
    handler: 'media',
    forwardTo: ({ params: { conversation_id } }) => mediaPaths.conversationAudio(conversation_id),
    replies: {
      200: { description: 'The file.', contentType: 'audio/*', schema: Type.String({ format: 'binary' }) },
      206: { description: 'The range that was asked for.', contentType: 'audio/*', schema: Type.String({ format: 'binary' }) },
      416: { description: 'No requested range lies in the file.' },
    },
    errors: { not_found: { code: 'not_found', when: 'No such conversation, no audio, or the file is missing.' } },
  }),
];
