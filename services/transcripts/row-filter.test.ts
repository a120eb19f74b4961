import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ExclusionReason, exclusionReasons } from './evidence/contract.ts';
import { parseInstant } from '#libs/infrastructure/time';
import { RowFilter, type FilterCounts, type Verdict } from './row-filter.ts';

const instant = (text: string): bigint => {
  const parsed = parseInstant(text);
  if (parsed.kind !== 'instant') throw new Error(text);
  return parsed.instant;
};
const sessionStart = instant('2030-01-15T10:00:00Z');
/** The window is from minute 1 to minute 2 of the session. */
const window = { start: sessionStart + 60_000_000n, end: sessionStart + 120_000_000n };
const epoch = (ms: number): number => Number(sessionStart / 1000n) + ms;
const iso = (ms: number): string => new Date(epoch(ms)).toISOString();
const peerData = { id: 'p', cpi: 'c' };

function judgeAll(rows: readonly unknown[]): { verdicts: Verdict[]; counts: FilterCounts } {
  const filter = new RowFilter({ window, sessionStart });
  return { verdicts: rows.map((row) => filter.classify(row)), counts: filter.finish() };
}

function reasonOf(row: unknown): ExclusionReason | 'accepted' {
  const { counts } = judgeAll([row]);
  return exclusionReasons.find((reason) => counts.excludedByReason[reason] === 1) ?? 'accepted';
}

const row = (startTime: unknown, endTime: unknown, sentence: unknown = 'words'): unknown => ({
  startTime,
  endTime,
  sentence,
  peerData,
});

describe('rows at the window bounds (rules/room#transcript-window, 7; D25)', () => {
  it.each([
    ['exactly the window', 60_000, 120_000, 'accepted'],
    ['inside', 61_000, 62_000, 'accepted'],
    ['starts on the start edge', 60_000, 61_000, 'accepted'],
    ['ends on the end edge', 119_000, 120_000, 'accepted'],
    ['before', 1_000, 2_000, 'before_window_start'],
    ['ends on the start edge', 59_000, 60_000, 'before_window_start'],
    ['after', 121_000, 122_000, 'after_window_end'],
    ['starts on the end edge', 120_000, 121_000, 'after_window_end'],
    ['crosses the start by a millisecond', 59_999, 61_000, 'crosses_window_start'],
    ['ends a millisecond after the start', 59_000, 60_001, 'crosses_window_start'],
    ['crosses both edges, counted once', 59_000, 121_000, 'crosses_window_start'],
    ['crosses the start and ends on the end edge', 59_000, 120_000, 'crosses_window_start'],
    ['crosses the end by a millisecond', 119_000, 120_001, 'crosses_window_end'],
    ['starts on the start edge and crosses the end', 60_000, 120_001, 'crosses_window_end'],
  ])('classifies a row by the window: %s', (_what, start, end, expected) => {
    for (const time of [(ms: number) => ms, epoch, iso]) expect(reasonOf(row(time(start), time(end)))).toBe(expected);
  });

  it('compares ISO times in microseconds', () => {
    expect(reasonOf(row('2030-01-15T10:00:59.999999Z', iso(61_000)))).toBe('crosses_window_start');
    expect(reasonOf(row(iso(61_000), '2030-01-15T10:02:00.000001Z'))).toBe('crosses_window_end');
    expect(reasonOf(row('2030-01-15T11:01:00+01:00', '2030-01-15T04:32:00-05:30'))).toBe('accepted');
  });

  it.each([
    ['inside', 90_000, 'accepted'],
    ['on the start edge', 60_000, 'accepted'],
    ['on the end edge', 120_000, 'after_window_end'],
    ['before', 59_999, 'before_window_start'],
    ['after', 120_001, 'after_window_end'],
  ])('classifies a row of zero length as %s (D26a)', (_where, ms, expected) => {
    expect(reasonOf(row(ms, ms))).toBe(expected);
  });

  it('returns times of accepted rows relative to the window start (window rule 7)', () => {
    const { verdicts } = judgeAll([row(61_500, 62_000, ' as it came ')]);
    expect(verdicts).toEqual([
      { kind: 'accepted', row: { startUs: 1_500_000n, endUs: 2_000_000n, sentence: ' as it came ', peer: peerData } },
    ]);
  });
});

