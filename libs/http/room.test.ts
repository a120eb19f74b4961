import { describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/testing';
import { type Guest, Room } from './room.ts';

interface SeenGuest extends Guest {
  readonly seen: string[];
}

/** Somebody who has been there for `ageMs`, and leaves when sent away. */
function arrive(room: Room, ageMs = 0): SeenGuest {
  const seen: string[] = [];
  const guest: SeenGuest = {
    since: performance.now() - ageMs,
    bytes: 0,
    seen,
    pause: () => void seen.push('pause'),
    resume: () => void seen.push('resume'),
    evict: () => {
      seen.push('evict');
      room.leave(guest);
    },
  };
  room.enter(guest);
  return guest;
}

const longAgo = 60_000;

/** Resolves when every room has looked at its guests: they do it together, and one that was full last sends somebody away. */
async function looked(): Promise<void> {
  const room = new Room(1);
  const guest = arrive(room, longAgo);
  room.change(guest, 2);
  await waitFor(() => guest.seen.includes('evict'));
}

describe('Room (D62, D77)', () => {
  it('lets bytes in until it is full, exactly', () => {
    const room = new Room(100);
    const guest = arrive(room);
    room.change(guest, 50);
    expect(room.isCrowded).toBe(false);
    room.change(guest, 50);
    expect([room.isCrowded, guest.seen]).toEqual([true, []]);
    room.change(guest, 1);
    expect(guest.seen).toEqual(['pause']);
    room.leave(guest);
  });

  it('stops who brings bytes while there is no room for them, and nobody else', () => {
    const room = new Room(100);
    const [first, second, third] = [arrive(room), arrive(room), arrive(room)];
    room.change(first, 90);
    room.change(second, 20);
    room.change(third, 1);
    expect([first.seen, second.seen, third.seen]).toEqual([[], ['pause'], ['pause']]);
    room.change(first, -10);
    expect(second.seen).toEqual(['pause']);
    room.change(first, -1);
    expect([first.seen, second.seen, third.seen]).toEqual([[], ['pause', 'resume'], ['pause', 'resume']]);
    for (const guest of [first, second, third]) room.leave(guest);
  });

  it('gives the bytes back once, however often a guest leaves', () => {
    const room = new Room(100);
    const [first, second] = [arrive(room), arrive(room)];
    room.change(first, 60);
    room.change(second, 40);
    room.leave(first);
    room.leave(first);
    room.change(second, 60);
    expect(second.seen).toEqual([]);
    room.change(second, 1);
    room.leave(second);
    expect([second.seen, room.isCrowded]).toEqual([['pause'], false]);
  });

  it('sends away who has been under way longest, and no more than it must', async () => {
    const room = new Room(100);
    const guests = [4, 3, 2].map((times) => arrive(room, times * longAgo));
    for (const guest of guests) room.change(guest, 30);
    const next = arrive(room);
    room.change(next, 30);
    await waitFor(() => next.seen.includes('resume'));
    expect(guests.map(({ seen }) => seen)).toEqual([['evict'], [], []]);
    for (const guest of [...guests, next]) room.leave(guest);
  });

  it('sends nobody away who has just come', async () => {
    const room = new Room(100);
    const guests = [arrive(room), arrive(room)];
    for (const guest of guests) room.change(guest, 80);
    await looked();
    expect(guests.map(({ seen }) => seen)).toEqual([[], ['pause']]);
    for (const guest of guests) room.leave(guest);
  });

  it('waits for work to end while what is under way takes less than half', async () => {
    const room = new Room(100);
    const worked = arrive(room, longAgo);
    room.change(worked, 60);
    room.settle(worked);
    const [slow, next] = [arrive(room, longAgo), arrive(room)];
    room.change(slow, 30);
    room.change(next, 20);
    await looked();
    expect([worked.seen, slow.seen, next.seen]).toEqual([[], [], ['pause']]);
    room.leave(worked);
    expect(next.seen).toEqual(['pause', 'resume']);
    room.leave(slow);
    room.leave(next);
  });

  it('keeps the bytes of who has settled until it leaves', () => {
    const room = new Room(100);
    const worked = arrive(room);
    room.change(worked, 100);
    room.settle(worked);
    const next = arrive(room);
    room.change(next, 1);
    expect(next.seen).toEqual(['pause']);
    room.leave(worked);
    expect(next.seen).toEqual(['pause', 'resume']);
    room.leave(next);
  });
});
