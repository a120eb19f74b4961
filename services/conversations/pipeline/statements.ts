/** Statements on pipeline entries, waiting conversations, and `infos.publishing`. */
import { sql, statement, t } from '#libs/infrastructure/sql';
import { nextUpdatedAt } from '../statements.ts';

/** Replaces `infos.publishing`. The caller must have locked the row. */
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

/** Returns the step of the conversation's latest entry with the job. */
export const findPipelineEntry = statement.maybeOne({
  name: 'pipeline.find-entry',
  params: { conversationId: t.integer, pipelineJob: t.text },
  row: { step_id: t.integer },
  sql: ({ conversationId, pipelineJob }) => sql`
    select step_id from conversations.pipeline_entries
    where conversation_id = ${conversationId} and pipeline_job = ${pipelineJob} order by id desc limit 1`,
});

/**
 * Returns the latest entry of each conversation that is still in the entered step, newest first. A null filter matches
 * all conversations. A page starts after `before`; if this entry was deleted, it starts after the nearest earlier entry
 * (D98).
 */
export const listCurrentEntries = statement.many({
  name: 'pipelines.list',
  planned: 'each-call',
  params: {
    stepIds: t.integer.array.nullable,
    conversationIds: t.integer.array.nullable,
    before: t.integer.nullable,
    limit: t.integer,
  },
  row: {
    id: t.integer,
    conversation_id: t.integer,
    journey_id: t.integer,
    step_id: t.integer,
    pipeline_job: t.text,
    since: t.text,
  },
  sql: ({ stepIds, conversationIds, before, limit }) => sql`
    select e.id, e.conversation_id, c.journey_id, e.step_id, e.pipeline_job, conversations.iso_utc(e.entered_at) as since
    from conversations.pipeline_entries e
    join conversations.conversations c on c.id = e.conversation_id and c.step_id = e.step_id
    where (${before} is null or (e.entered_at, e.id) < (
        (select last.entered_at from conversations.pipeline_entries last where last.id <= ${before} order by last.id desc limit 1), ${before}))
      and (${conversationIds} is null or e.conversation_id = any(${conversationIds}))
      and (${stepIds} is null or (e.step_id = any(${stepIds}) and c.step_id = any(${stepIds})))
      and not exists (
        select from conversations.pipeline_entries later where later.conversation_id = e.conversation_id and later.id > e.id)
    order by e.entered_at desc, e.id desc limit ${limit}`,
});

export const isConversation = statement.one({
  name: 'pipelines.is-conversation',
  params: { id: t.integer },
  row: { known: t.boolean },
  sql: ({ id }) => sql`select exists (select from conversations.conversations where id = ${id}) as known`,
});

/**
 * Returns conversations of a meeting that entered a pipeline step in the last `days` days. Jobs of earlier entries have
 * expired.
 */
export const findMeetingConversations = statement.many({
  name: 'conversations.find-by-meeting',
  params: { meetingId: t.text, days: t.integer },
  row: { id: t.integer },
  sql: ({ meetingId, days }) => sql`
    select distinct c.id from conversations.pipeline_entries e join conversations.conversations c on c.id = e.conversation_id
    where e.entered_at > statement_timestamp() - make_interval(days => ${days}) and c.room ->> 'meetingId' = ${meetingId}
    order by c.id limit 100`,
});
