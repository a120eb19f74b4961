/** Statements on pipeline entries and `infos.publishing`. */
import { sql, statement, t } from '#libs/sql';
import { nextUpdatedAt } from '../statements.ts';

/** `infos.publishing` as a whole, computed under the row's lock. */
export const replacePublishing = statement.none({
  name: 'conversations.replace-publishing',
  params: { id: t.integer, publishing: t.json },
  sql: ({ id, publishing }) => sql`
    update conversations.conversations c
    set infos = c.infos || jsonb_build_object('publishing', ${publishing}), updated_at = ${nextUpdatedAt}
    where c.id = ${id}`,
});

export const addPipelineEntry = statement.none({
  name: 'pipeline.enter',
  params: { conversationId: t.integer, stepId: t.integer, pipelineJob: t.text, cause: t.text, jobId: t.text.nullable },
  sql: ({ conversationId, stepId, pipelineJob, cause, jobId }) => sql`
    insert into conversations.pipeline_entries (conversation_id, step_id, pipeline_job, cause, job_id)
    values (${conversationId}, ${stepId}, ${pipelineJob}, ${cause}, ${jobId})`,
});

/** The step of the latest entry with that job. */
export const findPipelineEntry = statement.maybeOne({
  name: 'pipeline.find-entry',
  params: { conversationId: t.integer, pipelineJob: t.text },
  row: { step_id: t.integer },
  sql: ({ conversationId, pipelineJob }) => sql`
    select step_id from conversations.pipeline_entries
    where conversation_id = ${conversationId} and pipeline_job = ${pipelineJob} order by id desc limit 1`,
});
