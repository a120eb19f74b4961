import { describe, expect, it } from '@jest/globals';
import { listNamedPeople } from './named-people.ts';

const ordered = (...values: unknown[]): number[] => listNamedPeople(...values).toSorted((left, right) => left - right);

describe('listNamedPeople (I4)', () => {
  it('finds people by id in requests, and as they are shown in answers', () => {
    const request = {
      membership_id: 77,
      responsible_person_id: 2,
      memberships: [{ person_id: 3 }, { person_id: 3 }],
      into: { person_ids: [4] },
    };
    const answer = { person: { id: 5, actor_kind: 'human' }, note: { id: 88, author_person: { id: 6, actor_kind: 'human' } } };
    expect(ordered(request, answer)).toEqual([2, 3, 4, 5, 6]);
    expect(ordered({ existing_person_ids: [7] })).toEqual([7]);
  });

  it('takes nothing else for a person, and no number that is no id', () => {
    expect(
      ordered({
        id: 1,
        holon_id: 2,
        person: { id: 3 },
        person_id: '4',
        responsible_person_id: null,
        a_person_id: 1.5,
        b_person_id: 2 ** 31,
      }),
    ).toEqual([]);
    expect(ordered(undefined, null, 'person_id', [[{ person_ids: 5 }]])).toEqual([]);
  });

  it('looks at a body of the largest size without losing its way', () => {
    const deep = Array.from({ length: 300_000 }, (_, index) => index);
    expect(ordered({ info_fields: { list: deep }, person_id: 9 })).toEqual([9]);
  });
});
