/**
 * Queries on a large audit log read a bounded number of blocks for every filter, independent of the size of the log
 * (A3).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { plannerOptions } from '#libs/infrastructure/orm';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';
import {
  findVerification,
  listEntries,
  readLinks,
  removeOldEntries,
} from '../../../libs/infrastructure/audit/statements.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

const entries = 200_000;
/**
 * Enough for all scattered entries of one account, including index blocks, in blocks of 8 KiB. The table has about
 * 5,000 blocks.
 */
const mostBlocks = 1_000;
/** One entry in a thousand was written with a service key. A few entries have a rare account, action or target. */
const fill = `
  insert into directory.audit_log (id, at, actor_kind, account_id, key_id, action, target_type, target_id, changes, request_id, ip, outcome,
    previous_hash, hash)
  select n, timestamptz '2026-01-01' + n * interval '1 minute', 'account', case when n % 40000 = 0 then 999 else n % 300 end, null,
    case when n % 50000 = 0 then 'person.erase' when n % 20 = 0 then 'step-config.update' else 'login' end,
    case when n % 20 = 0 then 'step' else 'account' end, case when n % 30000 = 0 then 'rare' else (n % 300)::text end,
    '{"fields":["a","b"]}', 'request-' || n, '192.0.2.1', case when n % 10 = 0 then 'refused' else 'ok' end, sha256('a'), sha256('b')
  from generate_series(1, ${entries}) n`;

let env: TestEnvironment;
let client: pg.Client;

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  client = new pg.Client({
    connectionString: env.settings['DATABASE_URL'] ?? '',
    options: `${plannerOptions} -c search_path=directory,public`,
  });
  await client.connect();
  await client.query(fill);
  await client.query(`update directory.audit_head set last_id = ${entries}`);
  await client.query('vacuum (analyze) directory.audit_log');
});
afterAll(async () => {
  await client.end();
  await env.stop();
});

interface Statement {
  readonly prepared: { readonly text: string };
  readonly order: readonly string[];
}

/**
 * Runs the statement in a transaction that is rolled back. Returns its table scans and the number of blocks that it
 * read.
 */
async function measure(
  { prepared, order }: Statement,
  values: Readonly<Record<string, unknown>>,
): Promise<{ scans: string[]; blocks: number }> {
  await client.query('begin');
  try {
    const params = order.map((name) => values[name] ?? null);
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      `explain (analyze, buffers, format json) ${prepared.text}`,
      params,
    );
    const plans = rows.flatMap((row) => row['QUERY PLAN'].map(({ Plan }) => Plan));
    const scans = plans
      .flatMap(listNodes)
      .filter((node) => node['Node Type'].endsWith('Seq Scan') && node['Relation Name'] === 'audit_log');
    const blocks = plans.reduce((sum, plan) => sum + plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], 0);
    return { scans: scans.map((node) => node['Node Type']), blocks };
  } finally {
    await client.query('rollback');
  }
}

function listNodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(listNodes)];
}

const limit = 51;
const middle = { beforeAt: '2026-03-10T12:00:00Z', beforeId: 100_000 };
const asked: [what: string, filter: Readonly<Record<string, unknown>>][] = [
  ['everything', {}],
  ['a later page', middle],
  ['a time', { from: '2026-02-01T00:00:00Z', to: '2026-02-03T00:00:00Z' }],
  ['a time before all entries', { to: '2025-01-01T00:00:00Z' }],
  ['an account', { accountId: 17 }],
  ['an account of few entries', { accountId: 999 }],
  ['an account that did nothing', { accountId: 2_000_000_000 }],
  ['a later page of an account', { accountId: 17, ...middle }],
  ['a frequent action', { action: 'login' }],
  ['a rare action', { action: 'person.erase' }],
  ['an unknown action', { action: 'nothing' }],
  ['a rare action within a time', { action: 'person.erase', from: '2026-02-01T00:00:00Z' }],
  ['a target', { targetType: 'step', targetId: '20' }],
  ['a target of few entries', { targetType: 'step', targetId: 'rare' }],
  ['an unknown target', { targetType: 'nothing', targetId: '1' }],
  [
    'an account, an action and a target',
    { accountId: 20, action: 'step-config.update', targetType: 'step', targetId: '20' },
  ],
  ['an action that an account never did', { accountId: 17, action: 'person.erase' }],
];

describe('query plans of the audit log list (A3)', () => {
  it('detects a full scan of the audit log', async () => {
    const { scans, blocks } = await measure(
      { prepared: { text: `select count(*) from audit_log where ip = $1` }, order: ['ip'] },
      { ip: 'x' },
    );
    expect(scans).toEqual(['Seq Scan']);
    expect(blocks).toBeGreaterThan(4 * mostBlocks);
  });

  it.each(asked)('reads few blocks for the filter %s', async (_what, filter) => {
    const { scans, blocks } = await measure(listEntries, { ...filter, limit });
    expect(scans).toEqual([]);
    expect(blocks).toBeLessThan(mostBlocks);
  });
});

describe('query plans of audit log retention (A2)', () => {
  it('reads any page of entries at constant cost', async () => {
    for (const after of [0, 100_000, entries - 10]) {
      const { scans, blocks } = await measure(readLinks, { after, limit: 1_000 });
      expect([scans, blocks < mostBlocks]).toEqual([[], true]);
    }
  });

  it('finds old entries without reading recent entries', async () => {
    // No entry is older than a hundred years.
    const { scans, blocks } = await measure(removeOldEntries, { days: 36_500, limit: 5_000 });
    expect([scans, blocks < mostBlocks]).toEqual([[], true]);
  });

  it('reads one entry for the metric of the log age', async () => {
    const { scans, blocks } = await measure(findVerification, {});
    expect([scans, blocks < 20]).toEqual([[], true]);
  });
});
