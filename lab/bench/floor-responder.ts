/**
 * The floor behind the floor's gateway: a bare NATS subscription that runs the platform's SQL as named statements through the
 * bare driver and answers with what PostgreSQL returns. No validation, no context, no merge rules.
 */
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { findActive, patchConversation } from '../../services/conversations/conversation/statements.ts';
import { getConversation } from '../../services/conversations/statements.ts';
import { lockRoom, replaceRoom } from '../../services/conversations/room/statements.ts';

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL_SIZE'] ?? 10),
  options: '-c search_path=conversations',
});
for (const oid of [pg.types.builtins.JSONB, pg.types.builtins.TIMESTAMP, pg.types.builtins.TIMESTAMPTZ]) {
  pg.types.setTypeParser(oid, (text) => text);
}
const connection = await connect({ servers: process.env['NATS_URL'] ?? '' });

type Run = (values: unknown[]) => Promise<unknown>;
const query =
  (item: { name: string; text: string }): Run =>
  async (values) =>
    (await pool.query({ name: item.name, text: item.text, values })).rows[0];

/** Lock, replace, commit: what a room write must do at least. */
async function writeRoom([id, room]: unknown[]): Promise<unknown> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query<{ updated_at: string }>({ name: lockRoom.name, text: lockRoom.text, values: [id] });
    await client.query({ name: replaceRoom.name, text: replaceRoom.text, values: [id, room, rows[0]?.updated_at] });
    await client.query('commit');
    return { ok: true };
  } finally {
    client.release();
  }
}

const operations: Readonly<Record<string, Run>> = {
  read: query(getConversation),
  find: query(findActive),
  patch: query(patchConversation),
  room: writeRoom,
};
for (const [name, run] of Object.entries(operations)) {
  connection.subscribe(`floor.${name}`, {
    queue: 'floor',
    callback: (_error, message) => {
      run(JSON.parse(message.string()) as unknown[]).then(
        (row) => message.respond(JSON.stringify(row)),
        (error: unknown) => console.error(error),
      );
    },
  });
}
await connection.flush();
process.send?.('ready');
