/** Statements of creating and changing conversations over HTTP. */
import { sql, statement, t } from '#libs/infrastructure/sql';
import { nextUpdatedAt, wholeConversation } from '../statements.ts';

const fields = {
  eventId: t.integer.nullable,
  stepId: t.integer.nullable,
  start: t.instant.nullable,
  finish: t.instant.nullable,
  participantIds: t.integer.array,
  connectedIds: t.integer.array,
};

export const createConversation = statement.one({
  name: 'editing.create',
  params: { journeyId: t.integer, ...fields, infos: t.json, config: t.json },
  row: wholeConversation.row,
  sql: ({ journeyId, eventId, stepId, start, finish, participantIds, connectedIds, infos, config }) => sql`
    insert into conversations.conversations as c (journey_id, step_id, event_id, start_at, finish_at, participant_ids, connected_ids, infos, config)
    values (${journeyId}, ${stepId}, ${eventId}, ${start}, ${finish}, ${participantIds}, ${connectedIds}, ${infos}, ${config})
    returning ${wholeConversation.columns}`,
});

/** Replaces the fields of a locked conversation. */
export const saveConversation = statement.one({
  name: 'editing.save',
  params: { id: t.integer, ...fields },
  row: wholeConversation.row,
  sql: ({ id, eventId, stepId, start, finish, participantIds, connectedIds }) => sql`
    update conversations.conversations c
    set event_id = ${eventId}, step_id = ${stepId}, start_at = ${start}, finish_at = ${finish}, participant_ids = ${participantIds},
      connected_ids = ${connectedIds}, updated_at = ${nextUpdatedAt}
    where c.id = ${id}
    returning ${wholeConversation.columns}`,
});
