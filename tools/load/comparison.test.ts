import { describe, expect, it } from '@jest/globals';
import { compareSummaries, type LoadSummary } from './comparison.ts';

const summary = (changes: Partial<LoadSummary> = {}): LoadSummary => ({
  format: 1,
  suite: 'average',
  release: '1.0.0',
  passed: true,
  load: { duration: '10m', visits_per_second: 10 },
  requests_per_second: 40,
  failed_share: 0,
  operations: { search: { count: 100, p50: 20, p95: 60, p99: 90 }, upload: { count: 10, p50: 100, p95: 200, p99: 210 } },
  ...changes,
});
const search = (p50: number, p95: number) => ({ ...summary().operations, search: { count: 100, p50, p95, p99: 200 } });

describe('compareSummaries (operations, Signals: load)', () => {
  it('finds nothing worse in a run that is like the other', () => {
    const { worse, markdown } = compareSummaries(summary(), summary({ release: '1.1.0' }), 0.2);
    expect(worse).toEqual([]);
    expect(markdown).toContain('# average: 1.0.0 → 1.1.0');
    expect(markdown).toContain('| search | 20 | 20 | 0 % | 60 | 60 | 0 % |  |');
    expect(markdown).toContain('Nothing is worse.');
  });

  it('names what got slower by more than the tolerance, and what got faster', () => {
    const slower = compareSummaries(summary(), summary({ operations: search(20, 75) }), 0.2);
    expect(slower.worse).toEqual(['search']);
    expect(slower.markdown).toContain('| search | 20 | 20 | 0 % | 60 | 75 | +25 % | slower |');
    const faster = compareSummaries(summary(), summary({ operations: search(20, 45) }), 0.2);
    expect([faster.worse, faster.markdown.includes('| -25 % | faster |')]).toEqual([[], true]);
  });

  it.each([
    ['within the tolerance', search(23, 71)],
    ['by less than 5 ms', { ...search(20, 60), upload: { count: 10, p50: 100, p95: 204, p99: 210 } }],
  ])('forgives what got slower %s', (_title, operations) => {
    expect(compareSummaries(summary(), summary({ operations }), 0.2).worse).toEqual([]);
  });

  it('counts more failed requests, crossed thresholds and operations that are gone as worse', () => {
    const { search: kept } = summary().operations;
    const after = summary({ failed_share: 0.001, passed: false, operations: kept === undefined ? {} : { search: kept } });
    expect(compareSummaries(summary(), after, 0.2).worse).toEqual(['upload', 'failed requests', 'thresholds']);
  });

  it.each([
    [{ suite: 'spike' }, 'different suites'],
    [{ load: { duration: '1m', visits_per_second: 10 } }, 'different loads'],
    [{ format: 2 }, 'formats'],
  ])('refuses to compare with %j', (changes, text) => {
    expect(() => compareSummaries(summary(), summary(changes), 0.2)).toThrow(text);
  });
});
