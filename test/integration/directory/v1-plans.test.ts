/**
 * Every operation of `/api/v1/` on a large directory: its statements, their number, and that no plan scans a large
 * table (rules/memberships#lists). The statements are captured at PostgreSQL.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import type { Actor, Rpc } from '#libs/infrastructure/contract';
import { plannerOptions } from '#libs/infrastructure/orm';
import type { Bus } from '#libs/infrastructure/nats';
import { startService, waitFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { v1Routes } from '../../../services/api-gateway/routes/v1/index.ts';
import { fillDatabase } from '../../../lab/scale/fill.ts';
import { networkSeed } from '../../../lab/scale/network-sql.ts';
import {
  type Case,
  histories,
  historyOf,
  person,
  places,
  reads,
  readsOfSuperusers,
  sizes,
  word,
  writes,
} from './v1-plans-cases.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: PlanNode[];
}
interface Sent {
  readonly name: string | undefined;
  readonly text: string;
  readonly values: unknown[];
}

const { rpcs } = directory;
const largeTables = [
  'people',
  'holons',
  'memberships',
  'relationships',
  'notes',
  'person_notes',
  'holon_notes',
  'people_channel_values',
  'holons_channel_values',
  'history',
];
const user = { kind: 'user', personId: 1, superuser: false, globalEditor: false, coherenceAccess: false } as const;
const stranger: Actor = { ...user, accountId: 1 };
/** Has team authority over part of the tree. */
const host: Actor = { ...user, accountId: 2 };
const superuser: Actor = { ...user, accountId: 3, superuser: true };

let fixture: DirectoryFixture;
let client: pg.Client;

/** Statements that add what the generated data does not contain: accounts, journeys for bulk writes, questions, histories. */
const accounts = [
  `insert into directory.accounts (email, person_id) values ('a@example.org', 1), ('b@example.org', 2), ('c@example.org', 3), ('d@example.org', null)`,
  'insert into directory.team_authority (account_id, holon_id, is_active) values (2, 7, true)',
  'update directory.journeys set bulk_add = true',
  `insert into directory.journey_questions (journey_id, text, position) select 1, 'Question ' || n, n - 1 from generate_series(1, 300) as n`,
  ...Object.values(histories).map(
    (kind) => `insert into directory.history (object_kind, object_id, via, action, changes)
      select '${kind}', 1 + n % 100, 'api', 'update', '{"name": {"old": "a", "new": "b"}}' from generate_series(1, 10000) as n`,
  ),
  'analyze directory.history',
];

beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  await startService('conversations', fixture.env); // counts the conversations of a holon before its deletion
  const url = fixture.env.settings['DATABASE_URL'] ?? '';
  await fillDatabase({ url, seed: networkSeed(sizes), log: () => {} });
  client = new pg.Client({ connectionString: url, options: plannerOptions });
  await client.connect();
  await client.query('set search_path to directory, public'); // statements on the history do not name the schema
  for (const sql of accounts) await client.query(sql);
  for (const table of ['directory.people', 'directory.holons'])
    await waitFor(() => isVacuumed(table), { what: `vacuum of ${table}` });
});

/**
 * Returns whether VACUUM marked all rows as visible, which index-only scans for counts need. VACUUM cannot do so while
 * an older transaction may not see the rows.
 */
async function isVacuumed(table: string): Promise<boolean> {
  await client.query(`vacuum ${table}`);
  const { rows } = await client.query(
    `select relallvisible = relpages as done from pg_class where oid = $1::regclass`,
    [table],
  );
  return (rows as { done: boolean }[])[0]?.done === true;
}
afterAll(async () => {
  await client.end();
  await fixture.stop();
});

/** Operations of routes that the gateway serves with a handler. */
const ofHandlers: Readonly<Record<string, Rpc>> = {
  media: rpcs.checkExperienceLogo,
  'create-account': rpcs.inviteAccount,
  'reset-account-password': rpcs.resetAccountPassword,
};

/**
 * Returns the statements that the directory sends during `work`, except job queue maintenance and transaction control.
 */
async function listSent(work: () => Promise<unknown>): Promise<Sent[]> {
  const query = jest.spyOn(pg.Client.prototype, 'query');
  try {
    await work();
    const given = query.mock.calls as unknown as [string | Partial<Sent>, unknown[] | undefined][];
    return given
      .map(([config, values]) =>
        typeof config === 'string'
          ? { name: undefined, text: config, values: values ?? [] }
          : { name: config.name, text: config.text ?? '', values: config.values ?? values ?? [] },
      )
      .filter(({ text }) => /directory\.|\bhistory\b/.test(text) && !/jobs|outbox|receipts/.test(text));
  } finally {
    query.mockRestore();
  }
}

/**
 * Returns the large tables that a plan of the statement scans completely. Checks the plan for the given values and,
 * where possible, the generic plan.
 */
