/** Statements on recorded question changes. */
import { type RowOf, sql, statement, t } from '#libs/infrastructure/sql';
import { nextUpdatedAt } from '../statements.ts';

/** The conversation's journey, and the change with the key. Without such a change its columns are null. */
const keyedChangeRow = {
  journey_id: t.integer.nullable,
  question_id: t.integer.nullable,
  occurred_at: t.timestamp.nullable,
};
export type KeyedChangeRow = RowOf<typeof keyedChangeRow>;

/** Returns the change with the key. Returns no row when the conversation does not exist. */
export const findQuestionChange = statement.maybeOne({
  name: 'questions.find',
  params: { conversationId: t.integer, key: t.text },
  row: keyedChangeRow,
  sql: ({ conversationId, key }) => sql`
    select c.journey_id, q.question_id, q.occurred_at at time zone 'UTC' as occurred_at
    from conversations.conversations c
    left join conversations.question_changes q on q.conversation_id = c.id and q.key = ${key}
    where c.id = ${conversationId}`,
});

/** Locks the conversation's row. */
export const lockForQuestions = statement.none({
  name: 'questions.lock',
  params: { conversationId: t.integer },
  sql: ({ conversationId }) =>
    sql`select c.id from conversations.conversations c where c.id = ${conversationId} for update`,
});

export const addQuestionChange = statement.none({
  name: 'questions.add',
  params: { conversationId: t.integer, key: t.text, questionId: t.integer, occurredAt: t.instant },
  sql: ({ conversationId, key, questionId, occurredAt }) => sql`
    insert into conversations.question_changes (conversation_id, key, question_id, occurred_at)
    values (${conversationId}, ${key}, ${questionId}, ${occurredAt})`,
});

/** Returns changes in the order in which they were received. */
export const listQuestionChanges = statement.many({
  name: 'questions.list',
  params: { conversationId: t.integer },
  row: { question_id: t.integer, occurred_at: t.timestamp },
  sql: ({ conversationId }) => sql`
    select q.question_id, q.occurred_at at time zone 'UTC' as occurred_at
    from conversations.question_changes q where q.conversation_id = ${conversationId} order by q.id`,
});

export const replaceQuestionState = statement.none({
  name: 'questions.replace-state',
  params: { conversationId: t.integer, state: t.json },
  sql: ({ conversationId, state }) => sql`
    update conversations.conversations c set question_state = ${state}, updated_at = ${nextUpdatedAt} where c.id = ${conversationId}`,
});

/** Moves changes to another conversation, except changes whose key already exists there. */
export const moveQuestionChanges = statement.many({
  name: 'questions.move',
  params: { from: t.integer, to: t.integer },
  row: { id: t.integer },
  sql: ({ from, to }) => sql`
    update conversations.question_changes q set conversation_id = ${to}
    where q.conversation_id = ${from}
      and not exists (select from conversations.question_changes k where k.conversation_id = ${to} and k.key = q.key)
    returning q.id`,
});
