import { describe, expect, it } from '@jest/globals';
import { answerPace, bodyPace, pollRegularly, Pace } from './pace.ts';

/**
 * Returns the second in which a body that transfers `rates[s]` bytes per second is detected as slow; undefined if it is
 * never detected.
 */
function findSlow(rates: readonly number[], isHeld: (second: number) => boolean = () => false): number | undefined {
  const pace = new Pace(bodyPace, 0);
  let moved = 0;
  for (const [second, bytes] of rates.entries()) {
    moved += bytes;
    if (pace.isSlow((second + 1) * 1_000, moved, isHeld(second))) return second + 1;
  }
  return undefined;
}
const constant = (bytes: number, seconds: number): number[] => Array.from({ length: seconds }, () => bytes);

describe('Pace (D62)', () => {
  it('allows 1 KiB per second indefinitely, and a lower rate for five seconds', () => {
    expect(findSlow(constant(1_024, 3_600))).toBeUndefined();
    expect(findSlow(constant(1_023, 3_600))).toBe(5);
  });

  it('tolerates a slow start', () => {
    expect(findSlow([0, 0, 0, 0, 5_120, ...constant(1_024, 60)])).toBeUndefined();
    expect(findSlow([0, 0, 0, 0, 0])).toBe(5);
  });

  it('measures the rate of the last ten seconds only', () => {
    expect(findSlow([1e9, ...constant(0, 60)])).toBe(11);
    expect(findSlow([...constant(1_024, 20), ...constant(0, 9), 10_240])).toBe(21);
    expect(findSlow([...constant(1_024, 20), 20_480, ...constant(0, 9), 1_024])).toBe(31);
  });

  it('excludes the time without requested data from the rate', () => {
    expect(findSlow(constant(0, 600), () => true)).toBeUndefined();
    expect(findSlow(constant(0, 600), (second) => second < 100)).toBe(101);
    expect(findSlow([...constant(0, 100), ...constant(1_024, 100)], (second) => second < 100)).toBeUndefined();
  });

  it('measures the receiver of a response over a longer window', () => {
    const pace = new Pace(answerPace, 0);
    const takesAPieceEveryMinute = Array.from({ length: 60 }, (_value, minute) =>
      pace.isSlow((minute + 1) * 60_000, (minute + 1) * 61_440, false),
    );
    expect(takesAPieceEveryMinute).not.toContain(true);
    expect(new Pace(answerPace, 0).isSlow(60_000, 61_439, false)).toBe(true);
  });
});

describe('pollRegularly', () => {
  it('calls the check until it is stopped', async () => {
    let count = 0;
    await new Promise<void>((resolve) => {
      const stop = pollRegularly(() => {
        if (++count === 2) stop();
      });
      const again = pollRegularly(() => {
        if (count < 2) return;
        again();
        setTimeout(resolve, 1_500);
      });
    });
    expect(count).toBe(2);
  });
});
