/** Contract: conversations that are in a step with a pipeline job, for operators (P5). */
import { byOperators, byUsers, nullable, rpc, type Static, Type } from '#libs/contract';
import { Id } from '../schemas.ts';

const PipelineEntry = Type.Object({
  entry_id: Type.Integer({ description: 'Id of the entry; entries are ordered by `since`, then by it.' }),
  conversation_id: Id,
  journey: Type.String({ description: 'Slug.' }),
  step: Type.String({ description: 'Slug.' }),
  since: Type.String({ format: 'date-time', description: 'When the conversation entered the step.' }),
  pipeline_job: Type.String({ description: 'Name of the job of the step, e.g. `transcript_import`.' }),
});
export type PipelineEntry = Static<typeof PipelineEntry>;

const list = {
  request: Type.Object({
    journey: Type.Optional(Type.String({ maxLength: 200 })),
    step: Type.Optional(Type.String({ maxLength: 200 })),
    conversation_id: Type.Optional(Type.Integer()),
    conversation_ids: Type.Optional(Type.Array(Id, { maxItems: 500, description: 'Of these alone.' })),
    before: Type.Optional(Type.Integer({ description: 'Entries that are listed after this one.' })),
    limit: Type.Integer({ minimum: 1, maximum: 500 }),
  }),
  reply: Type.Object({
    items: Type.Array(PipelineEntry),
    read: nullable(Type.Integer({ description: 'The last entry that was looked at, for `before`; null at the end.' })),
    is_known: Type.Boolean({ description: 'There is such a conversation, where one was asked for.' }),
  }),
};
const summary = 'Conversations in steps with a pipeline job, those that entered last first.';

/** To be spread into the contract of the service. */
export const pipelineEntryRpcs = {
  listPipelines: rpc({
    subject: 'conversations.operations.list-pipelines',
    callers: byUsers,
    summary,
    ...list,
    errors: { not_an_operator: { code: 'permission_denied', when: 'The caller may not see operations.' } },
  }),
  adminListPipelines: rpc({ subject: 'admin.conversations.pipelines.list', callers: byOperators, summary, ...list }),
} as const;
