/** Statements on the state of the room. */
import { statement } from '#libs/orm';
import { nextUpdatedAt } from '../statements.ts';

export interface RoomRow {
  readonly room: string | null;
  readonly updated_at: string;
}

/** $1 id, $2 room state; $3 = the `updated_at` (UTC text) under which it was computed. */
export const replaceRoom = statement(
  'conversations.replace-room',
  `update conversations.conversations c
   set room = $2::jsonb, updated_at = ${nextUpdatedAt}
   where c.id = $1 and c.updated_at = $3::timestamp at time zone 'UTC'
   returning c.id`,
);

export const getRoom = statement(
  'conversations.get-room',
  `select c.room, c.updated_at at time zone 'UTC' as updated_at from conversations.conversations c where c.id = $1`,
  { pipelined: 'always' },
);

export const lockRoom = statement(
  'conversations.lock-room',
  `select c.room, c.updated_at at time zone 'UTC' as updated_at from conversations.conversations c where c.id = $1 for update`,
);
