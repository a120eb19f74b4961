/** Reads the provider's times (D26, D26a). */
import { parseInstant, type Instant } from '#libs/time';

/** What a time counts from: the session's start, or the calendar (epoch milliseconds and ISO 8601 with an offset alike). */
export type TimeBase = 'offset' | 'absolute';

export type ProviderTime = { kind: 'time'; base: TimeBase; instant: Instant } | { kind: 'malformed' } | { kind: 'ambiguous' };

/** Milliseconds from the session's start: up to the seven days that the provider keeps a session. */
const maxOffsetMs = 604_799_999;
/** Epoch milliseconds, September 2001 to November 2286. */
const minEpochMs = 1e12;
const maxEpochMs = 1e13;

/** No time is longer; keeps the patterns from long hostile text. */
const maxTextLength = 64;
const numericText = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
const malformed: ProviderTime = { kind: 'malformed' };
const ambiguous: ProviderTime = { kind: 'ambiguous' };

/** Reads one present, non-null time value; `sessionStart` is what offsets count from. */
export function readProviderTime(value: unknown, sessionStart: Instant): ProviderTime {
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) return ambiguous;
    if (value >= 0 && value <= maxOffsetMs) return { kind: 'time', base: 'offset', instant: sessionStart + BigInt(value) * 1000n };
    if (value >= minEpochMs && value <= maxEpochMs) return { kind: 'time', base: 'absolute', instant: BigInt(value) * 1000n };
    return ambiguous;
  }
  if (typeof value !== 'string' || value.length > maxTextLength) return malformed;
  const parsed = parseInstant(value);
  if (parsed.kind === 'instant') return { kind: 'time', base: 'absolute', instant: parsed.instant };
  return parsed.kind === 'naive' || numericText.test(value) ? ambiguous : malformed;
}
