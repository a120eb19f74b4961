import { describe, expect, it } from '@jest/globals';
import { type BufferedMessage, delayMs, ReorderBuffer } from './reorder-buffer.ts';

const received = (sequence: number, receivedMs = 0, isRedelivered = false): BufferedMessage<string> => ({
  sequence,
  receivedMs,
  isRedelivered,
  message: `m${sequence}`,
});
const sequences = (items: readonly BufferedMessage<string>[]): number[] => items.map(({ sequence }) => sequence);
const late = delayMs + 1;

function bufferAfter(settled: number, ...items: readonly BufferedMessage<string>[]): ReorderBuffer<string> {
  const buffer = new ReorderBuffer<string>(settled);
  for (const item of items) buffer.add(item);
  return buffer;
}

describe('ReorderBuffer (V2)', () => {
  it('returns each message once, in stream order', () => {
    const buffer = bufferAfter(4, received(6), received(5), received(7));
    const due = buffer.due(late);
    expect(sequences(due)).toEqual([5, 6, 7]);
    buffer.settle(due);
    expect(buffer.due(late)).toEqual([]);
  });

  it('returns each message only after the reorder delay', () => {
    const buffer = bufferAfter(4, received(5), received(6, 50));
    expect(buffer.due(delayMs - 1)).toEqual([]);
    expect(sequences(buffer.due(delayMs + 1))).toEqual([5]);
    expect(sequences(buffer.due(delayMs + 51))).toEqual([5, 6]);
  });

  it('returns no messages after a missing one', () => {
    const buffer = bufferAfter(4, received(6), received(7));
    expect(buffer.due(late)).toEqual([]);
    buffer.add(received(5, late, true));
    expect(sequences(buffer.due(2 * late))).toEqual([5, 6, 7]);
  });

  it('skips a message that was missing for ten seconds', () => {
    const buffer = bufferAfter(4, received(6));
    expect(buffer.due(late)).toEqual([]);
    expect(buffer.due(late + 9_000)).toEqual([]);
    buffer.due(late + 10_001);
    expect(sequences(buffer.due(late + 10_001))).toEqual([6]);
  });

  it('discards redelivered messages, and replaces buffered messages when the stream was recreated', () => {
    const [first, redelivered, recreated] = [received(5), received(5, late, true), received(5, late)];
    const buffer = bufferAfter(4, first);
    const due = buffer.due(late);
    expect(buffer.add(redelivered)).toBe(redelivered);
    expect(buffer.add(recreated)).toBe(first);
    buffer.settle(due);
    expect(buffer.clear()).toEqual([recreated]);
    expect(buffer.add(redelivered)).toBeUndefined();
  });

  it('resets the sequence for a recreated stream, but not for a redelivered message', () => {
    const redelivery = bufferAfter(9, received(3, 0, true));
    redelivery.settle(redelivery.due(late));
    redelivery.add(received(10));
    expect(sequences(redelivery.due(late))).toEqual([10]);
    const recreation = bufferAfter(9, received(1), received(2));
    recreation.settle(recreation.due(late));
    recreation.add(received(3));
    expect(sequences(recreation.due(late))).toEqual([3]);
    expect(recreation.settledAfter(recreation.due(late))).toBe(3);
  });
});
