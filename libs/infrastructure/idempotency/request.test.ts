import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { parseJson } from '#libs/infrastructure/json';
import { fingerprintOf, listNamedPeople } from './request.ts';

const of = (text: string): string => fingerprintOf(parseJson(text) as Record<string, unknown>).toString('hex');
/** Returns the same value with reversed field order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

describe('fingerprintOf (I4)', () => {
  it.each([
    ['{"a":1,"b":[{"c":2,"d":3}]}', '{ "b": [{"d":3, "c":2}], "a": 1 }'],
    ['{"a":1}', '{"a":1.0}'],
    ['{"a":100}', '{"a":1e2}'],
    ['{"a":0.5}', '{"a":5e-1}'],
    ['{"a":0}', '{"a":-0.00}'],
    ['{"a":12345678901234567890}', '{"a":1234567890123456789e1}'],
    ['{"a":"é"}', '{"a":"\\u00e9"}'],
  ])('returns equal fingerprints for %s and %s', (left, right) => expect(of(left)).toBe(of(right)));

  it.each([
    ['{"a":1}', '{"a":"1"}'],
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{"a":[]}', '{"a":{}}'],
    ['{"a":[[1],2]}', '{"a":[[1,2]]}'],
    ['{"a":null}', '{}'],
    ['{"a":9007199254740992}', '{"a":9007199254740993}'],
    ['{"a":-1}', '{"a":1}'],
    ['{"a":10}', '{"a":1}'],
    ['{"a":"b\\",\\"c\\":\\"d"}', '{"a":"b","c":"d"}'],
    ['{"a":"1e0"}', '{"a":1}'],
  ])('returns different fingerprints for %s and %s', (left, right) => expect(of(left)).not.toBe(of(right)));

  it('normalises a number as long as the whole body in linear time', () => {
    const zeros = '0'.repeat(4_000_000);
    expect(of(`{"a":1${zeros}1.${'0'.repeat(100)}}`)).toBe(of(`{"a":1${zeros}1}`));
    expect(of(`{"a":1${zeros}1}`)).not.toBe(of(`{"a":1${zeros}2}`));
  });

  it('ignores `if_match`, which may differ in a retry', () => {
    expect(fingerprintOf({ note: 'x', if_match: '"a"' })).toEqual(fingerprintOf({ note: 'x', if_match: undefined }));
  });

  it('ignores the order of fields, and includes every value of a request', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (request, text) => {
        expect(fingerprintOf(reversed(request) as typeof request)).toEqual(fingerprintOf(request));
        const changed = { ...request, if_matches: text };
        if (JSON.stringify(request['if_matches']) !== JSON.stringify(text))
          expect(fingerprintOf(changed)).not.toEqual(fingerprintOf(request));
      }),
    );
  });
});

const ordered = (...values: unknown[]): number[] => listNamedPeople(...values).toSorted((left, right) => left - right);

describe('listNamedPeople (I4)', () => {
  it('finds people by id in requests and in responses', () => {
    const request = {
      membership_id: 77,
      responsible_person_id: 2,
      memberships: [{ person_id: 3 }, { person_id: 3 }],
      into: { person_ids: [4] },
    };
    const answer = {
      person: { id: 5, actor_kind: 'human' },
      note: { id: 88, author_person: { id: 6, actor_kind: 'human' } },
    };
    expect(ordered(request, answer)).toEqual([2, 3, 4, 5, 6]);
    expect(ordered({ existing_person_ids: [7] })).toEqual([7]);
  });

  it('ignores other fields and numbers that are not person ids', () => {
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

  it('reads a body of the maximum size', () => {
    const deep = Array.from({ length: 300_000 }, (_, index) => index);
    expect(ordered({ info_fields: { list: deep }, person_id: 9 })).toEqual([9]);
  });
});
