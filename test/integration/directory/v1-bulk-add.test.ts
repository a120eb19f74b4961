/** Bulk-add with a real database: outcomes, rights, retries and concurrent calls. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EventOutbox } from '#libs/infrastructure/feed';
import { IdempotencyStore } from '#libs/infrastructure/idempotency';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { createMetrics } from '#libs/infrastructure/telemetry';
import { waitForLockWait } from '#libs/product/testing';
import { createDirectoryHistory } from '../../../services/directory/history/index.ts';
import { createBulkAddHandlers } from '../../../services/directory/memberships/handlers.ts';
import { tryLockHolonForBulkAdd } from '../../../services/directory/memberships/statements/writes.ts';
import {
  callers,
  startWorkflowFixture,
  edits,
  rpcs,
  sees,
  type Caller,
  type WorkflowFixture,
} from './workflow-fixture.ts';

const crowd = Array.from({ length: 500 }, (_, index) => ({ key: `p${index}`, name: `Person ${index}` }));

let fixture: WorkflowFixture;
let db: Database;
let eventOutbox: EventOutbox;
beforeAll(async () => {
  fixture = await startWorkflowFixture(import.meta.url, {}, { BULK_ADD_WAIT_MS: '20000' });
  await fixture.add({
    people: crowd,
    memberships: [{ key: 'there', person: 'ada', holon: 'hub', journey: 'join', step: 'joined' }],
  });
  const { env } = fixture;
  const url = env.settings['DATABASE_URL'] ?? '';
  db = await createDatabase({ url, schema: 'directory', poolSize: 2, logger: env.logger, applicationName: 'test' });
  eventOutbox = new EventOutbox({
    service: 'directory',
    db,
    bus: fixture.bus,
    logger: env.logger,
    metrics: createMetrics('bulk'),
  });
});
afterAll(async () => {
  await db.close();
  await fixture.stop();
});

const person = (key: string): number => fixture.id('people', key);
const request = (memberships: object[], holon = 'hub', more: object = {}) => ({
  holon_id: fixture.id('holons', holon),
  memberships: memberships as { person_id: number }[],
  ...more,
});
const bulkAdd = (memberships: object[], holon = 'hub', more: object = {}, caller: Caller = 'ed') =>
  fixture.call(rpcs.bulkAddMemberships, request(memberships, holon, more), fixture.actor(caller));
type BulkAdd = ReturnType<typeof createBulkAddHandlers>['bulkAddMemberships'];
const edContext = () => ({ actor: fixture.actor('ed') }) as Parameters<BulkAdd>[1];
const crowdItems = (from = 0, to = 500) =>
  crowd.slice(from, to).map(({ key }) => ({ person_id: person(key), journey_slug: 'join' }));
const stored = (holon: string) =>
  fixture.env.sql<{
    person_id: number;
    journey: string;
    step: string | null;
    follow_up_after: string | null;
    responsible: number | null;
  }>(
    `select m.person_id, j.slug as journey, s.slug as step, m.follow_up_after::text, m.responsible_person_id as responsible
     from directory.memberships m join directory.journeys j on j.id = m.journey_id left join directory.journey_steps s on s.id = m.step_id
     where m.holon_id = $1 order by m.id`,
    [fixture.id('holons', holon)],
  );

describe('memberships.bulk-add (rules/memberships#bulk-add; D45, D45a)', () => {
  it('returns one outcome per bulk-add item, in the order of the items', async () => {
    const reply = await bulkAdd([
      {
        person_id: person('ben'),
        journey_slug: 'join',
        step_slug: 'joined',
        follow_up_after: '2026-05-01',
        responsible_person_id: person('sam'),
      },
      { person_id: person('ada'), journey_slug: 'join', step_slug: 'invited' },
      { person_id: person('cleo'), journey_slug: 'bare', follow_up_after: null, responsible_person_id: null },
      { person_id: 2_000_000_000, journey_slug: 'join' },
      { person_id: -1, journey_slug: 'join' },
      { person_id: 9_007_199_254_740_991, journey_slug: 'join' },
      { person_id: person('ben') },
      { person_id: person('ben'), journey_slug: 'nowhere' },
      { person_id: person('ben'), journey_slug: 'foreign' },
      { person_id: person('ben'), journey_slug: 'steward' },
      { person_id: person('dan'), journey_slug: 'join', step_slug: 'left' },
      { person_id: person('dan'), journey_slug: 'join', follow_up_after: '2026-13-01' },
      { person_id: person('dan'), journey_slug: 'join', responsible_person_id: person('ben') },
      { person_id: person('dan'), journey_slug: 'join' },
      { person_id: person('dan'), journey_slug: 'join', step_slug: 'alumni' },
    ]);
    expect(reply.items.map(({ outcome }) => outcome)).toEqual([
      'created',
      'already_present',
      'created',
      'person_not_found',
      'person_not_found',
      'person_not_found',
      'journey_not_found',
      'journey_not_found',
      'journey_not_allowed',
      'bulk_add_not_permitted',
      'invalid_step',
      'invalid_field',
      'invalid_field',
      'created',
      'already_present',
    ]);
    expect(reply).toMatchObject({ count: 15, created: 3, already_present: 2, failed: 10 });
    expect(reply.items.map(({ index }) => index)).toEqual(Array.from({ length: 15 }, (_, index) => index));
    expect(reply.items[1]).toEqual({
      index: 1,
      person_id: person('ada'),
      journey_slug: 'join',
      outcome: 'already_present',
      membership_id: fixture.id('memberships', 'there'),
      message: null,
    });
    expect(reply.items[13]?.membership_id).toBe(reply.items[14]?.membership_id);
    expect(reply.items[6]).toMatchObject({ journey_slug: null, membership_id: null, message: expect.any(String) });
    expect(await stored('hub')).toEqual(
      [
        { person_id: person('ada'), journey: 'join', step: 'joined', follow_up_after: null, responsible: null },
        {
          person_id: person('ben'),
          journey: 'join',
          step: 'joined',
          follow_up_after: '2026-05-01',
          responsible: person('sam'),
        },
        { person_id: person('dan'), journey: 'join', step: 'invited', follow_up_after: null, responsible: null },
        { person_id: person('cleo'), journey: 'bare', step: null, follow_up_after: null, responsible: null },
      ].toSorted(
        (left, right) =>
          Number(left.person_id !== person('ada')) - Number(right.person_id !== person('ada')) ||
          left.person_id - right.person_id,
      ),
    );
  });

  it('uses journey and step of the bulk-add request as defaults for its items', async () => {
    const items = [
      { person_id: person('ada') },
      { person_id: person('ben'), step_slug: 'invited' },
      { person_id: person('cleo'), journey_slug: 'build' },
    ];
    const reply = await bulkAdd(items, 'camp-one', { journey_slug: 'join', step_slug: 'alumni' });
    expect(reply.items.map(({ outcome, journey_slug: slug }) => [outcome, slug])).toEqual([
      ['created', 'join'],
      ['created', 'join'],
      ['invalid_step', 'build'],
    ]);
    expect((await stored('camp-one')).map(({ step }) => step)).toEqual(['alumni', 'invited']);
  });

  it('reports repeated bulk-add items as already present, and does not change them', async () => {
    const first = await bulkAdd(crowdItems(0, 20), 'annex');
    expect(first).toMatchObject({ created: 20, already_present: 0 });
    const again = await bulkAdd(
      crowdItems(0, 20).map((item) => ({ ...item, step_slug: 'alumni' })),
      'annex',
    );
    expect(again).toMatchObject({ created: 0, already_present: 20, failed: 0 });
    expect(again.items.map(({ membership_id: id }) => id)).toEqual(first.items.map(({ membership_id: id }) => id));
    expect(new Set((await stored('annex')).map(({ step }) => step))).toEqual(new Set(['invited']));
  });

  it.each([
    [[]],
    [crowd.concat(crowd[0] ?? []).map(() => ({ person_id: 1 }))],
    [[{ journey_slug: 'join' }]],
    [[{ person_id: '1' }]],
  ])('rejects an invalid bulk-add request, case %#', async (items) => {
    expect(await fixture.attempt(() => bulkAdd(items))).toBe('bad_request');
  });

  it.each(callers.flatMap((caller) => ['hub', 'camp-one', 'vault', 'cell'].map((holon) => [caller, holon] as const)))(
    'lets %s bulk-add to %s only with the necessary rights',
    async (caller, holon) => {
      const answer = await fixture.attempt(() => bulkAdd([{ person_id: 2_000_000_000 }], holon, {}, caller));
      const expected = sees(caller, holon)
        ? edits(caller, holon)
          ? expect.objectContaining({ failed: 1 })
          : 'permission_denied'
        : 'not_found';
      expect(answer).toEqual(expected);
    },
  );

  it('returns 404 for a bulk-add to an unknown holon', async () => {
    const unknown = { holon_id: 2_000_000_000, memberships: [{ person_id: 1 }] };
    expect(await fixture.refusal(rpcs.bulkAddMemberships, unknown, fixture.actor('root'))).toMatchObject({
      code: 'not_found',
    });
  });
});

describe('concurrent bulk writes of one holon (D45)', () => {
  it('creates each membership once and answers every call when bulk writes are concurrent', async () => {
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, turn) => bulkAdd(crowdItems(turn * 10, turn * 10 + 200), 'empty')),
    );
    const created = replies.flatMap(({ items }) =>
      items.filter(({ outcome }) => outcome === 'created').map(({ person_id: id }) => id),
    );
    expect(created).toHaveLength(310);
    expect(new Set(created).size).toBe(310);
    expect(replies.every(({ failed }) => failed === 0)).toBe(true);
    expect(await stored('empty')).toHaveLength(310);
  });

  it('returns a retryable 409 bulk_in_progress while another bulk write of the holon runs, without blocking other holons and reads', async () => {
    const turn = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const other = db.transaction(async (tx) => {
      const row = await tryLockHolonForBulkAdd(tx, {
        holonId: fixture.id('holons', 'vault'),
        seesAll: true,
        accountId: null,
      });
      expect(row?.locked).toBe(true);
      held.resolve();
      await turn.promise;
    });
    await held.promise;
    // Handlers with a shorter timeout than the handlers of the service.
    const impatient = createBulkAddHandlers({
      idempotency: new IdempotencyStore(db),
      eventOutbox,
      history: createDirectoryHistory(),
      config: { BULK_ADD_WAIT_MS: 1_000 },
    });
    try {
      // More calls than connections: a waiting call must not occupy a connection.
      const waiting = Array.from({ length: 8 }, () =>
        impatient.bulkAddMemberships(request(crowdItems(0, 1), 'vault'), edContext()).then(
          () => undefined,
          (error: unknown) => error,
        ),
      );
      expect(await impatient.bulkAddMemberships(request(crowdItems(0, 1), 'cell'), edContext())).toMatchObject({
        created: 1,
      });
      const list = { holon_id: fixture.id('holons', 'vault') };
      expect(await fixture.call(rpcs.listHolonMemberships, list, fixture.actor('ed'))).toMatchObject({ count: 0 });
      for (const refusal of await Promise.all(waiting)) {
        expect(refusal).toMatchObject({ code: 'conflict', reason: 'bulk_in_progress', details: { retryable: true } });
      }
    } finally {
      turn.resolve();
      await other;
    }
    expect(await bulkAdd(crowdItems(0, 1), 'vault')).toMatchObject({ created: 1 });
  });

  it('waits for a concurrent bulk write of the same holon that ends in time', async () => {
    const turn = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const other = db.transaction(async (tx) => {
      await tryLockHolonForBulkAdd(tx, { holonId: fixture.id('holons', 'vault'), seesAll: true, accountId: null });
      held.resolve();
      await turn.promise;
    });
    await held.promise;
    const waiting = bulkAdd(crowdItems(1, 3), 'vault');
    expect(await bulkAdd(crowdItems(1, 2), 'cell')).toMatchObject({ created: 1 });
    turn.resolve();
    await other;
    expect(await waiting).toMatchObject({ created: 2 });
  });

  it('reports memberships that a concurrent request adds as already present', async () => {
    const [first] = crowdItems(400, 401);
    const added = Promise.withResolvers<void>();
    const other = db.transaction(async (tx) => {
      await tx.query(
        {
          name: 'test.add',
          text: `insert into directory.memberships (person_id, holon_id, journey_id)
           values ($1::integer, $2::integer, (select id from directory.journeys where slug = 'join'))`,
        },
        [first?.person_id, fixture.id('holons', 'camp-old')],
      );
      added.resolve();
      await waitForLockWait(fixture.env.sql);
    });
    await added.promise;
    const reply = await bulkAdd(crowdItems(400, 402), 'camp-old');
    await other;
    expect(reply.items).toMatchObject([
      { outcome: 'already_present', membership_id: expect.any(Number) },
      { outcome: 'created', membership_id: expect.any(Number) },
    ]);
  });

  it('adds 500 people with as many statements as two people', async () => {
    const holon = fixture.id('holons', 'cell');
    const countOf = async (items: object[]): Promise<number> => {
      const seen: string[] = [];
      const counting: Database = Object.create(db, {
        transaction: {
          value: (work: Parameters<Database['transaction']>[0]) =>
            db.transaction((tx) =>
              work(
                Object.create(tx, {
                  query: {
                    value: (...call: Parameters<typeof tx.query>) => (seen.push(call[0].name), tx.query(...call)),
                  },
                }),
              ),
            ),
        },
      });
      const { bulkAddMemberships } = createBulkAddHandlers({
        idempotency: new IdempotencyStore(counting),
        eventOutbox,
        history: createDirectoryHistory(),
        config: { BULK_ADD_WAIT_MS: 3_000 },
      });
      const reply = await bulkAddMemberships(
        { holon_id: holon, memberships: items as { person_id: number }[] },
        edContext(),
      );
      expect(reply).toMatchObject({ created: items.length });
      return seen.length;
    };
    const few = await countOf(crowdItems(498).map((item) => ({ ...item, journey_slug: 'bare' })));
    expect(await countOf(crowdItems(0, 498).map((item) => ({ ...item, journey_slug: 'bare' })))).toBe(few);
  });
});
