/**
 * Bookings whose webhooks were lost (B1, B2): a simulated Cal.com that loses one in twenty, pages, rate-limits and
 * fails. `RECONCILE_EVENTS` sets the number of events (600, and 150 in the smoke form).
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jobAdminRpcs } from '#libs/infrastructure/contract';
import {
  type CalComBooking,
  type CalComServer,
  signBooking,
  startCalCom,
  startInnerServer,
} from '#libs/product/testing';
import { packWebhooks } from '#libs/product/webhooks';
import { bookingWebhookSubject, conversations, type ReconcileResult } from '#services/conversations';
import { sized } from '../../drill.ts';
import { startConversationFixture, waitFor, type ConversationFixture } from './fixture.ts';

const eventCount = Number(process.env['RECONCILE_EVENTS'] ?? sized({ smoke: 150, release: 600 }));
const { reconcileBookings, listWebhooks } = conversations.rpcs;
const { showJob } = jobAdminRpcs('conversations');
const minute = 60_000;

interface Happened {
  readonly trigger: string;
  readonly at: number;
  readonly uid: string;
  readonly former?: string;
}

let calCom: CalComServer;
let fixture: ConversationFixture;
let random: () => number;
beforeAll(async () => {
  calCom = await startCalCom();
  fixture = await startConversationFixture(import.meta.url, {
    CALCOM_API_URL: calCom.baseUrl,
    CALCOM_API_KEY: calCom.apiKey,
  });
  fixture.env.onStop(() => calCom.stop());
  random = createRandom(20_300_101);
});
afterAll(() => fixture.stop());

/** Returns a random number generator (Mulberry32) that returns the same sequence for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

let number = 0;
function book(at: number, former?: CalComBooking): CalComBooking {
  const id = ++number;
  const start = Date.UTC(2031, 0, 1) + id * 10 * minute;
  const booking: CalComBooking = {
    id,
    uid: `booking-${id}-${randomUUID().slice(0, 8)}`,
    title: `Talk ${id}`,
    status: 'accepted',
    hosts: [{ name: 'Ada', email: 'ADA@example.org' }],
    attendees: [{ name: 'Ben', email: 'ben@example.org' }],
    start: new Date(start).toISOString(),
    end: new Date(start + 30 * minute).toISOString(),
    createdAt: new Date(at).toISOString(),
    updatedAt: new Date(at).toISOString(),
    meetingUrl: 'https://meet.example.org/r/open-circle',
    location: 'https://meet.example.org/r/open-circle',
    icsUid: former?.icsUid ?? `ics-${id}@Cal.com`,
    ...(former === undefined ? {} : { rescheduledFromUid: former.uid }),
  };
  calCom.bookings.set(booking.uid, booking);
  if (former !== undefined)
    Object.assign(former, { status: 'cancelled', rescheduledToUid: booking.uid, updatedAt: booking.createdAt });
  return booking;
}

function cancel(booking: CalComBooking, at: number): void {
  Object.assign(booking, { status: 'cancelled', updatedAt: new Date(at).toISOString(), cancellationReason: 'ill' });
}

/** Simulates events at Cal.com: bookings, two in five rescheduled, some twice, one in five cancelled. */
function live(count: number): Happened[] {
  const happened: Happened[] = [];
  for (let at = Date.UTC(2030, 0, 1); happened.length < count; at += minute) {
    let booking = book(at);
    happened.push({ trigger: 'BOOKING_CREATED', at, uid: booking.uid });
    let later = at;
    while (random() < 0.4) {
      const former = booking;
      later += Math.ceil(random() * 300) * minute;
      booking = book(later, former);
      happened.push({ trigger: 'BOOKING_RESCHEDULED', at: later, uid: booking.uid, former: former.uid });
    }
    if (random() < 0.2) {
      later += Math.ceil(random() * 300) * minute;
      cancel(booking, later);
      happened.push({ trigger: 'BOOKING_CANCELLED', at: later, uid: booking.uid });
    }
  }
  return happened.toSorted((left, right) => left.at - right.at);
}

