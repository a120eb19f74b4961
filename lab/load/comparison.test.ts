import { describe, expect, it } from '@jest/globals';
import { compareSummaries, type LoadSummary, selectPhase } from './comparison.ts';

const summary = (changes: Partial<LoadSummary> = {}): LoadSummary => ({
  format: 1,
  suite: 'average',
  release: '1.0.0',
  passed: true,
  load: { duration: '10m', visits_per_second: 10 },
  failed_share: 0,
  personas: { api_client: { count: 110, p50: 30, p95: 80, p99: 100, failed_share: 0 } },
  operations: {
    search: { count: 100, p50: 20, p95: 60, p99: 90 },
    upload: { count: 10, p50: 100, p95: 200, p99: 210 },
  },
  ...changes,
});
const search = (p50: number, p95: number) => ({ ...summary().operations, search: { count: 100, p50, p95, p99: 200 } });

describe('compareSummaries (rules/operations#load)', () => {
  it('reports no differences for two similar runs', () => {
    const { worse, markdown } = compareSummaries(summary(), summary({ release: '1.1.0' }), 0.2);
    expect(worse).toEqual([]);
    expect(markdown).toContain('# average: 1.0.0 → 1.1.0');
    expect(markdown).toContain('| search | 20 | 20 | 0 % | 60 | 60 | 0 % |  |');
    expect(markdown).toContain('Nothing is worse.');
  });

  it('reports operations that became slower or faster by more than the tolerance', () => {
    const slower = compareSummaries(summary(), summary({ operations: search(20, 75) }), 0.2);
    expect(slower.worse).toEqual(['search']);
    expect(slower.markdown).toContain('| search | 20 | 20 | 0 % | 60 | 75 | +25 % | slower |');
    const faster = compareSummaries(summary(), summary({ operations: search(20, 45) }), 0.2);
    expect([faster.worse, faster.markdown.includes('| -25 % | faster |')]).toEqual([[], true]);
  });

  it.each([
    ['within the tolerance', search(23, 71)],
    ['by less than 5 ms', { ...search(20, 60), upload: { count: 10, p50: 100, p95: 204, p99: 210 } }],
  ])('tolerates operations that became slower %s', (_title, operations) => {
    expect(compareSummaries(summary(), summary({ operations }), 0.2).worse).toEqual([]);
  });

  it('reports more failed requests, exceeded thresholds and missing operations as regressions', () => {
    const { search: kept } = summary().operations;
    const after = summary({
      failed_share: 0.001,
      passed: false,
      operations: kept === undefined ? {} : { search: kept },
    });
    expect(compareSummaries(summary(), after, 0.2).worse).toEqual(['upload', 'failed requests', 'thresholds']);
  });

  it.each([
    [{ suite: 'spike' }, 'different suites'],
    [{ load: { duration: '1m', visits_per_second: 10 } }, 'different loads'],
    [{ format: 2 }, 'formats'],
  ])('rejects a comparison with %j', (changes, text) => {
    expect(() => compareSummaries(summary(), summary(changes), 0.2)).toThrow(text);
  });
});

describe('selectPhase (rules/operations#load)', () => {
  const times = { count: 100, p50: 20, p95: 60, p99: 90 };
  const soak = summary({
    suite: 'soak',
    failed_share: 0.01,
    personas: {
      'api_client (first)': { ...times, failed_share: 0 },
      'api_client (second)': { ...times, failed_share: 0.02 },
    },
    operations: { 'search (first)': times, 'search (second)': { ...times, p95: 90 } },
  });

  it('selects one half of a run for comparison', () => {
    const { worse, markdown } = compareSummaries(selectPhase(soak, 'first'), selectPhase(soak, 'second'), 0.2);
    expect(worse).toEqual(['search', 'failed requests']);
    expect(markdown).toContain('# soak: first → second');
    expect(markdown).toContain('requests 100 → 100; failed 0.000 % → 2.000 %');
  });

  it('rejects a phase that the run does not have', () => {
    expect(() => selectPhase(soak, 'peak')).toThrow('no part "peak"');
  });
});
