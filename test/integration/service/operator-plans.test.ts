/** Operator queries on many jobs and receipts (P7): no plan scans a table, and each reads few rows. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { plannerOptions } from '#libs/infrastructure/orm';
import type { DeclaredStatement, Shape } from '#libs/infrastructure/sql';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';
import * as jobs from '../../../libs/infrastructure/jobs/admin-statements.ts';
import { bodyPatterns } from '../../../libs/product/webhooks/search.ts';
import { countReceipts, receiptSearch } from '../../../services/conversations/receipts/statements.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}
type Declared = Pick<DeclaredStatement<Shape, Shape, unknown>, 'prepared' | 'order'>;

const count = 40_000;
/**
 * Dead jobs and refused webhooks are the oldest rows, and so are rare values, so that a scan from the newest row would
 * read all other rows first.
 */
const seed = [
  `insert into conversations.jobs (id, type, key, payload, state, error, request_id, attempts, finished_at)
   select (lpad(to_hex(1767225600000 + n), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid,
     case when n % 100 = 0 then 'conversations.rare' else 'conversations.often' end, case when n % 50 = 0 then 'key-' || n end,
     case when n % 4 = 0 then jsonb_build_object('conversation_id', n) else '{}' end,
     case when n <= 400 then 'dead' else 'succeeded' end, case when n <= 400 then 'The store number ' || n || ' was away' end, 'request-' || n, 1, now()
   from generate_series(1, ${count}) n`,
  `insert into conversations.webhook_receipts (source, dedupe_key, delivery_id, received_at, person_id, headers, body, outcome)
   select case when n <= 40 then 'meeting' else 'booking' end, 'k' || n, 'x', timestamptz '2026-01-01' + n * interval '1 second', (n % 5000)::text, '{}',
     convert_to('{"uid": "uid-' || md5(n::text) || '", "event": "BOOKING_CREATED"}', 'UTF8'), case when n <= 400 then 'stale' else 'applied' end
   from generate_series(1, ${count}) n`,
];

let env: TestEnvironment;
let client: pg.Client;

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  client = new pg.Client({
    connectionString: env.settings['DATABASE_URL'] ?? '',
    options: `${plannerOptions} -c search_path=conversations,public`,
  });
  await client.connect();
  for (const sql of seed) await client.query(sql);
  await client.query('vacuum (analyze) conversations.jobs');
  await client.query('vacuum (analyze) conversations.webhook_receipts');
});
afterAll(async () => {
  await client.end();
  await env.stop();
});

function listNodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(listNodes)];
}

/** Returns the tables that a plan scans completely, and the number of rows that it reads. */
async function explain(
  { prepared, order }: Declared,
  values: Readonly<Record<string, unknown>>,
): Promise<{ scans: string[]; rows: number }> {
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
    `explain (analyze, timing off, format json) ${prepared.text}`,
    order.map((name) => values[name] ?? null),
  );
  const nodes = rows.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => listNodes(Plan)));
  const read = nodes.filter((node) => node['Relation Name'] !== undefined);
  return {
    scans: read.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name'] ?? ''),
    rows: read.reduce(
      (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      0,
    ),
  };
}

const page = { limit: 51, inclusive: false };
const middle = '019b7713-d000-7000-8000-000000000000';

describe('operator lists (P7)', () => {
  it('detects a sequential scan in operator lists', async () => {
    const bad = { prepared: { name: 'x', text: `select from jobs where payload = '{}'` }, order: [] };
    expect((await explain(bad, {})).scans).toEqual(['jobs']);
  });

  it.each<[string, Declared, Record<string, unknown>]>([
    ['jobs: all', jobs.listJobs, {}],
    ['jobs: a page further on', jobs.listJobs, { before: middle }],
    ['jobs: dead', jobs.listJobs, { state: 'dead' }],
    ['jobs: cancelled, of which there are none', jobs.listJobs, { state: 'cancelled' }],
    ['jobs: a rare type', jobs.listJobs, { type: 'conversations.rare' }],
    ['jobs: a rare type in a state', jobs.listJobs, { type: 'conversations.rare', state: 'dead' }],
    [
      'jobs: by time',
      jobs.listJobs,
      { createdAfter: '2025-12-31T23:00:00Z', from: '019b76da-a800-7000-8000-000000000000', to: middle },
    ],
    ['jobs: by key', jobs.findJobs, { key: 'key-50' }],
    ['jobs: by request', jobs.findJobs, { requestId: 'request-17' }],
    ['jobs: by conversation', jobs.findJobs, { conversationId: '400' }],
    ['jobs: by error', jobs.findJobs, { error: '%number 17 was%' }],
    ['jobs: by an error that there is not', jobs.findJobs, { error: '%no such thing%', state: 'dead' }],
    ['webhooks: all', receiptSearch.list, {}],
    ['webhooks: a page further on', receiptSearch.list, { beforeAt: '2026-01-01T02:00:00Z', beforeId: 7_200 }],
    ['webhooks: a rare kind', receiptSearch.list, { kind: 'meeting' }],
    ['webhooks: a rare outcome', receiptSearch.list, { outcome: 'stale' }],
    ['webhooks: by time', receiptSearch.list, { from: '2026-01-01T01:00:00Z', to: '2026-01-01T01:01:00Z' }],
    ['webhooks: of a person', receiptSearch.listOfPerson, { personId: '17' }],
    ['webhooks: counted of the last day', countReceipts, {}],
    ['webhooks: by a text that few have', receiptSearch.search, bodyPatterns('c4ca4238a0b923820dcc509a6f75849b')],
    ['webhooks: by a text that nobody has', receiptSearch.search, bodyPatterns('no such booking')],
  ])('reads few rows without a scan, for %s', async (_name, statement, values) => {
    const { scans, rows } = await explain(statement, { ...page, ...values });
    expect(scans.filter((table) => table === 'jobs' || table === 'webhook_receipts')).toEqual([]);
    expect(rows).toBeLessThan(2_000);
  });

  it('webhooks: finds a frequent text among the newest receipts without a scan', async () => {
    const { scans, rows } = await explain(receiptSearch.searchNewest, { ...page, ...bodyPatterns('booking_created') });
    expect([scans, rows < 12_000]).toEqual([[], true]);
  });
});