/** Returns the webhook that Cal.com sends for an event, created a moment later. */
function toWebhook({ trigger, at, uid, former }: Happened): Buffer {
  const { id, title, start, end, attendees, icsUid } = calCom.bookings.get(uid) as CalComBooking;
  const payload = {
    uid,
    bookingId: id,
    iCalUID: icsUid,
    title,
    startTime: start,
    endTime: end,
    attendees,
    ...(former === undefined ? {} : { rescheduleUid: former }),
    ...(trigger === 'BOOKING_CANCELLED'
      ? {}
      : { metadata: { videoCallUrl: 'https://meet.example.org/r/open-circle' } }),
  };
  return Buffer.from(JSON.stringify({ triggerEvent: trigger, createdAt: new Date(at + 900).toISOString(), payload }));
}

async function deliver(happened: readonly Happened[]): Promise<void> {
  const person = String(fixture.personId('ada'));
  for (let begin = 0; begin < happened.length; begin += 50) {
    const batch = happened.slice(begin, begin + 50).map((event) => {
      const body = toWebhook(event);
      const facts = {
        id: randomUUID(),
        received_at: new Date().toISOString(),
        person_id: person,
        headers: signBooking(body),
      };
      return { facts, body };
    });
    await fixture.bus.publishDurable(bookingWebhookSubject, packWebhooks(batch), { msgId: randomUUID() });
  }
}

async function deliverBody(event: object): Promise<void> {
  const body = Buffer.from(JSON.stringify(event));
  const facts = {
    id: randomUUID(),
    received_at: new Date().toISOString(),
    person_id: String(fixture.personId('ada')),
    headers: signBooking(body),
  };
  await fixture.bus.publishDurable(bookingWebhookSubject, packWebhooks([{ facts, body }]), { msgId: randomUUID() });
}

async function settled(receipts: number): Promise<void> {
  await waitFor(
    async () => {
      const [row] = await fixture.env.sql<{ all: string; open: string }>(
        `select (select count(*) from conversations.webhook_receipts) as all, (select count(*) from conversations.jobs
           where type = 'conversations.booking-event' and state in ('queued', 'running')) as open`,
      );
      return Number(row?.all) >= receipts && Number(row?.open) === 0 ? true : undefined;
    },
    { timeoutMs: 120_000 + eventCount * 400, intervalMs: 250, what: 'the receipts' },
  );
}

async function reconcile(request: { since?: string; dry_run?: boolean } = {}): Promise<ReconcileResult> {
  const { job_id: id } = await fixture.call(reconcileBookings, { dry_run: false, ...request });
  const job = await waitFor(
    async () => {
      const shown = await fixture.call(showJob, { id });
      return ['succeeded', 'dead'].includes(shown.state) ? shown : undefined;
    },
    // Every second request for a page of a hundred bookings is rate-limited and retried after one second.
    { timeoutMs: 120_000 + eventCount * 40, what: 'the job' },
  );
  if (job.state === 'dead') throw new Error(job.error ?? 'dead');
  return job.result as ReconcileResult;
}

/** Compares the conversations with the bookings at Cal.com. Bookings of one chain are identified by the first uid. */
async function compare(): Promise<{ missing: string[]; doubled: string[]; wrong: string[] }> {
  const rows = await fixture.env.sql<{ uids: string[]; start: string }>(
    `select array(select jsonb_array_elements_text(config #> '{booking,uids}')) as uids, to_char(start_at at time zone 'UTC',
       'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as start from conversations.conversations where config ? 'booking'`,
  );
  const found = { missing: [] as string[], doubled: [] as string[], wrong: [] as string[] };
  for (const tip of calCom.bookings.values()) {
    if (tip.rescheduledToUid !== undefined) continue;
    const chain: string[] = [];
    for (
      let next: string | undefined = tip.uid;
      next !== undefined;
      next = calCom.bookings.get(next)?.rescheduledFromUid
    )
      chain.push(next);
    const own = rows.filter(({ uids }) => uids.some((uid) => chain.includes(uid)));
    if (own.length > 1) found.doubled.push(tip.uid);
    if (tip.status === 'accepted' && own.length === 0) found.missing.push(tip.uid);
    if (tip.status === 'accepted' && own.some(({ start }) => start !== tip.start)) found.wrong.push(tip.uid);
    if (tip.status === 'cancelled' && own.length > 0) found.wrong.push(tip.uid);
  }
  return found;
}

