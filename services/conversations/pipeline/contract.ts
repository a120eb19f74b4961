/** Contract of the reports of pipeline workers, and of the list of conversations in pipeline steps (P5). */
import { byUsers, job, notAnOperator, nullable, rpc, type Static, Type } from '#libs/infrastructure/contract';
import { Id } from '../schemas.ts';

export const PublishingPatch = Type.Object(
  {
    fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    records: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    artifacts: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  {
    description:
      'Values for the groups of `infos.publishing` (D18a). Artifacts are replaced. Fields and records that a person wrote, i.e. without a provenance envelope, are preserved.',
  },
);

export const pipelineJobs = {
  advanceStep: job({
    type: 'conversations.advance-step',
    summary:
      "Advances a conversation after its step's pipeline job succeeded, if the step is still the current one (D6).",
    payload: Type.Object({
      conversation_id: Id,
      step_id: Id,
      cause: Type.String({ description: 'Pipeline job that finished.' }),
    }),
    policy: { timeoutMs: 30_000, concurrency: 4 },
  }),
  pipelineFinished: job({
    type: 'conversations.pipeline-finished',
    startedBy: ['agents', 'media', 'transcripts'],
    summary:
      'Outcome of a pipeline job: note, values to publish, and whether to advance the step (rules/steps#pipeline-jobs).',
    payload: Type.Object({
      conversation_id: Id,
      step_id: nullable(Id),
      pipeline_job: Type.String({ description: 'Name of the job, e.g. `recording_import`.' }),
      note_key: Type.String({ description: 'Notes with the same key are added once.' }),
      note: nullable(Type.String()),
      advance: Type.Boolean({ description: 'Advance if the step is still the current one (D6).' }),
      publishing: Type.Optional(PublishingPatch),
    }),
    policy: { maxAttempts: 20, timeoutMs: 30_000, concurrency: 4 },
  }),
  wordsErased: job({
    type: 'conversations.words-erased',
    startedBy: ['transcripts'],
    summary:
      'Adds a note when words were erased from a transcript after texts had been generated from it (rules/cli#admin-cli).',
    payload: Type.Object({ conversation_id: Id }),
    policy: { maxAttempts: Infinity, firstDelayMs: 1_000, maxDelayMs: 300_000, timeoutMs: 30_000, concurrency: 2 },
  }),
} as const;

const PipelineEntry = Type.Object({
  entry_id: Type.Integer({ description: 'Id of the entry; entries are ordered by `since`, then by it.' }),
  conversation_id: Id,
  journey: Type.String({ description: 'Slug.' }),
  step: Type.String({ description: 'Slug.' }),
  since: Type.String({ format: 'date-time', description: 'When the conversation entered the step.' }),
  pipeline_job: Type.String({ description: 'Name of the job of the step, e.g. `transcript_import`.' }),
});
export type PipelineEntry = Static<typeof PipelineEntry>;

export const pipelineRpcs = {
  listPipelines: rpc({
    subject: 'conversations.operations.list-pipelines',
    callers: byUsers,
    summary: 'Conversations in steps with a pipeline job, latest entry first.',
    request: Type.Object({
      journey: Type.Optional(Type.String({ maxLength: 200 })),
      step: Type.Optional(Type.String({ maxLength: 200 })),
      conversation_id: Type.Optional(Type.Integer()),
      conversation_ids: Type.Optional(Type.Array(Id, { maxItems: 500, description: 'Only these conversations.' })),
      before: Type.Optional(Type.Integer({ description: 'Only entries listed after this one.' })),
      limit: Type.Integer({ minimum: 1, maximum: 500 }),
    }),
    reply: Type.Object({
      items: Type.Array(PipelineEntry),
      read: nullable(Type.Integer({ description: 'Cursor for `before`; null at the end.' })),
      is_known: Type.Boolean({ description: 'Whether the requested conversation exists.' }),
    }),
    errors: notAnOperator,
  }),
} as const;
