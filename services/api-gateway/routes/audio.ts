/** Upload and download of the canonical audio (rules/media#audio-upload, rules/media#audio-download; D27). */
import { route, Type } from '#libs/contract';
import { dataErrors } from '#services/conversations';
import { AudioMetadata, audioUploadErrors, mediaPaths } from '#services/media';

const path = '/api/coherence/conversations/{conversation_id}/audio';
const params = Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) });
const rangeHeaders = Type.Object({
  Range: Type.Optional(Type.String({ description: 'One range of bytes, e.g. `bytes=0-1023`.' })),
  'If-Range': Type.Optional(Type.String({ description: 'The range applies only if the file still has this ETag.' })),
  'If-None-Match': Type.Optional(Type.String({ description: 'Returns 304 if the file has one of these ETags.' })),
});

export const audioRoutes = [
  route({
    method: 'POST',
    path,
    operationId: 'uploadAudio',
    tag: 'conversations',
    summary: 'Upload and replace the canonical audio',
    description:
      'The previous audio remains until the new one is stored. Adds a note with the acting user, the file name and the byte count. ' +
      'Future transcription runs use the new audio; an existing transcript does not change.',
    auth: 'user',
    scope: 'media:write',
    params,
    upload: { part: 'audio', description: 'aac, flac, m4a, mp3, oga, ogg, opus, wav or webm; at most 500 MiB.' },
    handler: 'media',
    forwardTo: ({ params: { conversation_id } }) => mediaPaths.conversationAudio(conversation_id),
    status: 201,
    deadlineMs: 3_600_000,
    replies: { 201: { description: 'The metadata, as stored under `infos.audio`.', schema: AudioMetadata } },
    errors: { ...audioUploadErrors, ...dataErrors, not_found: { code: 'not_found', when: 'The conversation does not exist.' } },
  }),
  route({
    method: 'GET',
    path,
    operationId: 'downloadAudio',
    tag: 'conversations',
    summary: 'Download the canonical audio',
    description: 'Streams the stored file. Requests for several ranges return the whole file.',
    auth: 'shared-or-user',
    scope: 'media:read',
    params,
    headers: rangeHeaders,
    etag: true,
    handler: 'media',
    forwardTo: ({ params: { conversation_id } }) => mediaPaths.conversationAudio(conversation_id),
    replies: {
      200: { description: 'The file.', contentType: 'audio/*', schema: Type.String({ format: 'binary' }) },
      206: { description: 'The requested range.', contentType: 'audio/*', schema: Type.String({ format: 'binary' }) },
      416: { description: 'The requested range is outside the file.' },
    },
    errors: { not_found: { code: 'not_found', when: 'The conversation or its audio does not exist, or the file is missing.' } },
  }),
];
