import { describe, expect, it } from '@jest/globals';
import { toQuery } from './webhook-filter.ts';

describe('toQuery of the webhook receipt filter', () => {
  it('returns the given filters with the names of the API', () => {
    expect(toQuery({})).toEqual({});
    expect(toQuery({ outcome: 'ignored', since: 's', until: 'u', q: 'uid-7', person: 9 })).toEqual({
      outcome: 'ignored',
      from: 's',
      to: 'u',
      q: 'uid-7',
      person_id: 9,
    });
    expect(toQuery({ provider: 'cal.com' })).toEqual({ kind: 'booking' });
    expect(toQuery({ provider: 'realtimekit' })).toEqual({ kind: 'meeting' });
    expect(toQuery({ provider: 'telegram', outcome: 'answered' })).toEqual({ kind: 'telegram', outcome: 'answered' });
  });

  it('rejects a person of telegram, and an outcome that the provider does not have, with the supported outcomes', () => {
    expect(() => toQuery({ provider: 'telegram', person: 9 })).toThrow('Receipts of telegram have no person.');
    expect(() => toQuery({ provider: 'telegram', outcome: 'applied' })).toThrow(
      /^Receipts of telegram cannot have the outcome applied; use one of pending, answering, answered, /,
    );
    expect(() => toQuery({ provider: 'cal.com', outcome: 'answered' })).toThrow(
      /; use one of pending, applied, stale, /,
    );
    expect(() => toQuery({ person: 9, outcome: 'answered' })).toThrow(/^Receipts of a person cannot have the outcome/);
  });
});
