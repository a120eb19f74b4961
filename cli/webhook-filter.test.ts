import { describe, expect, it } from '@jest/globals';
import { toRequests } from './webhook-filter.ts';

describe('toRequests of the webhook receipt filter', () => {
  it('queries only services whose receipts can match the filter', () => {
    expect(toRequests({})).toEqual({ bookings: {}, updates: {} });
    expect(toRequests({ outcome: 'applied' })).toEqual({ bookings: { outcome: 'applied' }, updates: undefined });
    expect(toRequests({ outcome: 'answered' })).toEqual({ bookings: undefined, updates: { outcome: 'answered' } });
    expect(toRequests({ outcome: 'ignored', since: 's', until: 'u' })).toEqual({
      bookings: { outcome: 'ignored', since: 's', until: 'u' },
      updates: { outcome: 'ignored', since: 's', until: 'u' },
    });
    expect(toRequests({ provider: 'cal.com' })).toEqual({ bookings: { source: 'booking' }, updates: undefined });
    expect(toRequests({ provider: 'realtimekit' })).toEqual({ bookings: { source: 'meeting' }, updates: undefined });
    expect(toRequests({ provider: 'telegram' })).toEqual({ bookings: undefined, updates: {} });
  });

  it('sends a text filter and a person filter only to services that support them', () => {
    expect(toRequests({ text: 'uid-7', person: 9 })).toEqual({
      bookings: { text: 'uid-7', person_id: 9 },
      updates: undefined,
    });
    expect(toRequests({ text: 'uid-7' })).toEqual({ bookings: { text: 'uid-7' }, updates: { text: 'uid-7' } });
    expect(() => toRequests({ provider: 'telegram', person: 9 })).toThrow('Receipts of telegram have no person.');
  });

  it('rejects an outcome that the provider does not have, and lists the supported outcomes', () => {
    expect(() => toRequests({ provider: 'telegram', outcome: 'applied' })).toThrow(
      /^Receipts of telegram cannot have the outcome applied; use one of pending, answering, answered, /,
    );
    expect(() => toRequests({ provider: 'cal.com', outcome: 'answered' })).toThrow(
      /; use one of pending, applied, stale, /,
    );
  });
});
