import { describe, expect, it } from '@jest/globals';
import { type BulkFacts, type BulkItem, decideBulk, tripleKey } from './rules.ts';

const facts: BulkFacts = {
  people: new Set([1, 2, 3]),
  accountable: new Set([3]),
  journeys: new Map([
    [
      'join',
      {
        id: 10,
        slug: 'join',
        allowed: true,
        bulk_add: true,
        steps: [
          { id: 101, slug: 'old', position: 0, is_archived: true },
          { id: 102, slug: 'first', position: 1, is_archived: false },
          { id: 103, slug: 'second', position: 2, is_archived: false },
        ],
      },
    ],
    ['bare', { id: 11, slug: 'bare', allowed: true, bulk_add: true, steps: [] }],
    ['single', { id: 12, slug: 'single', allowed: true, bulk_add: false, steps: [] }],
    ['foreign', { id: 13, slug: 'foreign', allowed: false, bulk_add: true, steps: [] }],
  ]),
  present: new Map([[tripleKey(2, 10), 55]]),
};
const item = (more: Partial<BulkItem> = {}): BulkItem => ({
  personId: 1,
  journeySlug: 'join',
  stepSlug: undefined,
  followUpAfter: null,
  responsiblePersonId: null,
  ...more,
});
const outcomesOf = (...items: BulkItem[]) => decideBulk(items, facts).decisions.map(({ outcome }) => outcome);

describe('outcomes of bulk-add (D45, D45a)', () => {
  it('adds a membership at the first active step, or without a step if the journey has no steps', () => {
    const { decisions, added } = decideBulk(
      [item(), item({ journeySlug: 'bare', followUpAfter: '2026-05-01', responsiblePersonId: 3 })],
      facts,
    );
    expect(decisions).toEqual([
      { outcome: 'created', message: null, key: '1/10' },
      { outcome: 'created', message: null, key: '1/11' },
    ]);
    expect(added).toEqual([
      { index: 0, person_id: 1, journey_id: 10, step_id: 102, follow_up_after: null, responsible_person_id: null },
      {
        index: 1,
        person_id: 1,
        journey_id: 11,
        step_id: null,
        follow_up_after: '2026-05-01',
        responsible_person_id: 3,
      },
    ]);
  });

  it.each([
    ['person_not_found', { personId: 4 }],
    ['person_not_found', { personId: 4, journeySlug: 'nowhere' }],
    ['journey_not_found', { journeySlug: 'nowhere' }],
    ['journey_not_found', { journeySlug: null }],
    ['journey_not_allowed', { journeySlug: 'foreign' }],
    ['bulk_add_not_permitted', { journeySlug: 'single', stepSlug: 'nowhere' }],
    ['invalid_step', { stepSlug: 'nowhere' }],
    ['invalid_step', { stepSlug: 'old' }],
    ['invalid_field', { followUpAfter: '2026-02-30' }],
    ['invalid_field', { responsiblePersonId: 2 }],
  ] as const)('returns %s for the item %j', (outcome, more) => {
    const { decisions, added } = decideBulk([item(more)], facts);
    expect(decisions).toEqual([{ outcome, message: expect.stringMatching(/\.$/), key: null }]);
    expect(added).toEqual([]);
  });

  it('does not change an existing membership, regardless of other fields of the item', () => {
    expect(
      outcomesOf(
        item({ personId: 2 }),
        item({ personId: 2, stepSlug: 'second' }),
        item({ personId: 2, stepSlug: 'nowhere' }),
      ),
    ).toEqual(['already_present', 'already_present', 'already_present']);
  });

  it('reports a second equal item as already present, unless the first item failed', () => {
    expect(outcomesOf(item({ stepSlug: 'nowhere' }), item(), item({ stepSlug: 'second' }))).toEqual([
      'invalid_step',
      'created',
      'already_present',
    ]);
  });
});
