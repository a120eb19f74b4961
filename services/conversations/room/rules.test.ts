import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatInstant, type Instant } from '#libs/infrastructure/time';
import {
  findBoundaryConflict,
  type IncomingWindow,
  isComplete,
  mergeWindow,
  readBoundary,
  storedInstant,
  type StoredWindow,
} from './rules.ts';

const nothing: StoredWindow = { conversationStartedAt: null, captureEndedAt: null };
const incoming = (start?: Instant, end?: Instant): IncomingWindow => ({
  conversationStartedAt: start,
  captureEndedAt: end,
});
const length = (window: StoredWindow): bigint =>
  (storedInstant(window.captureEndedAt) ?? 0n) - (storedInstant(window.conversationStartedAt) ?? 0n);
const instants = fc.bigInt({ min: 1_800_000_000_000_000n, max: 1_800_000_000_000_010n });
const maybe = fc.option(instants, { nil: undefined });

describe('readBoundary (rules/room#transcript-window, 1 and 4)', () => {
  it('parses a boundary with any offset, and returns undefined for null', () => {
    expect(readBoundary('captureEndedAt', '2030-01-01T12:00:00+02:00')).toBe(
      readBoundary('captureEndedAt', '2030-01-01T10:00:00Z'),
    );
    expect(readBoundary('captureEndedAt', null)).toBeUndefined();
  });

  it('rejects a boundary without an offset and names its field', () => {
    expect(() => readBoundary('captureEndedAt', '2030-01-01T12:00:00')).toThrow(/captureEndedAt/);
  });
});

describe('mergeWindow (rules/room#transcript-window, 1 to 6)', () => {
  it('never changes a stored boundary, regardless of the request', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(maybe, maybe), { maxLength: 6 }), (writes) => {
        let stored = nothing;
        for (const [start, end] of writes) {
          const before = stored;
          try {
            stored = mergeWindow(stored, incoming(start, end));
          } catch {
            expect(stored).toBe(before);
          }
          if (before.conversationStartedAt !== null)
            expect(stored.conversationStartedAt).toBe(before.conversationStartedAt);
          if (before.captureEndedAt !== null) expect(stored.captureEndedAt).toBe(before.captureEndedAt);
          if (isComplete(stored)) expect(length(stored)).toBeGreaterThan(0n);
        }
      }),
    );
  });

  it('accepts a repeated boundary in any notation', () => {
    fc.assert(
      fc.property(instants, instants, (start, length) => {
        const end = start + (length % 10n) + 1n;
        const stored = mergeWindow(nothing, incoming(start, end));
        expect(mergeWindow(stored, incoming(start, end))).toBe(stored);
        const shown = {
          conversationStartedAt: formatInstant(start, '+00:00'),
          captureEndedAt: formatInstant(end, '+00:00'),
        };
        expect(findBoundaryConflict(shown, incoming(start, end))).toBeUndefined();
      }),
    );
  });

  it.each([
    [5n, 5n],
    [6n, 5n],
  ])('rejects the window %s to %s, sent together or in any order', (start, end) => {
    expect(() => mergeWindow(nothing, incoming(start, end))).toThrow(/strictly after/);
    expect(() => mergeWindow(mergeWindow(nothing, incoming(start)), incoming(undefined, end))).toThrow(
      /strictly after/,
    );
    expect(() => mergeWindow(mergeWindow(nothing, incoming(undefined, end)), incoming(start))).toThrow(
      /strictly after/,
    );
  });

  it('reports a conflict with the current values before an end that precedes the start', () => {
    const stored = mergeWindow(nothing, incoming(10n));
    expect(findBoundaryConflict(stored, incoming(11n, 5n))?.details).toEqual({
      currentConversationStartedAt: formatInstant(10n),
    });
    expect(() => mergeWindow(stored, incoming(11n, 5n))).toThrow(/different transcript boundary/);
  });

  it('returns an invalid stored boundary unchanged, and reports any new value as a conflict (D7b)', () => {
    const stored = { conversationStartedAt: 'yesterday', captureEndedAt: null };
    expect(mergeWindow(stored, incoming())).toBe(stored);
    expect(findBoundaryConflict(stored, incoming(5n))?.details).toEqual({ currentConversationStartedAt: 'yesterday' });
  });
});
