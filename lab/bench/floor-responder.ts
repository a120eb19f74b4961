/**
 * Responder behind the baseline gateway: a bare NATS subscription that runs the platform's SQL as named statements
 * through the bare driver and returns the result. No validation, context or merge rules.
 */
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import type { DeclaredStatement, CoalescedStatement, Shape } from '#libs/infrastructure/sql';
import { listActive, patchConversation } from '../../services/conversations/conversation/statements.ts';
import { findConversation } from '../../services/conversations/statements.ts';
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
/**
 * Returns a handler that runs a statement. `names` lists the parameters in the order in which the gateway sends their
 * values.
 */
const query =
  <Params extends Shape>(
    { prepared: { name, text }, order }: DeclaredStatement<Params, Shape, unknown>,
    names: (keyof Params)[],
  ): Run =>
  async (given) =>
    (await pool.query({ name, text, values: order.map((item) => given[names.indexOf(item)]) })).rows[0];
/** Returns a handler that writes one row. */
const write =
  (
    { prepared: { name, text }, order }: Pick<CoalescedStatement<Shape, Shape>, 'prepared' | 'order'>,
    names: string[],
  ): Run =>
  async (given) =>
    (await pool.query({ name, text, values: order.map((item) => [given[names.indexOf(item)]]) })).rows[0];

/** Locks, replaces and commits: the minimum work of a room write. */
async function writeRoom([id, room]: unknown[]): Promise<unknown> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { name, text } = lockRoom.prepared;
    const { rows } = await client.query<{ updated_at: string }>({ name, text, values: [id] });
    const given: Readonly<Record<string, unknown>> = { id, room, updatedAt: rows[0]?.updated_at };
    const { prepared, order } = replaceRoom;
    await client.query({ name: prepared.name, text: prepared.text, values: order.map((item) => [given[item]]) });
    await client.query('commit');
    return { ok: true };
  } finally {
    client.release();
  }
}

const operations: Readonly<Record<string, Run>> = {
  read: query(findConversation, ['id']),
  find: query(listActive, ['personId', 'journeyId', 'time', 'limit']),
  patch: write(patchConversation, ['id', 'infos', 'config', 'expectedUpdatedAt']),
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
