import { describe, expect, it } from '@jest/globals';
import { type Arrival, Arrivals, holdMs } from './arrivals.ts';

const arrival = (sequence: number, arrivedMs = 0, again = false): Arrival<string> => ({
  sequence,
  arrivedMs,
  again,
  message: `m${sequence}`,
});
const sequences = (arrivals: readonly Arrival<string>[]): number[] => arrivals.map(({ sequence }) => sequence);
const late = holdMs + 1;

function after(settled: number, ...items: readonly Arrival<string>[]): Arrivals<string> {
  const arrivals = new Arrivals<string>(settled);
  for (const item of items) arrivals.add(item);
  return arrivals;
}

describe('messages of the stream (V2)', () => {
  it('enter in the order of the stream, each once', () => {
    const arrivals = after(4, arrival(6), arrival(5), arrival(7));
    const due = arrivals.due(late);
    expect(sequences(due)).toEqual([5, 6, 7]);
    arrivals.settle(due);
    expect(arrivals.due(late)).toEqual([]);
  });

  it('are held for a moment', () => {
    const arrivals = after(4, arrival(5), arrival(6, 50));
    expect(arrivals.due(holdMs - 1)).toEqual([]);
    expect(sequences(arrivals.due(holdMs + 1))).toEqual([5]);
    expect(sequences(arrivals.due(holdMs + 51))).toEqual([5, 6]);
  });

  it('do not enter before one that is in other hands', () => {
    const arrivals = after(4, arrival(6), arrival(7));
    expect(arrivals.due(late)).toEqual([]);
    arrivals.add(arrival(5, late, true));
    expect(sequences(arrivals.due(2 * late))).toEqual([5, 6, 7]);
  });

  it('go on without one that nobody has any more', () => {
    const arrivals = after(4, arrival(6));
    expect(arrivals.due(late)).toEqual([]);
    expect(arrivals.due(late + 9_000)).toEqual([]);
    arrivals.due(late + 10_001);
    expect(sequences(arrivals.due(late + 10_001))).toEqual([6]);
  });

  it('that come again while they wait are settled with the first; of a stream that began anew the later one stays', () => {
    const [first, again, anew] = [arrival(5), arrival(5, late, true), arrival(5, late)];
    const arrivals = after(4, first);
    const due = arrivals.due(late);
    expect(arrivals.add(again)).toBe(again);
    expect(arrivals.add(anew)).toBe(first);
    arrivals.settle(due);
    expect(arrivals.clear()).toEqual([anew]);
    expect(arrivals.add(again)).toBeUndefined();
  });

  it('that come again move nothing back, and those of a stream that began anew do', () => {
    const again = after(9, arrival(3, 0, true));
    again.settle(again.due(late));
    again.add(arrival(10));
    expect(sequences(again.due(late))).toEqual([10]);
    const anew = after(9, arrival(1), arrival(2));
    anew.settle(anew.due(late));
    anew.add(arrival(3));
    expect(sequences(anew.due(late))).toEqual([3]);
    expect(anew.settledWith(anew.due(late))).toBe(3);
  });
});
