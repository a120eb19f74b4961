/** A simulator of Cal.com. It creates chains of booking events and publishes them to the stream as the gateway does. */
import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { ReplyOf } from '#libs/infrastructure/contract';
import { signBooking } from '#libs/product/testing';
import { packWebhooks } from '#libs/product/webhooks';
import { bookingWebhookSubject, type ConversationOut, conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { type ConversationFixture, waitFor } from './fixture.ts';

const hour = 3_600_000;
const firstMeeting = Date.UTC(2030, 0, 15, 10);
let series = 0;

export interface Options {
  person?: string;
  /** A raw body instead of the envelope; null means that the body was too large to be stored. */
  body?: string | Buffer | null;
  /** Request headers; the default contains a valid signature of the body. */
  headers?: Record<string, string>;
}
type Receipt = ReplyOf<typeof conversations.rpcs.listWebhooks>['items'][number];
type PersonNote = ReplyOf<typeof directory.rpcs.listNotesOfPerson>['items'][number];

export interface BookingSimulator {
  /** Publishes a webhook to the stream. */
  deliver(envelope: unknown, options?: Options): Promise<void>;
  /** Delivers one webhook. Returns its receipt once the receipt is settled. */
  settle(envelope: unknown, options?: Options): Promise<Receipt>;
  receiptIds(): Promise<Set<number>>;
  /** Returns the conversations that contain a uid of this chain. */
  booked(chain: Chain): Promise<ConversationOut[]>;
  /**
   * Returns the participants of the conversation for one booking of the chain; undefined when the conversation does not
   * exist.
   */
  seatsOf(chain: Chain, link: number): Promise<string[] | undefined>;
  /** Returns the notes of a person, newest first. */
  personNotes(key: string): Promise<PersonNote[]>;
}

export function createBookingSimulator(fixture: ConversationFixture): BookingSimulator {
  const receiptIds: BookingSimulator['receiptIds'] = async () =>
    new Set(
      (await fixture.env.sql<{ id: number }>('select id from conversations.webhook_receipts')).map(({ id }) => id),
    );
  const deliver: BookingSimulator['deliver'] = async (
    envelope,
    { person = String(fixture.personId('ada')), body, headers } = {},
  ) => {
    const raw = body === null || Buffer.isBuffer(body) ? body : Buffer.from(body ?? JSON.stringify(envelope));
    const id = randomUUID();
    const signed = raw === null ? {} : signBooking(raw);
    const facts = { id, received_at: new Date().toISOString(), person_id: person, headers: headers ?? signed };
    await fixture.bus.publishDurable(bookingWebhookSubject, packWebhooks([{ facts, body: raw }]), { msgId: id });
  };
  const booked: BookingSimulator['booked'] = async ({ name }) => {
    const rows = await fixture.env.sql<{ id: number }>(
      `select id from conversations.conversations where exists
         (select from jsonb_array_elements_text(config #> '{booking,uids}') as uid where uid like $1 || '%') order by id`,
      [name],
    );
    return Promise.all(rows.map((row) => fixture.get(row.id)));
  };
  return {
    deliver,
    receiptIds,
    booked,
    seatsOf: async (chain, link) => {
      const found = (await booked(chain)).filter(
        ({ config }) => (config as { booking: { uid: string } }).booking.uid === uidOf(chain, link),
      );
      expect(found.length).toBeLessThan(2);
      return names(found[0])?.toSorted();
    },
    settle: async (envelope, options) => {
      const before = await receiptIds();
      await deliver(envelope, options);
      return waitFor(async () => {
        const { items } = await fixture.call(conversations.rpcs.listWebhooks, { limit: 10 });
        return items.find((item) => !before.has(item.id) && item.outcome !== 'pending');
      });
    },
    personNotes: async (key) =>
      (await fixture.call(directory.rpcs.listNotesOfPerson, { person_id: fixture.personId(key), limit: 200 })).items,
  };
}

/** Longer than the ack wait, after which a delivery that was lost with its connection is redelivered. */
const redeliveryMs = 45_000;

/** Repeats the expectation until it does not throw. */
export async function eventually(expectation: () => Promise<void>): Promise<void> {
  await waitFor(
    async () => {
      await expectation();
      return true;
    },
    { timeoutMs: redeliveryMs },
  );
}

export const attendee = (name: string) => ({
  name,
  email: `${name.toLowerCase()}@example.org`,
  timeZone: 'Europe/Paris',
  language: { locale: 'fr' },
});

export interface Chain {
  /** Prefix of every uid of the chain. */
  readonly name: string;
  readonly number: number;
  envelope(trigger: string, link: number, extra?: Record<string, unknown>): Record<string, unknown>;
}

/**
 * Returns a chain of the events of one booking. Link n starts n hours later than the first and is created n minutes
 * later.
 */
export function createChain({ ical = false } = {}): Chain {
  const number = ++series;
  const name = `chain${number}-`;
  return {
    name,
    number,
    envelope: (trigger, link, extra = {}) => ({
      triggerEvent: trigger,
      createdAt: new Date(
        Date.UTC(2030, 0, 1, 0, trigger === 'BOOKING_CANCELLED' ? link * 2 + 1 : link * 2),
      ).toISOString(),
      payload: {
        uid: `${name}${link}`,
        bookingId: number * 1_000 + link,
        ...(ical ? { iCalUID: `${name}0@Cal.com` } : {}),
        ...(trigger === 'BOOKING_RESCHEDULED' ? { rescheduleUid: `${name}${link - 1}` } : {}),
        title: 'Intro',
        startTime: new Date(firstMeeting + link * hour).toISOString(),
        endTime: new Date(firstMeeting + link * hour + hour / 2).toISOString(),
        attendees: [attendee('Ben')],
        ...(trigger === 'BOOKING_CANCELLED'
          ? {}
          : { metadata: { videoCallUrl: 'https://meet.example.org/r/open-circle' } }),
        ...extra,
      },
    }),
  };
}

export const names = (conversation: ConversationOut | undefined) =>
  conversation?.participants.map((person) => person.name);

export const uidOf = (chain: Chain, link: number) => `${chain.name}${link}`;

/** Returns an event of a booking with seats, created in the given minute. */
export const seated = (
  chain: Chain,
  trigger: string,
  link: number,
  minute: number,
  guests: readonly string[],
  extra: Record<string, unknown> = {},
) => ({
  ...chain.envelope(trigger, link, {
    seatsPerTimeSlot: 6,
    attendees: guests.map(attendee),
    rescheduleUid: undefined,
    ...extra,
  }),
  createdAt: new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString(),
});
