import { plannerOptions } from '#libs/infrastructure/orm';
import type { DeclaredStatement, CoalescedStatement, Shape } from '#libs/infrastructure/sql';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import * as conversation from '../../../services/conversations/conversation/statements.ts';
import { replaceRoom } from '../../../services/conversations/room/statements.ts';
import * as browsing from '../../../services/conversations/discovery/statements.ts';
import * as searching from '../../../services/conversations/discovery/statements.ts';
import { scopeValues } from '../../../services/conversations/access.ts';
import { findMembership, findConversation } from '../../../services/conversations/statements.ts';
import * as browse from '../../../services/directory/browse/statements.ts';
import * as holons from '../../../services/directory/holons/statements/holon.ts';
import * as visible from '../../../services/directory/holons/statements/lists.ts';
import * as journeys from '../../../services/directory/journeys/statements.ts';
import * as people from '../../../services/directory/people/statements.ts';
import { seedDatabase } from '../../../lab/scale/seed.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  Plans?: PlanNode[];
}

interface Query {
  text: string;
  params: unknown[];
  /** The planner settings under which a cursor is declared; undefined for other statements. */
  planner?: Readonly<Record<string, string>>;
}

const sizes = { conversations: 20_000, people: 12_000, holons: 12_000 };
const largeTables = [
  'all_conversations',
  'people',
  'holons',
  'journeys',
  'journey_steps',
  'journey_questions',
  'holon_journeys',
];
const viewer = { seesAll: false, accountId: 1 }; // A caller without access to private objects.
/** A caller with access to some of the conversations (D69). */
const member = { personId: 300, eventIds: [2_007, 2_008] };
const active = { personId: 300, journeyId: 7, time: '2025-01-01T00:00:00Z' };
const tens = Array.from({ length: 10 }, (_, index) => index);
const tenEvents = { eventIds: tens.map((index) => 2_001 + index), journeyIds: tens.map((index) => 1 + index) };

let env: TestEnvironment;
let client: pg.Client;

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  const url = env.settings['DATABASE_URL'] ?? '';
  await seedDatabase({ url, sizes, log: () => {} });
  client = new pg.Client({ connectionString: url, options: plannerOptions });
  await client.connect();
  // The services use the same search path: events are written to the outbox of the schema.
  await client.query('set search_path = conversations, public');
}, 240_000);

afterAll(async () => {
  await client.end();
  await env.stop();
});

function toQuery(
  { prepared, order }: Pick<DeclaredStatement<Shape, Shape, unknown>, 'prepared' | 'order'>,
  values: Readonly<Record<string, unknown>>,
): Query {
  return { text: prepared.text, params: order.map((name) => values[name]) };
}

/** Returns a multi-row write that writes the same values to each row. */
function ofCalls(
  { prepared, order }: Pick<CoalescedStatement<Shape, Shape>, 'prepared' | 'order'>,
  ids: readonly number[],
  values: Readonly<Record<string, unknown>>,
): Query {
  return { text: prepared.text, params: order.map((name) => ids.map((id) => (name === 'id' ? id : values[name]))) };
}

/** A full read of a large table; `inOrder`: by an index, without an index condition. */
interface WholeRead {
  table: string;
  inOrder: boolean;
}

/** Returns the large tables that a plan of the query reads completely. */
async function findWholeReads({ text, params, planner }: Query): Promise<WholeRead[]> {
  const plans = [];
  await client.query('begin');
  for (const setting of Object.entries(planner ?? {})) await client.query('select set_config($1, $2, true)', setting);
  const subject = planner === undefined ? text : `declare batches no scroll cursor for ${text}`;
  plans.push(await client.query(`explain (format json) ${subject}`, params));
  // Also checks the generic plan of a prepared statement, which does not depend on parameter values. A cursor is
  // planned for its values each time.
  if (planner === undefined) plans.push(await client.query(`explain (generic_plan, format json) ${text}`));
  await client.query('rollback');
  return plans.flatMap(({ rows }: pg.QueryResult<{ 'QUERY PLAN': { Plan: PlanNode }[] }>) =>
    rows.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => listWholeReads(Plan))),
  );
}

function listWholeReads(node: PlanNode): WholeRead[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Cond': condition } = node;
  const inOrder = type.startsWith('Index') && condition === undefined;
  const own =
    (inOrder || type.endsWith('Seq Scan')) && table !== undefined && largeTables.includes(table)
      ? [{ table, inOrder }]
      : [];
  return [...own, ...(node.Plans ?? []).flatMap(listWholeReads)];
}

const one = <Row extends object>(sql: string): Promise<Row[]> => env.sql<Row>(sql);

/** Returns the ids of the holon and all its descendants. */
async function subtree(slug: string): Promise<number[]> {
  const rows = await one<{ id: number }>(
    `with recursive tree as (select id from directory.holons where slug = '${slug}'
       union select h.id from directory.holons h join tree on h.parent_id = tree.id) select id from tree`,
  );
  return rows.map((row) => row.id);
}

