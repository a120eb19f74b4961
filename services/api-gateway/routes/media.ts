/** Canonical audio, recordings, captions and the media path (rules/media; D27, T4). */
import { route, Type } from '#libs/infrastructure/contract';
import { dataErrors } from '#services/conversations';
import { AudioMetadata, audioUploadErrors, media, mediaPaths } from '#services/media';

const audioPath = '/api/coherence/conversations/{conversation_id}/audio';
const params = Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) });
const rangeHeaders = Type.Object({
  Range: Type.Optional(Type.String({ description: 'One range of bytes, e.g. `bytes=0-1023`.' })),
  'If-Range': Type.Optional(Type.String({ description: 'The range applies only if the file still has this ETag.' })),
  'If-None-Match': Type.Optional(Type.String({ description: 'Returns 304 if the file has one of these ETags.' })),
});

export const audioRoutes = [
  route({
    method: 'POST',
    path: audioPath,
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
    errors: {
      ...audioUploadErrors,
      ...dataErrors,
      not_found: { code: 'not_found', when: 'The conversation does not exist.' },
    },
  }),
  route({
    method: 'GET',
    path: audioPath,
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
    errors: {
      not_found: { code: 'not_found', when: 'The conversation or its audio does not exist, or the file is missing.' },
    },
  }),
];

const text = (description: string) => Type.Optional(Type.String({ description }));

export const videoRoutes = [
  route({
    method: 'GET',
    path: '/api/coherence/conversations/{conversation_id}/video',
    operationId: 'getVideo',
    tag: 'conversations',
    summary: 'Get the URL and name of the recording',
    description:
      'A front-trimmed recording that is not finalized takes precedence over the full recording. The URL needs no token and supports ranges; ' +
      'its marker `?v=` changes with the file.',
    auth: 'shared-or-user',
    scope: 'media:read',
    params: Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) }),
    etag: true,
    rpc: media.rpcs.getVideo,
    replies: { 200: { description: 'URL and name of the recording.', schema: media.rpcs.getVideo.reply } },
    errors: { not_found: { code: 'not_found', when: 'The conversation does not exist or has no stored recording.' } },
  }),
  route({
    method: 'GET',
    path: '/api/coherence/conversations/{conversation_id}/captions.vtt',
    operationId: 'downloadCaptions',
    tag: 'conversations',
    summary: 'Download captions of the recording',
    description:
      'WebVTT of the transcript. Times are relative to the current recording: an untrimmed recording starts before the ' +
      'conversation, so its captions start later.',
    auth: 'shared-or-user',
    scope: 'media:read',
    params: Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) }),
    etag: true,
    deadlineMs: 60_000,
    rpc: media.rpcs.getCaptions,
    responseHeaders: ({ params: { conversation_id: id } }) => ({
      'Content-Disposition': `attachment; filename=conversation-${id}.vtt`,
    }),
    replies: { 200: { description: 'UTF-8 WebVTT.', contentType: 'text/vtt; charset=utf-8', schema: Type.String() } },
    errors: {
      not_found: {
        code: 'not_found',
        when: 'The conversation does not exist, or has no stored recording or no transcript.',
      },
    },
  }),
  route({
    method: 'GET',
    path: '/media/{folder}/{owner}/{file}',
    operationId: 'downloadMedia',
    tag: 'media',
    summary: 'Download a file that needs no token',
    auth: 'none',
    documented: false,
    params: Type.Object({ folder: Type.String(), owner: Type.String(), file: Type.String() }),
    query: Type.Object({
      v: text('Marker of the file version. With the current marker the response is cacheable without expiry.'),
    }),
    headers: Type.Object({
      Range: text('One range of bytes.'),
      'If-Range': text('The range applies only if the file still has this ETag.'),
      'If-None-Match': text('Returns 304 if the file has one of these ETags.'),
    }),
    etag: true,
    handler: 'media',
    forwardTo: ({ params, query: { v } }) => {
      const path = mediaPaths.file(params);
      return v === undefined ? path : `${path}?v=${encodeURIComponent(v)}`;
    },
    replies: {
      200: { description: 'The file.', contentType: 'video/*', schema: Type.String() },
      206: { description: 'The requested range.', contentType: 'video/*', schema: Type.String() },
      416: { description: 'The requested range is outside the file.' },
    },
    errors: { not_found: { code: 'not_found', when: 'The file does not exist.' } },
  }),
];
