import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  changeSeats,
  findPresent,
  hasNoGuests,
  type Seat,
  type Seating,
  type SeatState,
  seatParticipants,
} from './seats.ts';

const host = 99;
const people = ['ann', 'bob', 'zed'];
const seat = (
  attendee: string,
  state: SeatState,
  at: number,
  personId: number | null = people.indexOf(attendee) + 1,
): Seat => ({
  attendee,
  personId,
  state,
  at: BigInt(at),
});
/** Returns the seats after the given events in the given order. */
const deliver = (incoming: readonly Seat[]): Seat[] => {
  const known = new Map<string, Seat>();
  for (const item of incoming)
    for (const changed of changeSeats([...known.values()], [item])) known.set(changed.attendee, changed);
  return [...known.values()];
};
const seatingOf = (seats: readonly Seat[], since?: bigint): Seating => ({ seats, since, hosts: [host] });
const presentIds = (seating: Seating) => findPresent(seating).map(({ personId }) => personId);

describe('seats of a booking (D78, D102)', () => {
  const events = fc.array(
    fc.record({
      attendee: fc.constantFrom(...people),
      state: fc.constantFrom<SeatState>('in', 'moved', 'gone'),
      at: fc.integer({ min: 1, max: 6 }),
    }),
    { minLength: 1, maxLength: 8 },
  );

  it('returns the same attendees for any order of delivery and for duplicates', () => {
    fc.assert(
      fc.property(
        events.chain((list) =>
          fc.tuple(fc.constant(list), fc.shuffledSubarray([...list, ...list], { minLength: list.length * 2 })),
        ),
        fc.option(fc.bigInt({ min: 0n, max: 6n }), { nil: undefined }),
        ([list, shuffled], since) => {
          const toSeats = (items: typeof list) => items.map(({ attendee, state, at }) => seat(attendee, state, at));
          const [one, other] = [seatingOf(deliver(toSeats(list)), since), seatingOf(deliver(toSeats(shuffled)), since)];
          expect(findPresent(other)).toEqual(findPresent(one));
          expect(hasNoGuests(other)).toBe(hasNoGuests(one));
          expect(seatParticipants([host], other)).toEqual(seatParticipants([host], one));
        },
      ),
    );
  });

  it.each<[what: string, incoming: Seat[], present: number[], deserted: boolean]>([
    [
      'keeps guests that are not named',
      [seat('ann', 'in', 1), seat('bob', 'in', 2), seat('bob', 'gone', 3)],
      [1],
      false,
    ],
    [
      'has no guests when all have left',
      [seat('ann', 'in', 1), seat('ann', 'gone', 2), seat('bob', 'moved', 3)],
      [],
      true,
    ],
    ['does not bring back a guest who left later', [seat('bob', 'gone', 3), seat('bob', 'in', 2)], [], true],
    ['brings back a guest who booked again', [seat('bob', 'gone', 3), seat('bob', 'in', 4)], [2], false],
    [
      'lets a cancellation win over a booking of the same time',
      [seat('bob', 'in', 3), seat('bob', 'gone', 3)],
      [],
      true,
    ],
    ['ignores the host', [seat('ann', 'in', 1, host), seat('bob', 'in', 1), seat('ann', 'gone', 2, host)], [2], false],
    ['follows a person named under two keys', [seat('ann', 'in', 1, 1), seat('other-address', 'gone', 2, 1)], [], true],
    ['is not empty before a guest was named', [], [], false],
  ])('tracks the attendees of a booking with seats: %s', (_what, incoming, present, deserted) => {
    const seating = seatingOf(deliver(incoming));
    expect([presentIds(seating), hasNoGuests(seating)]).toEqual([present, deserted]);
  });

  it('removes all attendees at a cancellation of the booking, and adds attendees of later events', () => {
    const seats = [seat('ann', 'in', 1), seat('bob', 'in', 5)];
    expect([1n, 3n, 5n].map((since) => presentIds(seatingOf(seats, since)))).toEqual([[2], [2], []]);
  });

  it('does not remove participants who are not attendees', () => {
    const seating = seatingOf([seat('ann', 'gone', 2), seat('bob', 'in', 1), seat('zed', 'in', 1, null)]);
    expect(seatParticipants([host, 1, 50], seating)).toEqual([host, 50, 2]);
  });
});