async function findTableScans({ name, text, values }: Sent): Promise<string[]> {
  const plans = [await client.query(`explain (format json) ${text}`, values)];
  if (name !== undefined) plans.push(await client.query(`explain (generic_plan, format json) ${text}`));
  return plans.flatMap(({ rows: found }: pg.QueryResult<{ 'QUERY PLAN': { Plan: PlanNode }[] }>) =>
    found.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => listTableScans(Plan))),
  );
}

/** Returns the indexes that the plan of the statement uses for the given values. */
async function findIndexes({ text, values }: Sent): Promise<string[]> {
  const listIndexes = (node: PlanNode): string[] => [
    ...(node['Index Name'] === undefined ? [] : [node['Index Name']]),
    ...(node.Plans ?? []).flatMap(listIndexes),
  ];
  const { rows: plans }: pg.QueryResult<{ 'QUERY PLAN': { Plan: PlanNode }[] }> = await client.query(
    `explain (format json) ${text}`,
    values,
  );
  return plans.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => listIndexes(Plan)));
}

function listTableScans(node: PlanNode): string[] {
  const table = node['Relation Name'];
  const own =
    node['Node Type'].endsWith('Seq Scan') && table !== undefined && largeTables.includes(table) ? [table] : [];
  return [...own, ...(node.Plans ?? []).flatMap(listTableScans)];
}

async function expectNoScan({ rpc, requests }: Case, actors: readonly Actor[]): Promise<void> {
  for (const request of requests) {
    for (const actor of actors) {
      const sent = await listSent(() => fixture.call(rpc, request as never, actor).catch(() => undefined));
      expect([request, sent.length]).not.toEqual([request, 0]);
      for (const one of sent) {
        const scans = await findTableScans(one);
        if (scans.length > 0)
          found.push({
            operation: rpc.subject,
            request,
            account: actor.kind === 'user' ? actor.accountId : 0,
            name: one.name,
            scans,
          });
      }
    }
  }
  expect(found.splice(0)).toEqual([]);
}
const found: unknown[] = [];

/**
 * The event feed and webhook endpoints belong to the events service (test/integration/events), agents to the agents
 * service (test/integration/agents).
 */
const ofDirectory = v1Routes.filter(({ rpc }) => !/^(?:events|agents)\./.test(rpc?.subject ?? ''));

describe('the plans of the open API in a large directory (rules/memberships#lists)', () => {
  it('covers every operation of the route table by a query plan, and detects a sequential scan', async () => {
    const covered = new Set([...reads, ...readsOfSuperusers, ...writes].map(({ rpc }) => rpc.subject));
    covered.add(rpcs.erasePerson.subject); // at the end of this file
    const uncovered = ofDirectory.filter(
      ({ handler, rpc = ofHandlers[handler ?? ''] }) => rpc === undefined || !covered.has(rpc.subject),
    );
    expect(uncovered).toEqual([]);
    const text = `select n.id from directory.notes n where n.body = $1`;
    expect(await findTableScans({ name: 'x', text, values: ['x'] })).toEqual(['notes', 'notes']);
  });

  it.each(reads)('the read $operation scans no large table', (one) => expectNoScan(one, [stranger, host, superuser]));
  it.each(readsOfSuperusers)('the read $operation of superusers scans no large table', (one) =>
    expectNoScan(one, [superuser]),
  );
  it.each(writes)('the write $operation scans no large table', (one) => expectNoScan(one, [superuser]));
});

describe('indexes used by lists with a text (rules/people#people, rules/holons#holons)', () => {
  it.each([
    ['listPeople', 'people__listed__long_grams', 'people__search_name__trgm'],
    ['listHolons', 'holons__listed__long_grams', 'holons__search_name__trgm'],
  ] as const)(
    'uses the long-gram index for %s from five characters on, and the trigram index for shorter texts',
    async (operation, longGrams, trigrams) => {
      const indexesFor = async (q: string): Promise<string[]> => {
        const sent = await listSent(() => fixture.call(rpcs[operation], { q }, stranger));
        return (await Promise.all(sent.map(findIndexes))).flat();
      };
      for (const q of [word('name'), `ada ${word('name')}`, word('name').slice(0, 5)]) {
        const indexes = await indexesFor(q);
        expect([q, indexes.includes(longGrams), indexes.includes(trigrams)]).toEqual([q, true, false]);
      }
      const indexes = await indexesFor(word('name').slice(0, 4));
      expect([indexes.includes(longGrams), indexes.includes(trigrams)]).toEqual([false, true]);
    },
  );
});

describe('indexes used by search (rules/people#search)', () => {
  const longGrams = ['people__search__long_grams', 'holons__search__long_grams'];

  it.each([
    ['few rows', word('name'), true],
    ['few rows among words of many', `carla ${word('channel')}`, true],
    ['many rows', 'carla', false],
    ['fewer than five characters', word('name').slice(0, 4), false],
  ])('uses the long-gram indexes for a rare word of at least five characters: %s', async (_, q, asked) => {
    const sent = await listSent(() => fixture.call(rpcs.searchDirectory, { q }, stranger));
    const indexes = (await Promise.all(sent.map(findIndexes))).flat();
    expect(longGrams.map((index) => indexes.includes(index))).toEqual([asked, asked]);
    expect(indexes.includes('people__search_name__order')).toBe(!asked);
  });
});

