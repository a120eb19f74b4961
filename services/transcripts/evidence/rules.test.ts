import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { exclusionReasons, type ExclusionReason, type ImportStatus } from './contract.ts';
import { decideEvidence, isChanged, statusWithoutRecord, type EvidenceState, type RunResult } from './rules.ts';
import { parseWindow } from '../import/index.ts';

const excludedByReason = Object.fromEntries(exclusionReasons.map((reason) => [reason, 0])) as Record<
  ExclusionReason,
  number
>;
const filtered = {
  artifact: { format: 'json' as const, sessionId: 's', sessionStart: 0n, sha256: 'a'.repeat(64), bytes: 3 },
  window: { start: 1n, end: 2n },
  counts: { raw: 1, accepted: 1, excludedByReason },
};
const imported: RunResult = { ...filtered, status: 'imported', installedSegments: 1 };
const empty: RunResult = { ...filtered, status: 'transcript_window_empty', installedSegments: null };
const refused: RunResult = { ...filtered, status: 'install_refused_or_incomplete', installedSegments: 0 };
const results: RunResult[] = [
  { status: 'transcript_window_missing' },
  { status: 'invalid_transcript_window' },
  imported,
  empty,
  refused,
];
const unread = { sha256: null, window: null };
const fresh: EvidenceState = { status: 'never_ran', contractImport: false, hasRows: false, ...unread };
const legacy: EvidenceState = { status: 'legacy_unbounded', contractImport: false, hasRows: true, ...unread };

describe('decideEvidence (rules/transcripts#import-statuses; D7, D7a)', () => {
  it.each([
    [
      'no window',
      results[0],
      { status: 'transcript_window_missing', contractImport: false, artifact: null, window: null, counts: null },
    ],
    [
      'an unusable window',
      results[1],
      { status: 'invalid_transcript_window', contractImport: false, artifact: null, window: null, counts: null },
    ],
    [
      'nothing accepted',
      empty,
      { status: 'transcript_window_empty', contractImport: true, installedSegments: null, counts: filtered.counts },
    ],
    [
      'a refused install',
      refused,
      { status: 'install_refused_or_incomplete', contractImport: true, installedSegments: 0 },
    ],
    [
      'everything stored',
      imported,
      {
        status: 'imported',
        contractImport: true,
        installedSegments: 1,
        artifact: filtered.artifact,
        window: filtered.window,
      },
    ],
  ])('records evidence for %s', (_what, result, expected) => {
    expect(decideEvidence(fresh, result as RunResult)).toMatchObject(expected);
  });

  it('preserves the evidence of an import when a later run fails, and replaces it when a later run succeeds', () => {
    const state: EvidenceState = { status: 'imported', contractImport: true, hasRows: true, ...unread };
    for (const result of results)
      expect(decideEvidence(state, result) === undefined).toBe(result.status !== 'imported');
  });

  it('marks unfiltered rows legacy_unbounded without a usable window, unless the filter has already run', () => {
    expect(decideEvidence(legacy, { status: 'transcript_window_missing' })).toMatchObject({
      status: 'legacy_unbounded',
      contractImport: false,
    });
    expect(decideEvidence(legacy, { status: 'invalid_transcript_window' })).toMatchObject({
      status: 'legacy_unbounded',
      contractImport: false,
    });
    expect(decideEvidence(legacy, empty)).toMatchObject({ status: 'transcript_window_empty', contractImport: true });
    expect(decideEvidence(legacy, imported)).toMatchObject({ status: 'imported', contractImport: true });
  });

  it('preserves the evidence invariants for any sequence of runs', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(fc.constantFrom(...results), { maxLength: 12 }), (hasLegacyRows, runs) => {
        let state: EvidenceState = {
          status: statusWithoutRecord(hasLegacyRows),
          contractImport: false,
          hasRows: hasLegacyRows,
          ...unread,
        };
        const seen: ImportStatus[] = [state.status];
        for (const result of runs) {
          const next = decideEvidence(state, result);
          if (next !== undefined) {
            expect(next.contractImport || !state.contractImport).toBe(true);
            expect([next.artifact, next.window, next.counts].filter((part) => part === null)).toHaveLength(
              'artifact' in result ? 0 : 3,
            );
            state = {
              status: next.status,
              contractImport: next.contractImport,
              hasRows: state.hasRows || next.status === 'imported',
              ...unread,
            };
          }
          seen.push(state.status);
        }
        if (seen.includes('imported'))
          expect(seen.slice(seen.indexOf('imported')).every((status) => status === 'imported')).toBe(true);
        if (state.status === 'legacy_unbounded') expect(state.contractImport).toBe(false);
        if (runs.some((result) => 'artifact' in result)) expect(state.contractImport).toBe(true);
      }),
    );
  });
});

describe('judgeWindow (rules/room#transcript-window, 4 and 6; D7, D7b)', () => {
  const classify = (start: string | null, end: string | null): string =>
    parseWindow({ conversation_started_at: start, capture_ended_at: end }).kind;
  const [early, late] = ['2030-01-15T10:00:00Z', '2030-01-15T10:00:00.000001Z'];

  it.each([
    [null, null, 'missing'],
    [early, null, 'missing'],
    [null, late, 'missing'],
    [early, late, 'usable'],
    [late, early, 'invalid'],
    [early, early, 'invalid'],
    [early, '2030-01-15T11:00:00+01:00', 'invalid'],
    ['2030-01-15T10:00:00', late, 'invalid'],
    ['soon', late, 'invalid'],
    ['soon', null, 'missing'],
  ])('classifies the window %j to %j as %s', (start, end, expected) => {
    expect(classify(start, end)).toBe(expected);
  });
});

describe('isChanged (V9)', () => {
  const of = (result: RunResult, state: EvidenceState): boolean => {
    const next = decideEvidence(state, result);
    return next !== undefined && isChanged(state, next);
  };
  const known: EvidenceState = {
    status: 'imported',
    contractImport: true,
    hasRows: true,
    sha256: filtered.artifact.sha256,
    window: filtered.window,
  };

  it('returns true for a new status, other artifact bytes or another window', () => {
    expect(of(imported, fresh)).toBe(true);
    expect(of(empty, fresh)).toBe(true);
    expect(of(imported, { ...known, sha256: 'b'.repeat(64) })).toBe(true);
    expect(of(imported, { ...known, window: { start: 1n, end: 3n } })).toBe(true);
  });

  it('returns false for an unchanged result, and for a failure while a transcript remains', () => {
    expect(of(imported, known)).toBe(false);
    expect(of(empty, known)).toBe(false);
    expect(of(empty, { ...fresh, status: 'transcript_window_empty' })).toBe(false);
    expect(of({ status: 'transcript_window_missing' }, legacy)).toBe(false);
  });
});
