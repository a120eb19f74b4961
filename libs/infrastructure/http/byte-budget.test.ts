import { describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { type Transfer, ByteBudget } from './byte-budget.ts';

interface RecordedTransfer extends Transfer {
  readonly seen: string[];
}

/** Adds a transfer that is `ageMs` old. It leaves the budget when it is evicted. */
function arrive(room: ByteBudget, ageMs = 0): RecordedTransfer {
  const seen: string[] = [];
  const guest: RecordedTransfer = {
    since: performance.now() - ageMs,
    bytes: 0,
    seen,
    pause: () => void seen.push('pause'),
    resume: () => void seen.push('resume'),
    evict: () => {
      seen.push('evict');
      room.remove(guest);
    },
  };
  room.add(guest);
  return guest;
}

const longAgo = 60_000;

/**
 * Resolves after every budget has checked its transfers. All budgets are checked in one pass: this function waits until
 * its own full budget has evicted a transfer.
 */
async function looked(): Promise<void> {
  const room = new ByteBudget(1);
  const guest = arrive(room, longAgo);
  room.adjust(guest, 2);
  await waitFor(() => guest.seen.includes('evict'));
}

describe('ByteBudget (D62, D77)', () => {
  it('accepts bytes up to the exact limit', () => {
    const room = new ByteBudget(100);
    const guest = arrive(room);
    room.adjust(guest, 50);
    expect(room.isOverHalf).toBe(false);
    room.adjust(guest, 50);
    expect([room.isOverHalf, guest.seen]).toEqual([true, []]);
    room.adjust(guest, 1);
    expect(guest.seen).toEqual(['pause']);
    room.remove(guest);
  });

  it('pauses only transfers that add bytes while the budget is exhausted', () => {
    const room = new ByteBudget(100);
    const [first, second, third] = [arrive(room), arrive(room), arrive(room)];
    room.adjust(first, 90);
    room.adjust(second, 20);
    room.adjust(third, 1);
    expect([first.seen, second.seen, third.seen]).toEqual([[], ['pause'], ['pause']]);
    room.adjust(first, -10);
    expect(second.seen).toEqual(['pause']);
    room.adjust(first, -1);
    expect([first.seen, second.seen, third.seen]).toEqual([[], ['pause', 'resume'], ['pause', 'resume']]);
    for (const guest of [first, second, third]) room.remove(guest);
  });

  it('releases the bytes of a transfer once, even if it is closed repeatedly', () => {
    const room = new ByteBudget(100);
    const [first, second] = [arrive(room), arrive(room)];
    room.adjust(first, 60);
    room.adjust(second, 40);
    room.remove(first);
    room.remove(first);
    room.adjust(second, 60);
    expect(second.seen).toEqual([]);
    room.adjust(second, 1);
    room.remove(second);
    expect([second.seen, room.isOverHalf]).toEqual([['pause'], false]);
  });

  it('aborts the oldest transfers first, and only as many as necessary', async () => {
    const room = new ByteBudget(100);
    const guests = [4, 3, 2].map((times) => arrive(room, times * longAgo));
    for (const guest of guests) room.adjust(guest, 30);
    const next = arrive(room);
    room.adjust(next, 30);
    await waitFor(() => next.seen.includes('resume'));
    expect(guests.map(({ seen }) => seen)).toEqual([['evict'], [], []]);
    for (const guest of [...guests, next]) room.remove(guest);
  });

  it('does not abort new transfers', async () => {
    const room = new ByteBudget(100);
    const guests = [arrive(room), arrive(room)];
    for (const guest of guests) room.adjust(guest, 80);
    await looked();
    expect(guests.map(({ seen }) => seen)).toEqual([[], ['pause']]);
    for (const guest of guests) room.remove(guest);
  });

  it('waits for running work, without aborts, while transfers use less than half of the budget', async () => {
    const room = new ByteBudget(100);
    const worked = arrive(room, longAgo);
    room.adjust(worked, 60);
    room.finish(worked);
    const [slow, next] = [arrive(room, longAgo), arrive(room)];
    room.adjust(slow, 30);
    room.adjust(next, 20);
    await looked();
    expect([worked.seen, slow.seen, next.seen]).toEqual([[], [], ['pause']]);
    room.remove(worked);
    expect(next.seen).toEqual(['pause', 'resume']);
    room.remove(slow);
    room.remove(next);
  });

  it('retains the bytes of a completed transfer until it is closed', () => {
    const room = new ByteBudget(100);
    const worked = arrive(room);
    room.adjust(worked, 100);
    room.finish(worked);
    const next = arrive(room);
    room.adjust(next, 1);
    expect(next.seen).toEqual(['pause']);
    room.remove(worked);
    expect(next.seen).toEqual(['pause', 'resume']);
    room.remove(next);
  });
});
