/** Statements on the room state. */
import { insertEventSql } from '#libs/infrastructure/feed';
import { sql, statement, t } from '#libs/infrastructure/sql';
import { conversationFeed } from '../feed/index.ts';
import { nextUpdatedAt } from '../statements.ts';

const roomRow = { room: t.json.nullable, updated_at: t.timestamp };
const roomColumns = sql`c.room, c.updated_at at time zone 'UTC' as updated_at`;

export const findRoom = statement.maybeOne({
  name: 'conversations.get-room',
  params: { id: t.integer },
  row: roomRow,
  pipelined: true,
  sql: ({ id }) => sql`select ${roomColumns} from conversations.conversations c where c.id = ${id}`,
});

export const lockRoom = statement.maybeOne({
  name: 'conversations.lock-room',
  params: { id: t.integer },
  row: roomRow,
  sql: ({ id }) => sql`select ${roomColumns} from conversations.conversations c where c.id = ${id} for update`,
});

/**
 * Replaces the room state and adds a feed event (V2). Optimistic write: returns no row when the conversation changed
 * after `updatedAt`.
 */
export const replaceRoom = statement.coalesced({
  name: 'conversations.replace-room',
  params: { id: t.integer, room: t.json, updatedAt: t.timestamp },
  key: 'id',
  row: {},
  sql: (calls) => sql`
    with written as (
      update conversations.conversations c
      set room = i.room, updated_at = ${nextUpdatedAt}
      from ${calls}
      where c.id = i.id and c.updated_at = i.updated_at at time zone 'UTC'
      returning i.ordinal, c.id
    ), emitted as (${insertEventSql(conversationFeed.roomUpdated, { subjectId: sql`id`, from: sql`from written` })})
    select ordinal from written`,
});
