/** Statements on recorded question changes. */
import { statement } from '#libs/orm';
import { nextUpdatedAt } from '../statements.ts';

/** A conversation's journey, and the change under a key: null columns when there is none. */
export interface KeyedChangeRow {
  readonly journey_id: number | null;
  readonly question_id: number | null;
  /** UTC without offset. */
  readonly occurred_at: string | null;
}

/** $1 conversation, $2 key. No row: the conversation is absent. */
export const findQuestionChange = statement(
  'questions.find',
  `select c.journey_id, q.question_id, q.occurred_at at time zone 'UTC' as occurred_at
   from conversations.conversations c
   left join conversations.question_changes q on q.conversation_id = c.id and q.key = $2
   where c.id = $1`,
);

/** Waits for whoever writes the conversation. */
export const lockForQuestions = statement('questions.lock', `select c.id from conversations.conversations c where c.id = $1 for update`);

/** $1 conversation, $2 key, $3 question, $4 instant. */
export const addQuestionChange = statement(
  'questions.add',
  `insert into conversations.question_changes (conversation_id, key, question_id, occurred_at) values ($1, $2, $3, $4::timestamptz)`,
);

/** In the order of arrival. */
export const listQuestionChanges = statement(
  'questions.list',
  `select q.question_id, q.occurred_at at time zone 'UTC' as occurred_at
   from conversations.question_changes q where q.conversation_id = $1 order by q.id`,
);

/** $1 conversation, $2 the derived state. */
export const replaceQuestionState = statement(
  'questions.replace-state',
  `update conversations.conversations c set question_state = $2::jsonb, updated_at = ${nextUpdatedAt} where c.id = $1`,
);

/** Moves the changes of $2 to $1, but for those whose key is used there. */
export const moveQuestionChanges = statement(
  'questions.move',
  `update conversations.question_changes q set conversation_id = $1
   where q.conversation_id = $2
     and not exists (select from conversations.question_changes k where k.conversation_id = $1 and k.key = q.key)
   returning q.id`,
);
