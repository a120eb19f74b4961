/** Feed pages and retention do not scan large tables, however many events the caller cannot see (V3, V4). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { plannerOptions } from '#libs/infrastructure/orm';
import type { DeclaredStatement, Shape } from '#libs/infrastructure/sql';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';
import { fillFeed } from '../../../lab/bench/fill-feed.ts';
import { raiseFloor } from '../../../services/events/feed/statements/days.ts';
import * as reading from '../../../services/events/feed/statements/read.ts';
import * as writing from '../../../services/events/feed/statements/write.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: PlanNode[];
}

const days = 4;
const eventsPerDay = 20_000;
const [personId, hiddenHolon] = [7, 4_711];
let env: TestEnvironment;
let client: pg.Client;
/** Tables with rows: those of future days are empty. */
let large: ReadonlySet<string>;
beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  const seen = Array.from({ length: 20 }, (_, index) => index + 1);
  await fillFeed((text, params) => env.sql(text, params), {
    days,
    eventsPerDay,
    hiddenSubjects: 10_000,
    seen,
    hiddenHolon,
    personId,
  });
  await env.sql(
    `insert into events.subjects (type, id, known, holons, people, gone, last_position)
     select kind.type, n, true, case when kind.type = 'holon' then array[$1::integer] else '{}' end, '{}', false, n
     from generate_series(1, 20000) n, (values ('holon'), ('person')) kind (type)`,
    [hiddenHolon],
  );
  await env.sql('analyze events.subjects');
  const filled = await env.sql<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'events'::regnamespace and relkind = 'r' and reltuples > 1000`,
  );
  large = new Set(filled.map(({ name }) => name));
  client = new pg.Client({ connectionString: env.settings['DATABASE_URL'] ?? '', options: plannerOptions });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await env.stop();
});

function listScans(node: PlanNode): string[] {
  const { 'Node Type': type, 'Relation Name': table = '' } = node;
  return [...(type.endsWith('Seq Scan') && large.has(table) ? [table] : []), ...(node.Plans ?? []).flatMap(listScans)];
}

type Planned = Pick<DeclaredStatement<Shape, Shape, unknown>, 'prepared' | 'order'>;

async function plansOf({ prepared, order }: Planned, values: Readonly<Record<string, unknown>>): Promise<PlanNode[]> {
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
    `explain (format json) ${prepared.text}`,
    order.map((name) => values[name]),
  );
  return rows.flatMap((row) => row['QUERY PLAN'].map(({ Plan }) => Plan));
}

const scansOf = async (statement: Planned, values: Readonly<Record<string, unknown>>): Promise<string[]> =>
  (await plansOf(statement, values)).flatMap(listScans);

const indexesOf = (node: PlanNode): string[] => [
  ...(node['Index Name'] === undefined ? [] : [node['Index Name']]),
  ...(node.Plans ?? []).flatMap(indexesOf),
];

const member = { seesAll: false, hiddenHolons: [hiddenHolon], scopeHolons: [], scopePersonId: personId };
const everything = { seesAll: true, hiddenHolons: [], scopeHolons: null, scopePersonId: null };
const page = { after: 1_000, upTo: days * eventsPerDay, types: null, subjectType: null, limit: 501 };
const few = { seenTypes: ['conversation', 'conversation'], seenIds: [1, 2], each: 509 };

describe('query plans of the feed (V3, V4)', () => {
  it('detects a sequential scan in the feed', async () => {
    const statement = { prepared: { name: 'x', text: `select * from events.feed where data::text = '[]'` }, order: [] };
    expect((await scansOf(statement, {})).length).toBeGreaterThanOrEqual(days);
  });

  it.each([
    ['a window of everything', reading.findWindowEnd, { ...page, window: 20_000 }],
    [
      'a window of some types',
      reading.findWindowEnd,
      { ...page, types: ['membership.created', 'conversation.created'], window: 20_000 },
    ],
    ['a page for a superuser', reading.scanFeed, { ...everything, ...page }],
    ['a page for a member', reading.scanFeed, { ...member, ...page, upTo: 5_000 }],
    ['a page of a type', reading.scanFeed, { ...member, ...page, types: ['membership.created'] }],
    ['a page of a subject', reading.scanSubject, { ...member, ...page, subjectType: 'conversation', subjectId: 3 }],
    [
      'what a member sees of conversations',
      reading.listSeenSubjects,
      { ...member, after: 1_000, subjectTypes: ['conversation'], maxSets: 5_000, limit: 2_001 },
    ],
    ['how old an event is', reading.findAge, { position: 1_000 }],
    [
      'what a member sees of holons and people',
      reading.listSeenSubjects,
      {
        ...member,
        accountId: null,
        after: 1_000,
        subjectTypes: ['holon', 'person', 'membership'],
        maxSets: 5_000,
        limit: 2_001,
      },
    ],
    ['a page of a few subjects', reading.scanSubjects, { ...member, ...page, ...few }],
    ['subjects without an event', writing.deleteSubjects, { types: ['conversation', 'membership'], limit: 1_000 }],
    [
      'what is known of subjects after their events',
      writing.upsertSubjects,
      { types: ['conversation'], ids: [1], access: [null], finalEvents: [false], positions: [100_000] },
    ],
    ['subjects that nobody knows', writing.listWithoutAccess, { type: 'conversation', limit: 1_000 }],
  ] as const)('scans no table of the feed for %s', async (_what, statement, values) => {
    expect(await scansOf(statement as never, values)).toEqual([]);
  });

  it('upserts a feed subject through its primary key', async () => {
    const values = { types: ['conversation'], ids: [1], access: [null], finalEvents: [false], positions: [100] };
    const plans = await plansOf(writing.upsertSubjects, values);
    expect(plans.flatMap(indexesOf)).toEqual(['subjects__type_id__primary']);
  });

  it('removes old events through the index of positions', async () => {
    expect(await scansOf(raiseFloor, { before: new Date(Date.now() - 2 * 86_400_000).toISOString() })).toEqual([]);
  });
});