describe('calls and statements of a list (rules/http#limits)', () => {
  const known = places.slice(0, 2);
  /** Maximum number of statements: the list, and one lookup before it, such as the classes of a filter. */
  const mostStatements = 2;
  /** Pairs of requests: the response to the first has few rows, the response to the second has many. */
  const pairs: readonly [operation: keyof typeof rpcs, few: object, many: object, actor?: Actor][] = [
    ['searchDirectory', { q: 'carla', limit_per_type: 1 }, { q: 'carla', limit_per_type: 50 }],
    ['listPeople', { q: 'carla', limit: 1 }, { q: 'carla', limit: 100 }],
    ['listHolons', { class: 'circle', limit: 1 }, { class: 'circle', limit: 100 }],
    ['listClasses', { object_kind: 'person' }, {}],
    ['listJourneys', { limit: 1 }, { limit: 200 }],
    ['getJourney', { slug: 'journey-1' }, { slug: 'journey-2' }],
    ['listPersonMemberships', { ...person, limit: 1 }, { ...person, limit: 200 }],
    ['listNotesOfPerson', { ...person, limit: 1 }, { ...person, limit: 200 }],
    ...(['listHolonMemberships', 'listHolonRelationships', 'listNotesOfHolon'] as const).map(
      (operation) =>
        [operation, { ...known[1], limit: 1 }, { ...known[0], limit: 200 }] as [keyof typeof rpcs, object, object],
    ),
    ['listSpheres', { limit: 1 }, { limit: 200 }],
    ['listResponsible', { type: 'person,circle', limit: 1 }, { type: 'person,circle', limit: 100 }],
    ['listQuestions', { journey_slug: 'journey-1', limit: 1 }, { journey_slug: 'journey-1', limit: 1_000 }, superuser],
    ['searchAccounts', { limit: 1 }, { limit: 200 }, superuser],
    ...Object.values(histories).map((kind): (typeof pairs)[number] => {
      const one = { kind, id: historyOf(kind) };
      return ['listHistory', { ...one, limit: 1 }, { ...one, limit: 200 }, superuser];
    }),
  ];

  it('makes one call to the directory for each read operation', () => {
    const listed = ofDirectory.filter(({ method }) => method === 'GET');
    expect(listed.filter(({ rpc, handler }) => rpc === undefined || handler !== undefined)).toEqual([]);
    const single: readonly (keyof typeof rpcs)[] = [
      'getPerson',
      'getHolon',
      'getHolonBySlug',
      'getClass',
      'getKey',
      'listKeys',
      'getAccount',
      'listIdentities',
      'getErasure',
      'exportPerson',
    ];
    const covered = new Set([...pairs.map(([operation]) => operation), ...single].map((name) => rpcs[name].subject));
    expect(listed.filter(({ rpc }) => !covered.has(rpc?.subject ?? '')).map(({ operationId }) => operationId)).toEqual(
      [],
    );
    const kinds = listed.filter(({ rpc }) => rpc?.subject === rpcs.listHistory.subject);
    expect(kinds.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(histories).toSorted());
  });

  it.each(pairs)(
    '%s uses the same statements for few and for many rows, and calls no other service',
    async (operation, few, many, actor = host) => {
      const read = (request: object) => fixture.call(rpcs[operation], request, actor);
      const namesOf = (sent: readonly Sent[]): string[] => sent.map(({ name, text }) => name ?? text);
      const calls = jest.spyOn(Object.getPrototypeOf(fixture.bus) as Bus, 'call');
      try {
        const [ofFew, ofMany] = [await listSent(() => read(few)), await listSent(() => read(many))];
        expect(namesOf(ofFew)).toEqual(namesOf(ofMany));
        expect(ofMany.length).toBeLessThanOrEqual(mostStatements);
        // Excludes calls for merges, because merges of earlier tests retry their calls to other services.
        const asked = (calls.mock.calls as unknown as [Rpc][]).filter(([rpc]) => !/merge/i.test(rpc.subject));
        expect(asked.map(([rpc]) => rpc.subject)).toEqual([rpcs[operation].subject, rpcs[operation].subject]);
      } finally {
        calls.mockRestore();
      }
    },
  );
});

/** Runs last, because the background work of an erasure continues during later tests. */
describe('the plans of an erasure (W20)', () => {
  it('scans no large table at its start', async () => {
    const found = await client.query<{ name: string }>('select name from directory.people where id = 92');
    const names = ['Another name', found.rows[0]?.name];
    const requests = names.map((confirm) => ({ person_id: 92, confirm }));
    await expectNoScan({ operation: 'erasePerson', rpc: rpcs.erasePerson, requests }, [superuser]);
    expect((await fixture.call(rpcs.getErasure, { person_id: 92 })).erasure.id).toEqual(expect.any(Number));
  });
});
