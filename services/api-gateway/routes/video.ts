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
    summary: 'Address and name of the recording',
    description:
      'A front-trimmed recording that is not finalized takes precedence over the full recording. The address is downloaded directly, without ' +
      'a token and with ranges; its marker `?v=` changes with the file.',
    auth: 'shared-or-user',
    scope: 'media:read',
    params: Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) }),
    etag: true,
    rpc: media.rpcs.getVideo,
    replies: { 200: { description: 'Where the recording can be downloaded.', schema: media.rpcs.getVideo.reply } },
    errors: { not_found: { code: 'not_found', when: 'No such conversation, or it has no stored recording.' } },
  }),
  route({
    method: 'GET',
    path: '/api/coherence/conversations/{conversation_id}/captions.vtt',
    operationId: 'downloadCaptions',
    tag: 'conversations',
    summary: 'Download captions of the recording',
    description:
      'WebVTT of the transcript with the times of the recording that the conversation shows: one that was not trimmed begins before the ' +
      'conversation, and its captions are as much later.',
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
    errors: { not_found: { code: 'not_found', when: 'No such conversation, or it has no stored recording or no transcript.' } },
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
    query: Type.Object({ v: text('Marker of the file; with the right one the answer may be kept for ever.') }),
    headers: Type.Object({
      Range: text('One range of bytes.'),
      'If-Range': text('The range counts only while the file has this ETag.'),
      'If-None-Match': text('304 when the file has one of these ETags.'),
    }),
    etag: true,
    handler: 'media',
    forwardTo: ({ params, query: { v } }) => {
      const path = mediaPaths.file(params);
      return v === undefined ? path : `${path}?v=${encodeURIComponent(v)}`;
    },
    replies: {
      200: { description: 'The file.', contentType: 'video/*', schema: Type.String() },
      206: { description: 'The range that was asked for.', contentType: 'video/*', schema: Type.String() },
      416: { description: 'No requested range lies in the file.' },
    },
    errors: { not_found: { code: 'not_found', when: 'No such file.' } },
  }),
];