describe('provider timestamps (D26, D26a)', () => {
  it.each([0, 604_799_999])('reads the time %d as milliseconds since the session start', (ms) => {
    expect(reasonOf(row(ms, ms))).toBe(ms === 0 ? 'before_window_start' : 'after_window_end');
  });

  it.each([1e12, 1e13])('reads the time %d as epoch milliseconds', (ms) => {
    expect(reasonOf(row(ms, ms))).toBe(ms === 1e12 ? 'before_window_start' : 'after_window_end');
  });

  it.each([604_800_000, 1e11, 1e12 - 1, 1e13 + 1, Number.MAX_VALUE, Number.POSITIVE_INFINITY, -1, -0.5, 1000.5])(
    'reports the time %d as ambiguous',
    (value) => {
      expect(reasonOf(row(value, 61_000))).toBe('transcript_timestamp_ambiguous');
      expect(reasonOf(row(61_000, value))).toBe('transcript_timestamp_ambiguous');
    },
  );

  it.each(['61000', '-1', '1e3', ' 61000 ', '+5.5', '2030-01-15T10:01:00', '2030-01-15 10:01:00'])(
    'reports the time %j as ambiguous',
    (value) => {
      expect(reasonOf(row(value, iso(62_000)))).toBe('transcript_timestamp_ambiguous');
      expect(reasonOf(row(iso(61_000), value))).toBe('transcript_timestamp_ambiguous');
    },
  );

  it.each([
    '',
    'soon',
    '2030-01-15',
    '2030-13-01T00:00:00Z',
    '2030-01-15T25:00:00Z',
    '00:01:00.000',
    '1e',
    'NaN',
    '9'.repeat(65),
    true,
    false,
    [],
    [1],
    {},
  ])('reports the time %j as malformed', (value) => {
    expect(reasonOf(row(value, 62_000))).toBe('transcript_timestamp_malformed');
    expect(reasonOf(row(61_000, value))).toBe('transcript_timestamp_malformed');
  });

  it('reports a missing or null start time as malformed, and a missing or null end time as ambiguous', () => {
    expect(reasonOf({ endTime: 62_000, sentence: 'words' })).toBe('transcript_timestamp_malformed');
    expect(reasonOf(row(null, 62_000))).toBe('transcript_timestamp_malformed');
    expect(reasonOf({ startTime: 61_000, sentence: 'words' })).toBe('transcript_timestamp_ambiguous');
    expect(reasonOf(row(61_000, null))).toBe('transcript_timestamp_ambiguous');
  });

  it.each([null, 'text', 7, true, [], [row(61_000, 62_000)]])(
    'reports the row %j as malformed, because it is not an object',
    (value) => {
      expect(reasonOf(value)).toBe('transcript_timestamp_malformed');
    },
  );

  it('reports an end time before the start time as malformed', () => {
    expect(reasonOf(row(62_000, 61_999))).toBe('transcript_timestamp_malformed');
    expect(reasonOf(row(iso(62_000), epoch(61_999)))).toBe('transcript_timestamp_malformed');
  });

  it.each([undefined, null, 7, {}, 'a\u0000b', '\u0000'])('reports the sentence %j as malformed', (sentence) => {
    expect(reasonOf({ startTime: 61_000, endTime: 62_000, sentence, peerData })).toBe('transcript_timestamp_malformed');
  });

  it.each(['', ' ', '\n\t', '\u00a0'])(
    'reports the sentence %j as empty (rules/transcripts#row-filter)',
    (sentence) => {
      expect(reasonOf(row(61_000, 62_000, sentence))).toBe('empty_sentence');
      expect(reasonOf(row(1_000, 2_000, sentence))).toBe('empty_sentence');
    },
  );

  it('checks the exclusion reasons in the order malformed, ambiguous, empty, window (D25)', () => {
    expect(reasonOf(row('soon', -1, ''))).toBe('transcript_timestamp_malformed');
    expect(reasonOf(row(-1, 'soon', ''))).toBe('transcript_timestamp_malformed');
    expect(reasonOf(row(-1, 1_000, null))).toBe('transcript_timestamp_malformed');
    expect(reasonOf(row(-1, 1_000, ''))).toBe('transcript_timestamp_ambiguous');
    expect(reasonOf(row(1_000, 2_000, ' '))).toBe('empty_sentence');
  });
});

describe('mixed time bases (D26, D26a)', () => {
  it.each([
    ['offsets with epoch numbers', row(epoch(61_000), epoch(62_000))],
    ['offsets with ISO times', row(iso(61_000), iso(62_000))],
    ['one row with both', row(63_000, iso(64_000))],
    ['offsets with an excluded row of the other base', row(epoch(1_000), epoch(2_000))],
    ['offsets with an empty row of the other base', row(epoch(61_000), epoch(62_000), ' ')],
  ])('reports every row with times as ambiguous: %s', (_what, other) => {
    const malformed = row('soon', 1_000);
    for (const rows of [
      [row(61_000, 62_000), row(1_000, 2_000), malformed, other],
      [other, malformed, row(61_000, 62_000), row(1_000, 2_000)],
    ]) {
      const { counts } = judgeAll(rows);
      expect(counts).toMatchObject({
        raw: 4,
        accepted: 0,
        excludedByReason: { transcript_timestamp_ambiguous: 3, transcript_timestamp_malformed: 1 },
      });
    }
  });

  it('treats epoch numbers and ISO times as the same time base', () => {
    expect(
      judgeAll([row(epoch(61_000), epoch(62_000)), row(iso(63_000), iso(64_000)), row(epoch(65_000), iso(66_000))])
        .counts.accepted,
    ).toBe(3);
  });

  it.each([
    ['a naive time', row('2030-01-15T10:01:00', '2030-01-15T10:01:01')],
    ['numeric text', row('61000', '62000')],
    ['an out-of-range number', row(-5, 1_000)],
    ['a malformed row', row('soon', 1_000)],
    ['an end before its start', row(2_000, 1_000)],
    ['a missing end', row(1_000, null)],
  ])('does not detect mixed time bases for %s', (_what, other) => {
    expect(judgeAll([row(iso(61_000), iso(62_000)), other]).counts.accepted).toBe(1);
  });
});

