/** Address of the recording, and the media path itself (rules/media#video; D27, T4). */
import { route, Type } from '#libs/contract';
import { media, mediaPaths } from '#services/media';

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
    errors: { not_found: { code: 'not_found', when: 'The conversation does not exist, or has no stored recording or no transcript.' } },
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
    query: Type.Object({ v: text('Marker of the file version. With the current marker the response is cacheable without expiry.') }),
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
