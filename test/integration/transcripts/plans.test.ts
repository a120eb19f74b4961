import { plannerOptions } from '#libs/infrastructure/orm';
import type { DeclaredStatement, Shape } from '#libs/infrastructure/sql';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { seedTranscripts } from '../../../lab/scale/seed.ts';
import { vocabulary, wordOf } from '../../../lab/scale/transcript-sql.ts';
import { listSpeakers } from '../../../services/transcripts/speaker-names.ts';
import * as rows from '../../../services/transcripts/search/statements/index-rows.ts';
import * as search from '../../../services/transcripts/search/statements/search.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: PlanNode[];
}

const sizes = { rows: 120_000, rowsPerConversation: 20 };
const largeTables = ['transcript_rows', 'search_segments', 'search_conversations', 'speakers'];
const everything = {
  eventIds: null,
  journeyId: null,
  from: null,
  to: null,
  scopePersonId: null,
  scopeEventIds: null,
  hiddenEventIds: [],
};
const firstPage = {
  belowStart: '9999-12-31T23:59:59Z',
  belowId: 2_147_483_647,
  belowIndex: 2_147_483_647,
  lastStart: '0001-01-01T00:00:00Z',
  lastId: 0,
  lastIndex: 0,
  afterScore: Number.MAX_VALUE,
  afterStart: '9999-12-31T23:59:59Z',
  afterId: 2_147_483_647,
  afterIndex: 2_147_483_647,
  window: 500,
  limit: 21,
};

let env: TestEnvironment;
let client: pg.Client;
beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  const url = env.settings['DATABASE_URL'] ?? '';
  await seedTranscripts({ url, sizes, log: () => {} });
  client = new pg.Client({ connectionString: url, options: plannerOptions });
  await client.connect();
  await client.query('set search_path = transcripts, public');
}, 240_000);
afterAll(async () => {
  await client.end();
  await env.stop();
});

type Explained = Pick<DeclaredStatement<Shape, Shape, unknown>, 'prepared' | 'order'>;

async function explain({ prepared, order }: Explained, values: Readonly<Record<string, unknown>>): Promise<PlanNode[]> {
  const { rows: plans } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
    `explain (format json) ${prepared.text}`,
    order.map((name) => values[name]),
  );
  return plans.flatMap((plan) => plan['QUERY PLAN'].map(({ Plan }) => Plan));
}

/** Returns the large tables that the plan for these values scans completely. */
async function findScans(statement: Explained, values: Readonly<Record<string, unknown>>): Promise<string[]> {
  return (await explain(statement, values)).flatMap(listScans);
}

function listIndexes({ 'Index Name': name, Plans = [] }: PlanNode): string[] {
  return [...(name === undefined ? [] : [name]), ...Plans.flatMap(listIndexes)];
}

function listScans({ 'Node Type': type, 'Relation Name': table = '', Plans = [] }: PlanNode): string[] {
  return [...(type.endsWith('Seq Scan') && largeTables.includes(table) ? [table] : []), ...Plans.flatMap(listScans)];
}

const quote = (...words: string[]): string => `(${words.map((word) => `'${word}'`).join(' <-> ')})`;
const rare = wordOf(vocabulary - 7);
const questions: readonly (readonly [string, string])[] = [
  ['a rare word', quote(rare)],
  ['a middling word', quote(wordOf(4_000))],
  ['a frequent word', quote(wordOf(8))],
  ['the most frequent word', quote(wordOf(1))],
  ['a word that nobody said', quote('nobody')],
  ['a frequent and a rare word', `${quote(wordOf(8))} & ${quote(rare)}`],
  ['a phrase', quote(wordOf(1), wordOf(8))],
  ['a word without another', `${quote(wordOf(8))} & !${quote(wordOf(1))}`],
  ['a prefix', `('${rare.slice(0, 4)}':*)`],
];
const filters: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['everywhere', {}],
  ['in events', { eventIds: [210, 211] }],
  ['in a journey', { journeyId: 7 }],
  ['in a month', { from: '2025-02-01T00:00:00Z', to: '2025-03-01T00:00:00Z' }],
  ['in what somebody may read', { scopePersonId: 40, scopeEventIds: [215] }],
  ['where little is hidden', { hiddenEventIds: [201, 202] }],
];

describe('query plans of the transcript search in a large database (T3)', () => {
  it('detects a sequential scan in the transcript search', async () => {
    const { rows: plans } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      `explain (format json) select 1 from search_segments where start_us % 7 = 3`,
    );
    expect(plans.flatMap((plan) => plan['QUERY PLAN'].flatMap(({ Plan }) => listScans(Plan)))).toEqual([
      'search_segments',
    ]);
  });

  describe.each(filters)('transcript search %s', (where, filter) => {
    const given = { ...everything, ...filter };

    it('finds the conversations of a search filter without a sequential scan', async () => {
      // Without a filter the service does not use this statement.
      if (Object.keys(filter).every((name) => name === 'hiddenEventIds')) expect(where).toMatch(/everywhere|hidden/);
      else expect(await findScans(search.listFitting, { ...given, limit: 1_001 })).toEqual([]);
    });

    it.each(questions)(
      'searches for %s without a sequential scan, for one speaker, few conversations, and later pages',
      async (_what, query) => {
        const few = Array.from({ length: 30 }, (_, index) => index * 11 + 1);
        for (const more of [{}, { personId: 40 }, { conversationIds: few }, { belowStart: '2025-06-01T00:00:00Z' }]) {
          const values = { ...given, query, personId: null, conversationIds: null, ...firstPage, ...more };
          expect([more, await findScans(search.findBest, values)]).toEqual([more, []]);
        }
      },
    );

    it.each(questions)(
      'searches for %s of one speaker without a sequential scan and without the word index',
      async (_what, query) => {
        const conversationIds = (
          await client.query<{ id: number }>(search.listConversationsWithSpeaker.prepared.text, [40, 1_001])
        ).rows.map(({ id }) => id);
        expect(conversationIds.length).toBeGreaterThan(1);
        const values = { ...given, query, personId: 40, conversationIds, ...firstPage };
        const plans = await explain(search.walkBest, values);
        expect([plans.flatMap(listScans), plans.flatMap(listIndexes).filter((name) => name.includes('words'))]).toEqual(
          [[], []],
        );
      },
    );
  });

  it.each([
    ['the rows of a page', search.listSegments, { conversationIds: [3, 900, 77], indexes: [1, 2, 3] }],
    ['the conversations of a speaker', search.listConversationsWithSpeaker, { personId: 40, limit: 1_001 }],
    ['the speakers of a page', listSpeakers, { conversationIds: [3, 900, 77] }],
    ['what is indexed next', rows.listNextRows, { conversationId: 12, afterStart: 0, afterPosition: 0, limit: 1_000 }],
    ['what is cleared', rows.clearSegments, { ids: [5, 6] }],
    ['what nobody has indexed', rows.listUnindexed, { after: 0, limit: 1_000 }],
  ] as const)('searches for %s without a sequential scan', async (_what, statement, values) => {
    expect(await findScans(statement, values)).toEqual([]);
  });
});