/** Generates times of artifacts with valid and invalid rows. */
const anyTime = fc.oneof(
  fc.integer({ min: 0, max: 200_000 }),
  fc.integer({ min: 0, max: 200_000 }).map(epoch),
  fc.integer({ min: 0, max: 200_000 }).map(iso),
  fc.constantFrom(undefined, null, -1, 1.5, 1e11, '61000', 'soon', true, '2030-01-15T10:01:30', [], {}),
);
const anyRow = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({
      startTime: anyTime,
      endTime: anyTime,
      sentence: fc.constantFrom('words', '', ' ', null, 7, 'a\u0000'),
      peerData: fc.constant({}),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(null, 7, 'x', []) },
);

/**
 * Classifies rows independently of the filter: with hand-written time classes, times as numbers of milliseconds, and
 * all rules as a list of facts.
 */
function oracle(rows: readonly unknown[]): (ExclusionReason | 'accepted')[] {
  const first = rows.map((item) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item))
      return { verdict: 'transcript_timestamp_malformed' as const };
    const { startTime, endTime, sentence } = item as { startTime?: unknown; endTime?: unknown; sentence?: unknown };
    const read = (value: unknown): 'bad' | 'vague' | { base: 'offset' | 'calendar'; ms: number } => {
      if (typeof value === 'number') {
        if (Number.isInteger(value) && value >= 0 && value < 604_800_000) return { base: 'offset', ms: value };
        return value >= 1e12 && value <= 1e13 && Number.isInteger(value)
          ? { base: 'calendar', ms: value - Number(sessionStart / 1000n) }
          : 'vague';
      }
      if (typeof value !== 'string') return 'bad';
      if (value.endsWith('Z')) return { base: 'calendar', ms: Date.parse(value) - Number(sessionStart / 1000n) };
      return value === 'soon' ? 'bad' : 'vague';
    };
    const start = startTime === undefined || startTime === null ? 'bad' : read(startTime);
    const end = endTime === undefined || endTime === null ? 'vague' : read(endTime);
    const isMalformed =
      start === 'bad' ||
      end === 'bad' ||
      typeof sentence !== 'string' ||
      sentence.includes('\u0000') ||
      (start !== 'vague' && end !== 'vague' && start.base === end.base && end.ms < start.ms);
    if (isMalformed) return { verdict: 'transcript_timestamp_malformed' as const };
    if (start === 'vague' || end === 'vague') return { verdict: 'transcript_timestamp_ambiguous' as const };
    return { verdict: undefined, start, end, sentence };
  });
  const bases = new Set(first.flatMap((item) => (item.verdict === undefined ? [item.start.base, item.end.base] : [])));
  return first.map((item) => {
    if (item.verdict !== undefined) return item.verdict;
    if (bases.size > 1) return 'transcript_timestamp_ambiguous';
    if (item.sentence.trim() === '') return 'empty_sentence';
    const [s, e] = [item.start.ms, item.end.ms];
    if (s < 60_000 && e <= 60_000) return 'before_window_start';
    if (s < 60_000) return 'crosses_window_start';
    if (s >= 120_000) return 'after_window_end';
    return e > 120_000 ? 'crosses_window_end' : 'accepted';
  });
}

describe('RowFilter, properties (rules/transcripts#import-evidence: accepted plus excluded equals raw)', () => {
  it('returns the same result as an independent implementation for any artifact', () => {
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 12 }), (rows) => {
        const expected = oracle(rows);
        const { counts } = judgeAll(rows);
        expect(counts.accepted).toBe(expected.filter((item) => item === 'accepted').length);
        for (const reason of exclusionReasons)
          expect(counts.excludedByReason[reason]).toBe(expected.filter((item) => item === reason).length);
      }),
      { numRuns: 2_000 },
    );
  });

  it('counts every row once, and accepts only rows entirely inside the window', () => {
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 30 }), (rows) => {
        const { verdicts, counts } = judgeAll(rows);
        const excluded = Object.values(counts.excludedByReason).reduce((sum, count) => sum + count, 0);
        expect(counts.accepted + excluded).toBe(counts.raw);
        expect(counts.raw).toBe(rows.length);
        expect(Object.keys(counts.excludedByReason).toSorted()).toEqual(exclusionReasons.toSorted());
        for (const verdict of verdicts) {
          if (verdict.kind !== 'accepted') continue;
          expect(verdict.row.startUs).toBeGreaterThanOrEqual(0n);
          expect(verdict.row.endUs).toBeLessThanOrEqual(60_000_000n);
          expect(verdict.row.startUs).toBeLessThan(60_000_000n);
        }
      }),
    );
  });

  it('returns the same counts for any order of the rows', () => {
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 12 }), (rows) => {
        expect(judgeAll(rows.toReversed()).counts).toEqual(judgeAll(rows).counts);
      }),
    );
  });
});