describe('query plans of conversations in a large database (rules/discovery#search-and-summary, rules/discovery#browse)', () => {
  it('detects a sequential scan of the conversations', async () => {
    const scan = { table: 'all_conversations', inOrder: false };
    expect(
      await findWholeReads({
        text: `select c.id from conversations.conversations c where c.config = '{}'`,
        params: [],
      }),
    ).toEqual([scan, scan]);
  });

  it.each([
    ['single read', toQuery(findConversation, { id: 17 })],
    ['find-active', toQuery(conversation.listActive, { ...active, limit: 51 })],
    [
      'find-active within a scope',
      toQuery(conversation.listActiveWithin, { ...active, ...scopeValues(member), limit: 51 }),
    ],
    ['membership', toQuery(findMembership, { id: 17, personId: 300 })],
    [
      'PATCH',
      ofCalls(conversation.patchConversation, [17, 4_000, 9], {
        infos: '{"a":1}',
        config: '{}',
        expectedUpdatedAt: null,
      }),
    ],
    ['a room', ofCalls(replaceRoom, [17, 4_000, 9], { room: '{}', updatedAt: '2026-05-01 10:00:00' })],
    ['summary', toQuery(searching.summarizeConversation, { id: 17 })],
  ])('reads no large table completely: %s', async (_name, query) => {
    expect(await findWholeReads(query)).toEqual([]);
  });

  const filters = [false, true];
  const combinations = filters.flatMap((event) =>
    filters.flatMap((connected) =>
      filters.flatMap((person) =>
        filters.map((scope) => ({
          event,
          connected,
          person,
          scope,
          title: title({ event, connected, person, scope }),
        })),
      ),
    ),
  );

  function title(given: Record<string, boolean>): string {
    const names = Object.keys(given).filter((name) => given[name]);
    return names.length === 0 ? 'nothing' : names.join(', ');
  }

  it.each(combinations)(
    'search by $title reads no large table completely, in both sort orders',
    async ({ event, connected, person, scope }) => {
      for (const slug of ['holon-19999', 'holon-205', 'holon-1']) {
        // A request for all conversations may read an index completely, in order.
        const all = !connected && !person && !scope && (!event || slug === 'holon-1');
        for (const sort of ['date_desc', 'date_asc'] as const) {
          const { search, values } = searching.chooseSearch(
            {
              eventIds: event ? await subtree(slug) : undefined,
              connectedId: connected ? 70 : undefined,
              personId: person ? 300 : undefined,
              scope: scope ? member : undefined,
            },
            sort,
          );
          const reads = await findWholeReads({ ...toQuery(search, values), planner: searching.searchPlanner });
          expect({ slug, sort, reads }).toEqual({
            slug,
            sort,
            reads: all ? [{ table: 'all_conversations', inOrder: true }] : [],
          });
        }
      }
    },
  );

  it.each([
    ['a journey', browsing.listOfJourney, browsing.listOfJourneyWithin, { journeyId: 7 }],
    [
      'an event with one of its journeys',
      browsing.listOfGroups,
      browsing.listOfGroupsWithin,
      { eventIds: [2_007], journeyIds: [7] },
    ],
    ['ten events', browsing.listOfGroups, browsing.listOfGroupsWithin, tenEvents],
  ])('browse of %s reads no large table completely', async (_name, all, within, values) => {
    for (const query of [toQuery(all, values), toQuery(within, { ...values, ...scopeValues(member) })]) {
      expect(await findWholeReads({ ...query, planner: browsing.browsePlanner })).toEqual([]);
    }
  });
});

describe('query plans of directory look-ups by conversations (D18f)', () => {
  const ids = Array.from({ length: 200 }, (_, index) => index * 3 + 1);

  it.each([
    ['people by id', toQuery(people.getPeople, { ids })],
    ['holons by id', toQuery(holons.getHolons, { ids, slugs: [] })],
    ['a holon by slug', toQuery(holons.getHolons, { ids: [], slugs: ['holon-77'] })],
    ['journeys by id', toQuery(journeys.getJourneys, { ids: ids.slice(0, 5), slugs: [] })],
    ['a journey by slug', toQuery(journeys.getJourneys, { ids: [], slugs: ['journey-7'] })],
    ['the holons below one', toQuery(visible.getHolonSubtree, { slug: 'holon-60', ...viewer })],
    ['which holons are visible', toQuery(visible.getVisibleHolons, { ids, slugs: [], accountId: viewer.accountId })],
    ['holons covered by team authority', toQuery(visible.listCoveredHolons, { accountId: 1 })],
    ['which holons team authority covers', toQuery(visible.findCoveredHolons, { accountId: 1, ids })],
    ['a holon with its events', toQuery(browse.browseHolon, { slug: 'holon-60', ...viewer })],
    ['public people', toQuery(browse.lookUpPeople, { ids: ids.slice(0, 50) })],
    ['public holons', toQuery(browse.lookUpHolons, { ids: ids.slice(0, 50), ...viewer })],
  ])('finds %s without scanning a large table', async (_name, subject) => {
    expect(await findWholeReads(subject)).toEqual([]);
  });
});
