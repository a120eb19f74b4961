/**
 * Every operation of `/api/v1/` on a large directory: its statements, their number, and that no plan scans a large
 * table (rules/memberships#lists). The statements are captured at PostgreSQL.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import type { Actor, Rpc } from '#libs/contract';
import { plannerOptions } from '#libs/orm';
import type { Bus } from '#libs/nats';
import { startService, waitFor } from '#libs/testing';
import { directory } from '#services/directory';
import { v1Routes } from '../../../services/api-gateway/routes/v1/index.ts';
import { fillDatabase } from '../../../lab/scale/fill.ts';
import {
  networkSeed,
  personTarget,
  plantedPair,
  plantedWord,
  responsibleTarget,
  targetHolonId,
} from '../../../lab/scale/network-sql.ts';
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
const sizes = { people: 20_000, holons: 10_000 };
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
/** A holon with 50 members, a holon with few members, and an id without a holon. */
const places = [{ holon_id: targetHolonId(sizes, 1) }, { holon_id: 9_000 }, { holon_id: 2_147_483_647 }];
const person = { person_id: personTarget(sizes, 1) };
const user = { kind: 'user', personId: 1, superuser: false, globalEditor: false, coherenceAccess: false } as const;
const stranger: Actor = { ...user, accountId: 1 };
/** Has team authority over part of the tree. */
const host: Actor = { ...user, accountId: 2 };
const superuser: Actor = { ...user, accountId: 3, superuser: true };

let fixture: DirectoryFixture;
let client: pg.Client;

/** Kinds of objects with a history, by the operation that lists it. */
const histories = {
  listPersonHistory: 'people',
  listHolonHistory: 'holons',
  listMembershipHistory: 'memberships',
  listRelationshipHistory: 'relationships',
  listJourneyHistory: 'journeys',
  listAccountHistory: 'accounts',
  listClassHistory: 'classes',
} as const;

