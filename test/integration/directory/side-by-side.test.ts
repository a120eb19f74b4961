/**
 * Bulk operations that run concurrently with single-row updates cause neither 500 errors nor deadlocks
 * (rules/http#overload; I3, D45, D46).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AppError } from '#libs/infrastructure/errors';
import { updateAccountOf } from './account-of.ts';
import { startWorkflowFixture, type WorkflowFixture, rpcs } from './workflow-fixture.ts';
import { erase, serveErasures } from './erase.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_value, index) => index);
const holons = ['hub', 'camp-one', 'empty'];
const rounds = 5;
/** Of every three people, the first remains unchanged, the second is merged into the first, and the third is erased. */
const crowd = numbers(rounds * 3).map((index) => ({
  key: `p${index}`,
  name: `Person ${index}`,
  contact: { email: `p${index}@example.org` },
}));
const memberships = crowd.flatMap(({ key }, index) =>
  holons.map((holon) => ({
    key: `${key}-${holon}`,
    person: key,
    holon,
    journey: 'join',
    step: 'invited',
    // Each membership refers to the next person, so that merges and erasures change rows of other people too.
    responsible: `p${(index + 1) % crowd.length}`,
  })),
);

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await startWorkflowFixture(import.meta.url, {}, { DATABASE_POOL_SIZE: '12' });
  await serveErasures(fixture);
  const accounts = crowd.map(({ key }) => ({ email: `${key}@example.org`, person: key }));
  await fixture.add({
    people: crowd,
    accounts,
    memberships,
    relationships: [{ key: 'link', from: 'hub', to: 'empty', journey: 'hosting', responsible: 'p1' }],
  });
});
afterAll(() => fixture.stop());

const person = (index: number): number => fixture.id('people', `p${index % crowd.length}`);
const membership = (index: number, holon: number): number =>
  fixture.id('memberships', `p${index % crowd.length}-${holons[holon % holons.length]}`);
const deadlocks = async (): Promise<number> => {
  const [row] = await fixture.env.sql<{ count: number }>(
    'select deadlocks::int as count from pg_stat_database where datname = current_database()',
  );
  return row?.count ?? 0;
};

/**
 * Returns failures other than client errors. A request for an erased person, for example, may fail with a client error.
 */
async function faultsOf(acts: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
  const outcomes = await Promise.allSettled(acts.map((act) => act()));
  return outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' || (outcome.reason instanceof AppError && outcome.reason.status < 500)
      ? []
      : [outcome.reason],
  );
}

const acts = {
  merge: (round: number) => () =>
    fixture.call(
      rpcs.mergePerson,
      { person_id: person(3 * round + 1), into: person(3 * round) },
      fixture.actor('root'),
    ),
  erase: (round: number) => () => erase(fixture, person(3 * round + 2)),
  update: (index: number, holon: number) => () =>
    fixture.call(
      rpcs.updateMembership,
      {
        membership_id: membership(index, holon),
        note: `Note ${index}`,
        responsible_person_id: person(index + 2),
        advance_step: true,
      },
      fixture.actor('root'),
    ),
  move: (index: number, holon: number, journey: string) => () =>
    fixture.call(
      rpcs.updateMembership,
      { membership_id: membership(index, holon), note: 'Moves', journey_slug: journey },
      fixture.actor('root'),
    ),
  relate: (index: number) => () =>
    fixture.call(
      rpcs.updateRelationship,
      {
        relationship_id: fixture.id('relationships', 'link'),
        note: `Note ${index}`,
        step_slug: index % 2 === 0 ? 'asked' : 'agreed',
      },
      fixture.actor('root'),
    ),
  bulk: (index: number, holon: string) => () => {
    const items = numbers(6).map((step) => ({
      person_id: person(index + 6 - step),
      journey_slug: 'bare',
      responsible_person_id: person(index + step),
    }));
    return fixture.call(
      rpcs.bulkAddMemberships,
      { holon_id: fixture.id('holons', holon), memberships: items },
      fixture.actor('root'),
    );
  },
  create: (index: number) => () =>
    fixture.call(
      rpcs.createPerson,
      {
        name: `New ${index}`,
        contact: { email: `new${index}@example.org` },
        membership: {
          holon_id: fixture.id('holons', 'hub'),
          journey_slug: 'join',
          responsible_person_id: person(index),
        },
      },
      fixture.actor('root'),
    ),
  grant: (index: number) => () =>
    updateAccountOf(fixture, `p${index % crowd.length}@example.org`, { groups: ['coherence_users'] }),
  apply: (index: number) => () =>
    fixture.apply({
      people: numbers(4).map((step) => ({ key: `p${(index + 4 - step) % crowd.length}`, name: `Applied ${index}` })),
      memberships: numbers(4).map((step) => ({
        ...memberships[(3 * index + 5 * step) % memberships.length],
        follow_up_after: `2031-01-0${1 + step}`,
      })),
    }),
};

describe('bulk operations and single updates that run concurrently', () => {
  it('completes concurrent bulk operations and single updates without deadlocks and 500 errors', async () => {
    const before = await deadlocks();
    const faults: unknown[] = [];
    for (const round of numbers(rounds)) {
      const [stays, goes, erased] = [3 * round, 3 * round + 1, 3 * round + 2];
      const single = [stays, goes, erased].flatMap((index) => [
        ...holons.map((_name, holon) => acts.update(index, holon)),
        acts.move(index, round, 'steward'),
        acts.grant(index),
        acts.create(100 * round + index),
      ]);
      const wide = [
        acts.merge(round),
        acts.erase(round),
        acts.bulk(stays, 'hub'),
        acts.bulk(stays + 1, 'camp-one'),
        acts.apply(stays),
      ];
      faults.push(...(await faultsOf([...single, acts.relate(round), ...wide, ...single, acts.relate(round + 1)])));
    }
    expect(faults).toEqual([]);
    expect((await deadlocks()) - before).toBe(0);
  }, 60_000);
});
