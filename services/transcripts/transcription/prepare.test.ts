import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SplitPlan } from './prepare.ts';

function plan(
  silences: readonly (readonly [number, number])[],
  duration: number,
  limits = { maxSeconds: 600, minSeconds: 300 },
): number[] {
  const made = new SplitPlan(limits);
  for (const [start, end] of silences) made.silence(start, end);
  return made.finish(duration);
}

describe('cuts of long audio (rules/providers#language-models: split long recordings)', () => {
  it('does not split short audio', () => {
    expect(plan([[100, 102]], 600)).toEqual([]);
  });

  it('splits audio in the middle of the last silence before the limit', () => {
    expect(
      plan(
        [
          [100, 101],
          [400, 402],
          [550, 554],
          [700, 702],
        ],
        1_100,
      ),
    ).toEqual([552]);
  });

  it('splits audio at the limit when there is no silence', () => {
    expect(plan([[10, 11]], 1_500)).toEqual([600, 1_200]);
  });

  it('continues at each split point, with and without silences', () => {
    expect(
      plan(
        [
          [500, 500],
          [900, 900],
        ],
        2_000,
      ),
    ).toEqual([500, 900, 1_500]);
  });

  it('never creates an audio part over the limit, and splits only in silence or at the limit', () => {
    const steps = fc.array(
      fc.tuple(fc.double({ min: 0.1, max: 900, noNaN: true }), fc.double({ min: 0.1, max: 5, noNaN: true })),
    );
    fc.assert(
      fc.property(steps, fc.double({ min: 0, max: 2_000, noNaN: true }), (gaps, rest) => {
        let at = 0;
        const silences = gaps.map(([gap, length]): [number, number] => {
          const start = at + gap;
          at = start + length;
          return [start, at];
        });
        const cuts = plan(silences, at + rest);
        const edges = [0, ...cuts, at + rest];
        for (const [index, edge] of edges.slice(1).entries()) {
          const length = edge - (edges[index] ?? 0);
          expect(length).toBeGreaterThanOrEqual(0);
          expect(length).toBeLessThanOrEqual(600 + 1e-6);
        }
        const middles = new Set(silences.map(([start, end]) => (start + end) / 2));
        for (const [index, cut] of cuts.entries()) {
          expect(middles.has(cut) || Math.abs(cut - (edges[index] ?? 0) - 600) < 1e-6).toBe(true);
        }
      }),
    );
  });
});
