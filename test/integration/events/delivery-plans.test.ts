/**
 * Delivery queries and retention read a few rows by an index each, independent of the number of endpoints and
 * deliveries (V7).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { plannerOptions } from '#libs/infrastructure/orm';
import type { DeclaredStatement, Shape } from '#libs/infrastructure/sql';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';
import { fillFeed } from '../../../lab/bench/fill-feed.ts';
import * as endpoints from '../../../services/events/endpoints/statements.ts';
import * as log from '../../../services/events/delivery-log/statements.ts';
import * as queue from '../../../services/events/deliveries/statements.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}
type Statement = Pick<DeclaredStatement<Shape, Shape, unknown>, 'prepared' | 'order'>;

const [days, eventsPerDay, endpointCount, each, busy] = [4, 10_000, 3_000, 30, 30_000];
const last = days * eventsPerDay;
/** Rows of two or three pages. */
const fewRows = 200;
/** One endpoint has the maximum number of deliveries, another one is deleted. */
const [busyId, deletedId] = [1, 2];
const before = new Date(Date.now() - 3 * 86_400_000).toISOString();
const holder = randomUUID();
let env: TestEnvironment;
let client: pg.Client;
let someId: string;
beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  await fillFeed((text, params) => env.sql(text, params), {
    days,
    eventsPerDay,
    hiddenSubjects: 1_000,
    seen: [1],
    hiddenHolon: 4_711,
    personId: 7,
  });
  await env.sql(
    `insert into events.webhook_endpoints (account_id, url, types, description, secret, first_position, position, deleted_at)
     select n / 20, 'https://example.org/' || n, case when n % 100 = 0 then null when n % 100 = 1 then array['conversation.*']
         when n % 100 = 2 then array['membership.created', 'note.created'] else array['note.created', 'holon.*'] end,
       '', decode(repeat('00', 32), 'hex'), 0, $2, case when n = $3 then now() end
     from generate_series(1, $1::integer) n`,
    [endpointCount, last - 10, deletedId],
  );
  // The deliveries of each endpoint; one in five hundred is pending. Events of the first day exceed the retention.
  await env.sql(
    `insert into events.webhook_deliveries (endpoint_id, position, occurred_at, created_at, status, next_at)
     select e.id, f.position, f.occurred_at, f.occurred_at, case when f.position % 500 = 0 then 'pending' when f.position % 501 = 0 then 'failed' else 'delivered' end,
       f.occurred_at
     from events.webhook_endpoints e join lateral (
       select position, occurred_at from events.feed where position > (e.id % 300) * 100 and position <= (e.id % 300) * 100 + $1 and e.id <> $3
       union all select position, occurred_at from events.feed where e.id = $3 and position <= $2) f on true`,
    [each, busy, busyId],
  );
  // One in a hundred is due, one in two hundred is leased.
  await env.sql(
    `insert into events.webhook_dispatches (endpoint_id, due_at, holder, held_until)
     select id, case when id % 100 = 0 then now() end, case when id % 200 = 1 then $1::uuid end, case when id % 200 = 1 then now() + interval '1 minute' end
     from events.webhook_endpoints`,
    [holder],
  );
  await env.sql('analyze events.webhook_endpoints');
  await env.sql('analyze events.webhook_dispatches');
  await env.sql('analyze events.webhook_deliveries');
  client = new pg.Client({ connectionString: env.settings['DATABASE_URL'] ?? '', options: plannerOptions });
  await client.connect();
  const [row] = await env.sql<{ id: string }>(
    `select id from events.webhook_deliveries where endpoint_id = $1 order by created_at limit 1 offset 15000`,
    [busyId],
  );
  someId = row?.id ?? '';
});
afterAll(async () => {
  await client.end();
  await env.stop();
});

const large = /^(?:webhook_endpoints|webhook_dispatches|webhook_deliveries|feed_)/;

/**
 * Returns the full scans of large tables and the number of rows that the statement read. The transaction is rolled
 * back.
 */
async function readsOf(
  { prepared, order }: Statement,
  values: Readonly<Record<string, unknown>>,
): Promise<{ scans: string[]; rows: number }> {
  const reads = { scans: [] as string[], rows: 0 };
  const visit = (node: PlanNode): void => {
    const { 'Node Type': type, 'Relation Name': table, 'Actual Loops': loops, Plans = [] } = node;
    if (table !== undefined && large.test(table) && type.endsWith('Scan') && loops > 0) {
      const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
      const rows = (node['Actual Rows'] + removed) * loops;
      reads.rows += rows;
      // Scans of small partitions are allowed: partitions of future days are empty, and the first day has few rows when
      // the test runs shortly after midnight.
      if (type.endsWith('Seq Scan') && rows > fewRows) reads.scans.push(table);
    }
    Plans.forEach(visit);
  };
  await client.query('begin');
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      `explain (analyze, format json) ${prepared.text}`,
      order.map((name) => values[name]),
    );
    for (const row of rows) for (const { Plan } of row['QUERY PLAN']) visit(Plan);
  } finally {
    await client.query('rollback');
  }
  return reads;
}

