/** The transcript and its import evidence (rules/transcripts#transcript-file, rules/transcripts#import-evidence; D24, D24a). */
import { route, Type } from '#libs/contract';
import { importEvidence, transcripts } from '#services/transcripts';

const params = Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) });

export const transcriptRoutes = [
  route({
    method: 'GET',
    path: '/api/coherence/conversations/{conversation_id}/transcript',
    operationId: 'downloadTranscript',
    tag: 'conversations',
    summary: 'Download the transcript as Markdown',
    description:
      'Metadata of the conversation and all speakers in chronological order. Consecutive utterances of one speaker are one run with the time ' +
      "(`MM:SS` from the conversation's start, minutes past 59 go on) of its first utterance.",
    auth: 'shared-or-user',
    params,
    query: Type.Object({
      person_id: Type.Optional(
        Type.Integer({
          description: 'Only this speaker: a person id, or the negative id of an unresolved speaker, as stored with the transcript.',
        }),
      ),
    }),
    rpc: transcripts.rpcs.render,
    etag: true,
    deadlineMs: 60_000,
    responseHeaders: ({ params: { conversation_id: id } }) => ({
      'Content-Disposition': `attachment; filename=conversation-${id}.md`,
    }),
    replies: { 200: { description: 'UTF-8 Markdown.', contentType: 'text/markdown; charset=utf-8', schema: Type.String() } },
    errors: { not_found: { code: 'not_found', when: 'No such conversation, or the speaker has no utterances in it.' } },
  }),
  route({
    method: 'GET',
    path: '/api/coherence/conversations/{conversation_id}/transcript/import-evidence',
    operationId: 'readImportEvidence',
    tag: 'conversations',
    summary: 'Read what the transcript importer did',
    description: 'Aggregates and digests only: no rows, no text, nothing about who spoke an excluded sentence. Never runs an import.',
    auth: 'shared-or-user',
    params,
    rpc: transcripts.rpcs.getEvidence,
    etag: true,
    replies: { 200: { description: 'The import evidence.', schema: importEvidence } },
    errors: { not_found: { code: 'not_found', when: 'No such conversation.' } },
  }),
];