/** Statements that add what the generated data does not contain: accounts, journeys for bulk writes, questions, histories. */
const accounts = [
  `insert into directory.accounts (email, person_id) values ('a@example.org', 1), ('b@example.org', 2), ('c@example.org', 3)`,
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

interface Case {
  readonly operation: string;
  readonly rpc: Rpc;
  readonly requests: readonly object[];
}
const ask = (operation: keyof typeof rpcs, ...requests: object[]): Case => ({
  operation,
  rpc: rpcs[operation],
  requests,
});

/** Returns the id of the object of `kind` whose history the tests list. */
const historyOf = (kind: string): string =>
  ({ holons: '7', journeys: 'journey-1', classes: 'holon/place' })[kind] ?? '1';
function pagesOfHistory(kind: (typeof histories)[keyof typeof histories]): object[] {
  return [{}, { limit: 200 }, { cursor: '5000' }].map((page) => ({ kind, id: historyOf(kind), ...page }));
}

const word = (kind: 'name' | 'description' | 'channel'): string => plantedWord(kind, 1).toLowerCase();
const texts = [
  word('name'),
  word('description'),
  word('channel'),
  plantedPair(1),
  `ada ${word('name')}`,
  'nobody of that name',
  '%_',
];
/** Match a large share of all rows; the empty text matches every name. */
const frequentTexts = ['', 'carla', 'meadow'];
const sorts = ['name', 'latest', 'updated'];
const sorted = [word('name'), ...frequentTexts].flatMap((q) => sorts.map((sort) => ({ q, sort })));
const after = { created_after: '2020-01-01T00:00:00Z', updated_after: '2020-01-01T00:00:00Z' };

const reads: readonly Case[] = [
  ask(
    'searchDirectory',
    ...[...texts, 'an', 'carla', 'example.org', '+4930123456', 'ann@b\u00fccher.example'].flatMap((q) => [
      { q },
      { q, types: 'holon', limit_per_type: 50 },
    ]),
  ),
  ask('listPeople', ...sorted, ...texts.map((q) => ({ q })), { q: word('name'), ...after }),
  ask('getPerson', { person_id: 77 }),
  ask(
    'listHolons',
    ...sorted,
    ...texts.map((q) => ({ q })),
    ...['place', 'circle', 'closed-circle'].flatMap((slug) => sorts.map((sort) => ({ class: slug, sort }))),
    ...texts.map((q) => ({ q, class: 'circle', parent: 60 })),
    { q: '', parent: 60, ...after },
  ),
  ask('getHolon', { holon_id: 77 }),
  ask('getHolonBySlug', { slug: 'holon-77' }),
  ask('listClasses', {}, { object_kind: 'holon' }),
  ask('getClass', { object_kind: 'holon', slug: 'place' }),
  ask(
    'listJourneys',
    {},
    { q: 'journey 7' },
    { q: 'j', limit: 200 },
    { applies_to: 'place', is_conversation: true, svc_app: 'x' },
  ),
  ask('getJourney', { slug: 'journey-1' }),
  ask('listPersonMemberships', person, { ...person, limit: 200, offset: 1 }),
  ask(
    'listHolonMemberships',
    ...places.flatMap((place) => [
      ...['name', '-name', 'follow_up_after', '-follow_up_after', 'person_created', '-person_created'].map((sort) => ({
        ...place,
        sort,
      })),
      ...['ada', 'a', 'person77'].map((q) => ({ ...place, q })),
      { ...place, journey: 'journey-2', step_slug: 'step-1', responsible_person_id: 7, follow_up: 'overdue' },
      { ...place, follow_up: 'none', limit: 200 },
    ]),
  ),
  ask('listHolonRelationships', ...places),
  ask('listNotesOfPerson', person, { person_id: 2_147_483_647 }),
  ask('listNotesOfHolon', ...places),
  ask(
    'listResponsible',
    ...[{}, { responsible: responsibleTarget(1) }].flatMap((responsible) =>
      [
        {},
        { type: 'person' },
        { type: 'closed-circle' },
        { type: 'place,person', when: 'overdue' },
        { when: 'today,future', offset: 50 },
      ].map((more) => ({ ...responsible, ...more })),
    ),
  ),
  ask('listSpheres', {}, { limit: 200 }),
  ask('listKeys', {}),
  ask('getKey', { key_id: 'nobodys' }),
  ...(['people', 'holons', 'memberships', 'relationships', 'classes'] as const).map((kind) =>
    ask('listHistory', ...pagesOfHistory(kind)),
  ),
];

/** Reads that are denied to other accounts before the first statement. */
const readsOfSuperusers: readonly Case[] = [
  ask('listQuestions', { journey_slug: 'journey-1' }, { journey_slug: 'journey-1', limit: 1_000 }),
  ask('listHistory', ...pagesOfHistory('journeys')),
  ask('listHistory', ...pagesOfHistory('accounts')),
  ask(
    'searchAccounts',
    {},
    { q: 'example' },
    { limit: 200, active: true, superuser: false, group: 'workspace_editors' },
  ),
  ask('getAccount', { account_id: 2 }),
  ask('exportPerson', person),
  ask('getErasure', person, { person_id: 2_147_483_647 }),
];

const writes: readonly Case[] = [
  ask(
    'createPerson',
    { name: 'New', contact: { email: 'new@example.org', linkedin: 'https://linkedin.com/in/new' }, note: 'x' },
    { name: 'New', membership: { ...places[0], journey_slug: 'journey-1', responsible_person_id: 2 }, note: 'x' },
  ),
  ask('updateHolon', {
    holon_id: 60,
    name: 'Other',
    links: { a: 'https://example.org' },
    journey_ids: [1, 2],
    locations: ['DE'],
  }),
  ask('updateHolon', { holon_id: 61, parent_id: null, slug: 'other-slug' }, { holon_id: 60, parent_id: 61 }),
  ask('createHolon', { name: 'Holon 77', class: 'place', parent_id: 60, journey_ids: [1], spheres: [1] }),
  ask('createHolon', { name: 'New place', class: 'place', parent_id: 60 }),
  ask('deleteHolon', { holon_id: 62 }),
  ask('createSphere', { name: 'New sphere' }),
  ask('updateSphere', { sphere_id: 1, name: 'Other' }),
  ask('createExperience', { parent_id: 60, name: 'Walk', description: 'Out' }),
  ask('bulkAddMemberships', {
    ...places[1],
    journey_slug: 'journey-1',
    memberships: Array.from({ length: 300 }, (_, index) => ({ person_id: index + 1, responsible_person_id: 2 })),
  }),
  ask('updateMembership', {
    membership_id: 77,
    note: 'x',
    advance_step: true,
    follow_up_after: '2026-05-01',
    responsible_person_id: 2,
  }),
  ask('updateMembership', { membership_id: 78, note: 'x', journey_slug: 'journey-3', step_slug: 'step-2' }),
  ask('updateRelationship', { relationship_id: 77, note: 'x', advance_step: true }),
  ask('createMembership', {
    person_id: 90,
    ...places[1],
    journey_slug: 'journey-1',
    responsible_person_id: 2,
    note: 'x',
  }),
  ask('createRelationship', { from_holon_id: 60, to_holon_id: 61, journey_slug: 'journey-1', note: 'x' }),
  ask('createPersonNote', { person_id: 90, holon_id: 60, body: 'x' }),
  ask('createHolonNote', { holon_id: 60, body: 'x' }),
  ask('updateNote', { note_id: 77, body: 'y' }),
  ask('deleteNote', { note_id: 77 }),
  ask('deleteMembership', { membership_id: 79 }),
  ask('deleteRelationship', { relationship_id: 79 }),
  ask('checkExperienceLogo', { experience_id: 77 }),
  ask('createKey', { name: 'x', scopes: ['*'] }),
  ask('rotateKey', { key_id: 'nobodys' }),
  ask('revokeKey', { key_id: 'nobodys' }),
  ask('mergePerson', { person_id: 90, into: 91 }),
  ask('updatePerson', { person_id: 91, name: 'Renamed', contact: { email: 'renamed@example.org', website: null } }),
  ask(
    'createClass',
    { slug: 'hall', parent: 'place', allowed_children: ['circle'], journeys: ['journey-1'] },
    { slug: 'place' },
  ),
  ask('updateClass', { object_kind: 'holon', slug: 'guild', label: 'Club', journeys: ['journey-2'], private: true }),
  ask('deleteClass', { object_kind: 'holon', slug: 'hall' }, { object_kind: 'holon', slug: 'circle' }),
  ask('createJourney', { slug: 'new', name: 'New', steps: [{ slug: 'one' }], questions: [{ text: 'Why?' }] }),
  ask('updateJourney', { journey_slug: 'journey-4', name: 'Other', applies_to: 'place', texts: { welcome: 'Hi' } }),
  ask('createStep', { journey_slug: 'new', slug: 'two', title: 'Two', position: 0 }),
  ask('updateStep', { journey_slug: 'journey-4', step_slug: 'step-2', title: 'Other', position: 0 }),
  ask('deleteStep', { journey_slug: 'new', step_slug: 'two' }, { journey_slug: 'journey-4', step_slug: 'step-2' }),
  ask('createQuestion', { journey_slug: 'journey-1', text: 'How?', position: 3 }),
  ask('updateQuestion', { journey_slug: 'journey-1', question_id: 7, text: 'When?', position: 0, is_archived: true }),
  ask('deleteJourney', { journey_slug: 'new' }, { journey_slug: 'journey-4' }),
  ask('inviteAccount', {
    email: 'new-account@example.org',
    person_id: 93,
    groups: ['workspace_editors'],
    teams: [{ holon_id: 60 }],
    seed: 'seed',
    token_sha256: 'a'.repeat(43),
  }),
  ask('updateAccount', { account_id: 1, person_id: 94, teams: [{ holon_id: 61 }], superuser: true, active: false }),
  ask('resetAccountPassword', { account_id: 2, seed: 'seed', token_sha256: 'b'.repeat(43) }),
];

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
