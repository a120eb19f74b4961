/**
 * The transcript and its import evidence (rules/transcripts#transcript-file, rules/transcripts#import-evidence; D24,
 * D24a, T1, T5).
 */
import { route, type RouteFormat, Type } from '#libs/infrastructure/contract';
import {
  importEvidence,
  transcriptSearchFilters,
  TranscriptMatches,
  Transcript,
  type TranscriptFormat,
  transcriptFormats,
  transcriptPart,
  transcripts,
} from '#services/transcripts';

const params = Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) });

export const transcriptRoutes = [
  route({
    method: 'GET',
    path: '/api/coherence/conversations/{conversation_id}/transcript',
    operationId: 'downloadTranscript',
    tag: 'conversations',
    summary: 'Download the transcript',
    description:
      'As Markdown: metadata of the conversation and all speakers in chronological order, consecutive utterances of one speaker merged, with the ' +
      "time (`MM:SS` from the conversation's start, minutes can exceed 59) of the first utterance. JSON, WebVTT, SubRip and plain text: one entry per " +
      'utterance. `format` selects the format, then the header `Accept`; default: Markdown.',
    auth: 'shared-or-user',
    scope: 'transcripts:read',
    params,
    query: Type.Object({
      person_id: Type.Optional(
        Type.Integer({
          description:
            'Only this speaker: a person id, or the negative id of an unresolved speaker, as stored with the transcript.',
        }),
      ),
      format: Type.Optional(
        Type.Enum(transcriptFormats, { description: 'Overrides the header `Accept`. Default: `md`.' }),
      ),
      ...transcriptPart,
    }),
    rpc: transcripts.rpcs.render,
    etag: true,
    deadlineMs: 60_000,
    formats: {
      md: { contentType: 'text/markdown; charset=utf-8', schema: Type.String() },
      json: { contentType: 'application/json', schema: Transcript },
      vtt: { contentType: 'text/vtt; charset=utf-8', schema: Type.String() },
      srt: { contentType: 'application/x-subrip', schema: Type.String() },
      txt: { contentType: 'text/plain; charset=utf-8', schema: Type.String() },
    } satisfies Record<TranscriptFormat, RouteFormat>,
    responseHeaders: ({ params: { conversation_id: id }, query: { format = 'md' } }) => ({
      'Content-Disposition': `attachment; filename=conversation-${id}.${format}`,
    }),
    replies: { 200: { description: 'UTF-8 text in the format.' } },
    errors: {
      not_found: {
        code: 'not_found',
        when: 'The conversation does not exist, or the speaker has no utterances in it.',
      },
    },
  }),
  route({
    method: 'GET',
    path: '/api/coherence/transcripts/search',
    operationId: 'searchTranscripts',
    tag: 'conversations',
    summary: 'Search transcripts',
    description:
      'Utterances that contain all words of `q`, best first, then newest, in conversations that the caller can read. Supports `"a phrase"`, ' +
      '`-excluded` and `prefix*`; case and accents are ignored. Erased people are not found.',
    auth: 'user',
    scope: 'transcripts:read',
    query: Type.Object(transcriptSearchFilters),
    rpc: transcripts.rpcs.search,
    replies: { 200: { description: 'The matches.', schema: TranscriptMatches } },
    errors: { not_found: { code: 'not_found', when: 'The target of a filter does not exist.' } },
  }),
  route({
    method: 'GET',
    path: '/api/coherence/conversations/{conversation_id}/transcript/import-evidence',
    operationId: 'readImportEvidence',
    tag: 'conversations',
    summary: 'Read the import evidence',
    description:
      'Aggregates and digests only: no rows, no text, no speakers of excluded sentences. Does not run an import.',
    auth: 'shared-or-user',
    scope: 'transcripts:read',
    params,
    rpc: transcripts.rpcs.getEvidence,
    etag: true,
    replies: { 200: { description: 'The import evidence.', schema: importEvidence } },
    errors: { not_found: { code: 'not_found', when: 'The conversation does not exist.' } },
  }),
];