describe('bookings reconcile (rules/bookings#reconciling, rules/providers#calcom-api; B1, B2)', () => {
  it(
    `finds what was lost of ${eventCount} events: none missing, none doubled, nothing stale, and once more nothing`,
    async () => {
      const happened = live(eventCount);
      const kept = happened.filter(() => random() >= 0.05);
      expect(kept.length).toBeLessThan(happened.length);
      await deliver(kept);
      await settled(kept.length);
      const before = await compare();
      expect(before.missing.length + before.wrong.length).toBeGreaterThan(0);
      const counted = await reconcile({ dry_run: true });
      expect(counted).toMatchObject({
        dry_run: true,
        fed: 0,
        listed: calCom.bookings.size,
        without_person: 0,
        without_journey: 0,
      });
      expect(counted.missing).toBe(counted.created + counted.rescheduled + counted.cancelled);
      expect(await compare()).toEqual(before);

      calCom.limitEvery(2);
      calCom.fail({ kind: 'status', status: 502 }, { kind: 'dropped' }, { kind: 'nonsense' });
      const result = await reconcile();
      calCom.limitEvery(0);
      expect(calCom.limited).toBeGreaterThan(0);
      expect(result).toMatchObject({ missing: counted.missing, fed: counted.missing });
      await settled(kept.length + result.fed);
      expect(await compare()).toEqual({ missing: [], doubled: [], wrong: [] });
      const fed = await fixture.env.sql<{ outcome: string }>(
        `select outcome from conversations.webhook_receipts where headers ? 'x-reconciled-from'`,
      );
      expect(fed).toHaveLength(result.fed);
      expect(fed.filter(({ outcome }) => outcome !== 'applied' && outcome !== 'stale')).toEqual([]);
      expect(await reconcile()).toMatchObject({ missing: 0, fed: 0 });

      // A lost webhook may also arrive late; then it has no further effect.
      const lost = happened.filter((event) => !kept.includes(event));
      await deliver(lost);
      await settled(kept.length + result.fed + lost.length);
      expect(await compare()).toEqual({ missing: [], doubled: [], wrong: [] });
      // The work per event depends only on the event's own booking, however many bookings exist.
      const [looked] = await fixture.env.sql<{ entries: string }>(
        `select idx_tup_read as entries from pg_stat_user_indexes where indexrelname = 'booking_identifiers_pkey'`,
      );
      expect(Number(looked?.entries)).toBeLessThan(eventCount * 20);
    },
    1_200_000 + eventCount * 400,
  );

  it('recreates a chain of reschedules whose webhooks were lost, even if the list omits some of its bookings', async () => {
    const at = Date.UTC(2032, 0, 1);
    const first = book(at);
    await deliver([{ trigger: 'BOOKING_CREATED', at, uid: first.uid }]);
    await waitFor(async () => ((await compare()).missing.length === 0 ? true : undefined), {
      what: 'the first of the chain',
    });
    const second = book(at + minute, first);
    const third = book(at + 2 * minute, second);
    const fourth = book(at + 3 * minute, third);
    const result = await reconcile({ since: fourth.createdAt });
    expect(calCom.served).toContain(`/v2/bookings/${second.uid}`);
    expect(result).toMatchObject({ listed: 2, missing: 1, rescheduled: 1 });
    await waitFor(async () => ((await compare()).wrong.length === 0 ? true : undefined), { what: 'the move' });
    expect(await compare()).toEqual({ missing: [], doubled: [], wrong: [] });
  });

  it('submits no bookings without a journey or with an unknown host, and counts them', async () => {
    const at = Date.UTC(2033, 0, 1);
    Object.assign(book(at), { meetingUrl: 'https://meet.example.org/dentist', location: 'integrations:daily' });
    Object.assign(book(at), { hosts: [{ name: 'Zed', email: 'zed@example.org' }] });
    Object.assign(book(at), { status: 'pending' });
    const before = await compare();
    const since = new Date(at).toISOString();
    expect(await reconcile({ since })).toMatchObject({
      listed: 2,
      missing: 0,
      fed: 0,
      without_person: 1,
      without_journey: 1,
    });
    expect(await compare()).toEqual(before);
    expect((await fixture.call(listWebhooks, { outcome: 'journey_error', limit: 10 })).items).toEqual([]);
    calCom.bookings.clear();
  });

  it.each([{ start: 'junk' }, { end: '' }])(
    'submits a booking with the unreadable time %j, which is rejected (D82)',
    async (times) => {
      const at = Date.UTC(2033, 6, 1);
      const countRefused = async () =>
        (await fixture.call(listWebhooks, { outcome: 'refused_times', limit: 100 })).items.length;
      const before = await countRefused();
      const { uid } = Object.assign(book(at), times);
      expect(await reconcile({ since: new Date(at).toISOString() })).toMatchObject({ listed: 1, missing: 1, fed: 1 });
      await waitFor(async () => (await countRefused()) === before + 1);
      expect(
        await fixture.env.sql(`select from conversations.conversations where config #>> '{booking,uid}' = $1`, [uid]),
      ).toEqual([]);
      calCom.bookings.clear();
    },
  );

  it.each([{}, { seatUid: 'seat' }])(
    'finds a reschedule without a new uid once, for attendees with %j',
    async (seat) => {
      const at = Date.UTC(2033, 9, 1);
      const booking = book(at);
      await deliver([{ trigger: 'BOOKING_CREATED', at, uid: booking.uid }]);
      await waitFor(async () => ((await compare()).missing.length === 0 ? true : undefined));
      const attendees = booking.attendees.map((item) => ({ ...item, ...seat }));
      const [start, end] = [booking.start, booking.end].map((time) =>
        new Date(Date.parse(time) + 60 * minute).toISOString(),
      );
      const since = new Date(at).toISOString();
      expect(await reconcile({ since })).toMatchObject({ missing: 0 });
      Object.assign(booking, { start, end, attendees, updatedAt: new Date(at + 5 * minute).toISOString() });
      expect(await reconcile({ since })).toMatchObject({ missing: 1, rescheduled: 1, fed: 1 });
      await waitFor(async () => ((await compare()).wrong.length === 0 ? true : undefined));
      expect(await reconcile({ since })).toMatchObject({ missing: 0, fed: 0 });
      calCom.bookings.clear();
    },
  );

  it('finds missing attendees and, in bookings with seats, cancelled seats once (B2; D78)', async () => {
    const at = Date.UTC(2034, 0, 1);
    const guest = (name: string, seatUid?: string) => ({
      name,
      email: `${name}@example.org`,
      ...(seatUid === undefined ? {} : { seatUid }),
    });
    const [seats, plain] = [book(at), book(at)];
    const send = (
      triggerEvent: string,
      booking: CalComBooking,
      minutes: number,
      attendees: object[],
      more: object = {},
    ) => {
      const { uid, start: startTime, end: endTime, meetingUrl: videoCallUrl } = booking;
      const payload = { uid, startTime, endTime, attendees, metadata: { videoCallUrl }, ...more };
      return deliverBody({ triggerEvent, createdAt: new Date(at + minutes * minute).toISOString(), payload });
    };
    const who = async ({ uid }: CalComBooking) =>
      (
        await fixture.env.sql<{ names: string }>(
          `select string_agg(p.name, ' ' order by p.name) as names from conversations.conversations c join directory.people p on p.id = any(c.participant_ids)
         where c.config #>> '{booking,uid}' = $1`,
          [uid],
        )
      )[0]?.names;
    await send('BOOKING_CREATED', seats, 0, [guest('stays')], { seatsPerTimeSlot: 5 });
    await send('BOOKING_CREATED', seats, 1, [guest('left')], { seatsPerTimeSlot: 5 });
    await send('BOOKING_CREATED', plain, 0, [guest('known')]);
    await waitFor(async () => (await who(seats)) === 'Ada left stays' && (await who(plain)) === 'Ada known');
    const updatedAt = new Date(at + 9 * minute).toISOString();
    Object.assign(seats, { attendees: [guest('stays', 's1'), guest('missed', 's2')], updatedAt });
    Object.assign(plain, { attendees: [guest('known'), guest('added')], updatedAt });
    const since = new Date(at).toISOString();
    expect(await reconcile({ since, dry_run: true })).toMatchObject({
      listed: 2,
      missing: 2,
      attendees: 2,
      created: 0,
      fed: 0,
    });
    expect(await reconcile({ since })).toMatchObject({ missing: 2, fed: 2 });
    await waitFor(async () => (await who(seats)) === 'Ada missed stays' && (await who(plain)) === 'Ada added known');
    expect(await reconcile({ since })).toMatchObject({ missing: 0, fed: 0 });
    // Returns the number of late receipts that were recorded as obsolete.
    const countStale = async () => (await fixture.call(listWebhooks, { outcome: 'stale', limit: 200 })).items.length;
    const before = await countStale();
    await send('BOOKING_CREATED', seats, 2, [guest('left')], { seatsPerTimeSlot: 5 });
    await waitFor(async () => (await countStale()) === before + 1);
    expect(await who(seats)).toBe('Ada missed stays');
    calCom.bookings.clear();
  });

  it('requests the other occurrences of a series when one is cancelled (D81)', async () => {
    const at = Date.UTC(2035, 0, 1);
    const all = [book(at), book(at), book(at), book(at)];
    for (const booking of all) Object.assign(booking, { recurringBookingUid: 'series-of-four' });
    await deliver(all.map(({ uid }) => ({ trigger: 'BOOKING_CREATED', at, uid })));
    const left = async () =>
      (
        await fixture.env.sql<{ uid: string }>(
          `select config #>> '{booking,uid}' as uid from conversations.conversations where config #>> '{booking,uid}' = any($1)`,
          [all.map(({ uid }) => uid)],
        )
      )
        .map(({ uid }) => all.findIndex((booking) => booking.uid === uid))
        .toSorted((one, other) => one - other);
    await waitFor(async () => (await left()).length === 4);
    const [, second, third] = all as [CalComBooking, CalComBooking, CalComBooking, CalComBooking];
    for (const booking of [second, third]) cancel(booking, at + minute);
    const { uid, start: startTime, end: endTime } = second;
    const payload = { uid, startTime, endTime, recurringEvent: { freq: 2, count: 4, interval: 1 }, attendees: [] };
    await deliverBody({ triggerEvent: 'BOOKING_CANCELLED', createdAt: new Date(at + minute).toISOString(), payload });
    await waitFor(async () => (await left()).join() === '0,3');
    calCom.bookings.clear();
  });

  it('fails without a retry when Cal.com rejects the API key, and stores an error without the key', async () => {
    calCom.fail({ kind: 'status', status: 401 });
    await expect(reconcile()).rejects.toThrow('CALCOM_API_KEY');
    const [row] = await fixture.env.sql<{ error: string }>(
      `select error from conversations.jobs where type = 'conversations.booking-reconcile' and state = 'dead'`,
    );
    expect(row?.error).not.toContain(calCom.apiKey);
  });

  it('does not follow redirects of Cal.com, neither to the internal network nor to Cal.com (architecture#outgoing-calls)', async () => {
    const inner = await startInnerServer();
    for (const location of [`http://127.0.0.1:${inner.port}/v2/bookings`, `${calCom.baseUrl}/bookings`]) {
      const served = calCom.served.length;
      calCom.fail({ kind: 'redirect', location });
      await expect(reconcile()).rejects.toThrow('Cal.com rejected the request with 307.');
      expect([inner.seen, calCom.served.length]).toEqual([[], served]);
    }
    await inner.stop();
  });

  it('compares all bookings automatically once a day', async () => {
    const [row] = await fixture.env.sql<{ count: string }>(
      `select count(*) from conversations.jobs where type = 'conversations.booking-reconcile' and payload -> 'daily' = 'true'`,
    );
    expect(Number(row?.count)).toBe(1);
  });

  it('rejects bookings reconcile without a configured API key', async () => {
    await fixture.restart({ CALCOM_API_KEY: '' });
    expect(await fixture.refusal(reconcileBookings, { dry_run: true })).toMatchObject({
      code: 'conflict',
      reason: 'not_configured',
    });
  });
});
