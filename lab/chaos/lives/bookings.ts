/**
 * Simulates a booking provider whose events are received in any order: single bookings, guests with seats, and series.
 */
import { signBooking } from '../../../libs/product/testing/environment.ts';
import type { Client, Request } from '../client.ts';

type Step = () => Promise<void>;

const bookedFrom = Date.UTC(2032, 0, 1);
const hour = 3_600_000;

interface Event {
  readonly trigger: string;
  readonly uid: string;
  /** Start of the booking in hours after the first booking. */
  readonly slot: number;
  /** Seconds in the provider's timestamp, which orders the events of one booking. */
  readonly second: number;
  readonly guests: readonly string[];
  /** Effect of the event that the end of the run checks; absent if another event determines the result. */
  readonly effect?: { readonly object: string; readonly key: string } | undefined;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Creates one booking per step. Like the provider, the client resends a webhook until it is acknowledged. */
export async function book(client: Client): Promise<Step> {
  let count = 0;
  return async () => {
    const uid = `booking-${count}`;
    const effect = { object: 'booking', key: uid };
    await send(client, {
      trigger: 'BOOKING_CREATED',
      uid,
      slot: 2 * count++,
      second: 0,
      guests: [`Guest ${uid}`],
      effect,
    });
  };
}

/** Books seats for three guests: one guest remains, one is rescheduled, one cancels. */
export async function bookSeats(client: Client): Promise<Step> {
  let count = 0;
  return async () => {
    const uid = `seats-${count}`;
    const [remainingAttendee, movedAttendee, removedAttendee] = ['stays', 'moves', 'leaves'].map(
      (what) => `Guest ${uid} ${what}`,
    ) as [string, string, string];
    const seats = { seatsPerTimeSlot: 6 };
    const about = { uid, slot: 2 * count++, more: seats };
    const moved = { ...seats, rescheduleUid: uid, attendeeSeatId: 'seat' };
    const events: Event[] = [
      {
        ...about,
        trigger: 'BOOKING_CREATED',
        second: 0,
        guests: [remainingAttendee],
        effect: { object: 'seat', key: remainingAttendee },
      },
      {
        ...about,
        trigger: 'BOOKING_CREATED',
        second: 1,
        guests: [movedAttendee],
        effect: { object: 'seat', key: movedAttendee },
      },
      { ...about, trigger: 'BOOKING_CREATED', second: 2, guests: [removedAttendee] },
      { ...about, trigger: 'BOOKING_CANCELLED', second: 3, guests: [removedAttendee] },
      {
        ...about,
        trigger: 'BOOKING_RESCHEDULED',
        uid: `${uid}-moved`,
        slot: about.slot + 1,
        second: 4,
        guests: [movedAttendee],
        more: moved,
      },
    ];
    for (const event of shuffle(client, events)) await send(client, event);
  };
}

/** Books a series of three occurrences with one iCalUID, and cancels one of them. */
export async function bookSeries(client: Client): Promise<Step> {
  let count = 0;
  return async () => {
    const series = `series-${count}`;
    const from = 10_000 + 4 * count++;
    const more = { iCalUID: `${series}@Cal.com`, bookingId: count };
    const guests = [`Guest ${series}`];
    const created = [0, 1, 2].map((number): Event => {
      const uid = `${series}-${number}`;
      const effect = number === 1 ? undefined : { object: 'occurrence', key: uid };
      return { trigger: 'BOOKING_CREATED', uid, slot: from + number, second: number, guests, effect, more };
    });
    const cancelled: Event = {
      trigger: 'BOOKING_CANCELLED',
      uid: `${series}-1`,
      slot: from + 1,
      second: 5,
      guests,
      more,
    };
    for (const event of shuffle(client, [...created, cancelled])) await send(client, event);
  };
}

function shuffle(client: Client, events: readonly Event[]): Event[] {
  const remaining = [...events];
  return events.flatMap(() => remaining.splice(client.random.below(remaining.length), 1));
}

async function send(client: Client, { trigger, uid, slot, second, guests, effect, more = {} }: Event): Promise<void> {
  const { workspace } = client.target;
  const start = bookedFrom + slot * hour;
  const booking = {
    triggerEvent: trigger,
    createdAt: new Date(Date.UTC(2031, 0, 1, slot) + second * 1_000).toISOString(),
    payload: {
      uid,
      title: 'Intro',
      startTime: new Date(start).toISOString(),
      endTime: new Date(start + hour / 2).toISOString(),
      attendees: guests.map((name) => ({
        name,
        email: `${name.replaceAll(' ', '-')}@example.org`,
        timeZone: 'Europe/Paris',
      })),
      metadata: { videoCallUrl: `https://meet.example.org/${workspace.journey}` },
      ...more,
    },
  };
  const request: Omit<Request, 'object' | 'input'> = {
    kind: 'booking webhook',
    method: 'POST',
    path: `/api/coherence/hook/booking/${workspace.people[client.number] ?? 0}`,
    json: booking,
    token: null,
    headers: signBooking(JSON.stringify(booking)),
  };
  const { object, key } = effect ?? { object: 'booking event', key: `${uid} ${trigger} ${second}` };
  await client.insist({ ...request, object, input: { do: 'effect', key } });
}
