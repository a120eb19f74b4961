/** Statements on the entries of conversations into steps with a pipeline job (P5). */
import { sql, statement, t } from '#libs/sql';

/**
 * The last entry of each conversation that is still in that step, by the time of the entry, newest first; each null for any. A page begins after an entry; when
 * that was deleted with its conversation, after the one before it (D98).
 */
export const listCurrentEntries = statement.many({
  name: 'pipelines.list',
  planned: 'each-call',
  params: { stepIds: t.integer.array.nullable, conversationIds: t.integer.array.nullable, before: t.integer.nullable, limit: t.integer },
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
        (select place.entered_at from conversations.pipeline_entries place where place.id <= ${before} order by place.id desc limit 1), ${before}))
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
