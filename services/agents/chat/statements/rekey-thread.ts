/** A group that becomes a supergroup gets a new chat id, and its thread the new key (D32). */
import { statement, type Tx } from '#libs/orm';

const lockStatement = statement(
  'rekey.lock',
  `select id, thread_key as key, turn_count as turns from agents.threads where agent_id = $1 and thread_key in ($2, $3) order by id for update`,
);
const renameStatement = statement(
  'rekey.rename',
  `update agents.threads set thread_key = $2, updated_at = clock_timestamp() where id = $1`,
);
/** Past the numbers of both threads first: no two turns have one number at any time. */
const makeRoomStatement = statement('rekey.make-room', `update agents.messages set turn = -(turn + $2) where thread_id = $1`);
const moveBehindStatement = statement('rekey.move-behind', `update agents.messages set turn = -turn where thread_id = $1 and turn < 0`);
const moveMessagesStatement = statement('rekey.move-messages', `update agents.messages set thread_id = $2 where thread_id = $1`);
const growStatement = statement(
  'rekey.grow',
  `with facts as (delete from agents.memory_facts where thread_id = $1),
   memory as (
     insert into agents.thread_memories as m (thread_id) values ($1)
     on conflict (thread_id) do update set summary = '', up_to_turn = 0, version = m.version + 1, updated_at = clock_timestamp()
   )
   update agents.threads t set turn_count = t.turn_count + $3, created_at = least(t.created_at, old.created_at), updated_at = clock_timestamp()
   from agents.threads old where t.id = $1 and old.id = $2`,
);
const dropStatement = statement('rekey.drop', `delete from agents.threads where id = $1`);

export type Rekeyed =
  /** The thread has the new key; a turn under way goes on in it. */
  | 'renamed'
  /** Both keys had a thread: the old turns come before the new ones, and what is remembered is made anew with the next turn. */
  | 'merged'
  /** Nothing has the old key. */
  | 'none';

/** Gives the thread `from` the key `to`; done twice it is done once. */
export async function rekeyThread(tx: Tx, agentId: number, from: string, to: string): Promise<Rekeyed> {
  if (from === to) return 'none';
  const threads = await tx.query<{ id: number; key: string; turns: number }>(lockStatement, [agentId, from, to]);
  const old = threads.find(({ key }) => key === from);
  const current = threads.find(({ key }) => key === to);
  if (old === undefined) return 'none';
  if (current === undefined) {
    await tx.query(renameStatement, [old.id, to]);
    return 'renamed';
  }
  await tx.query(makeRoomStatement, [current.id, old.turns]);
  await tx.query(moveBehindStatement, [current.id]);
  await tx.query(moveMessagesStatement, [old.id, current.id]);
  await tx.query(growStatement, [current.id, old.id, old.turns]);
  await tx.query(dropStatement, [old.id]);
  return 'merged';
}