const one = { id: busyId, holder };
const page = { endpointId: busyId, status: null, before: null, limit: 51 };
const newDeliveries = {
  ...one,
  reached: last,
  recoverFrom: null,
  positions: [last - 1, last],
  occurredAt: [new Date().toISOString(), new Date().toISOString()],
};

describe('query plans of deliveries (V7)', () => {
  it('detects a sequential scan of the deliveries', async () => {
    const statement = {
      prepared: { name: 'x', text: `select * from events.webhook_deliveries where attempts = '[1]'` },
      order: [],
    };
    const { scans, rows } = await readsOf(statement, {});
    expect(scans).toEqual(['webhook_deliveries']);
    expect(rows).toBeGreaterThan(endpointCount * each);
  });

  it.each([
    ['scheduling an endpoint', queue.scheduleEndpoint, { id: busyId }, 4],
    [
      'scheduling endpoints that subscribe to the last events',
      queue.scheduleSubscribed,
      { after: last - 10, upTo: last },
      400,
    ],
    ['acquiring leases of due endpoints', queue.acquireLeases, { limit: 10 }, 60],
    ['renewing a lease', queue.renewLeases, { ids: [busyId], holders: [holder] }, 4],
    ['reading a leased endpoint', queue.readLeased, one, 4],
    ['releasing a lease', queue.releaseLease, { ...one, retryMs: null }, 4],
    ['claiming due deliveries', queue.claimDue, { id: busyId, limit: 4, claimMs: 60_000 }, 12],
    ['inserting deliveries', queue.insertDeliveries, { ...newDeliveries, limit: 2, claimMs: 60_000 }, 6],
    ['recording a success', queue.recordSuccess, { id: randomUUID(), endpointId: busyId, attempt: '{}' }, 4],
    ['recording a failure', queue.recordFailure, { id: randomUUID(), retryMs: 5_000, attempt: '{}' }, 2],
    ['listing deliveries', log.listDeliveries, page, 200],
    ['listing a later page', log.listDeliveries, () => ({ ...page, before: someId }), 200],
    ['listing failed deliveries', log.listDeliveries, { ...page, status: 'failed' }, 200],
    ['listing pending deliveries', log.listDeliveries, { ...page, status: 'pending' }, 400],
    ['reading a delivery', log.getDelivery, () => ({ endpointId: busyId, id: someId }), 4],
    // This statement reads the events of one day in feed order.
    [
      'finding the start of a recovery',
      log.findPositionBefore,
      { since: new Date(Date.now() - 1.6 * 86_400_000).toISOString() },
      eventsPerDay + 100,
    ],
    ['starting a recovery', log.startRecovery, { endpointId: busyId, position: 100 }, 200],
    ['cancelling deliveries', endpoints.cancelDeliveries, { id: busyId }, 200],
    ['deleting old deliveries', log.deleteOldDeliveries, { before, limit: 100 }, 4 * endpointCount],
  ] as const)('reads few delivery rows and scans no table: %s', async (_what, statement, values, maxRows) => {
    const { scans, rows } = await readsOf(statement, typeof values === 'function' ? values() : values);
    expect(scans.filter((table) => table !== 'webhook_endpoints' || statement !== log.deleteOldDeliveries)).toEqual([]);
    expect(rows).toBeLessThanOrEqual(maxRows);
  });

  it('deletes old deliveries, and all deliveries of deleted endpoints, and no others', async () => {
    const count = async (where: string): Promise<number> =>
      (await env.sql<{ n: number }>(`select count(*)::integer n from events.webhook_deliveries d where ${where}`))[0]
        ?.n ?? 0;
    const remaining = await count(`created_at >= '${before}' and endpoint_id <> ${deletedId}`);
    expect(await count(`created_at < '${before}' or endpoint_id = ${deletedId}`)).toBeGreaterThan(0);
    const { prepared, order } = log.deleteOldDeliveries;
    const values: Record<string, unknown> = { before, limit: 5_000 };
    for (let deleted = 1; deleted > 0;) {
      const { rows } = await client.query<{ count: string }>(
        prepared.text,
        order.map((name) => values[name]),
      );
      deleted = Number(rows[0]?.count);
    }
    expect([await count('true'), await count(`created_at < '${before}' or endpoint_id = ${deletedId}`)]).toEqual([
      remaining,
      0,
    ]);
  });
});
