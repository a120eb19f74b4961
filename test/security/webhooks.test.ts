/**
 * Any client that knows the address of a hook can post to it: unauthenticated content is neither applied nor stored
 * (D64 to D66, D68; OWASP API2, API4).
 */
import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/infrastructure/logger';
import { connectBus } from '#libs/infrastructure/nats';
import { agents } from '#services/agents';
import { applyDemo, createConversation, eventually, type Demo, type TestPlatform } from '../e2e/test-platform.ts';
import { startTarget } from './attacker.ts';

const services = ['api-gateway', 'conversations', 'directory'];
const secret = 'a-secret-that-nobody-guesses';

interface Place {
  readonly platform: TestPlatform;
  readonly demo: Demo;
}

async function open(tag: string, settings: Record<string, string>): Promise<Place> {
  const platform = await startTarget(`${import.meta.url}?${tag}`, settings, { services });
  return { platform, demo: await applyDemo(platform, tag) };
}

const booking = (triggerEvent: string, payload: object): string =>
  JSON.stringify({ triggerEvent, createdAt: new Date().toISOString(), payload });
const sign = (body: string): Record<string, string> => ({
  'x-cal-signature-256': createHmac('sha256', secret).update(body).digest('hex'),
});

async function post({ platform, demo }: Place, body: string, headers: Record<string, string> = {}): Promise<void> {
  const path = `/api/coherence/hook/booking/${demo.ada}`;
  const answer = await platform.call('POST', path, {
    token: null,
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  expect([answer.status, answer.json]).toEqual([200, { ok: true }]);
}

/** Waits until the receipts contain this many deliveries and returns their outcomes. */
async function settled({ platform }: Place, deliveries: number): Promise<{ outcome: string; deliveries: number }[]> {
  let rows: { outcome: string; deliveries: number }[] = [];
  await eventually(async () => {
    rows = await platform.sql('select outcome, deliveries from conversations.webhook_receipts order by id');
    expect(rows.reduce((sum, row) => sum + row.deliveries, 0)).toBe(deliveries);
    expect(rows.map(({ outcome }) => outcome)).not.toContain('pending');
  });
  return rows;
}

const exists = async ({ platform }: Place, id: number): Promise<boolean> =>
  (await platform.call('GET', `/api/coherence/conversations/${id}`)).status === 200;
const countPeople = async ({ platform }: Place): Promise<number> =>
  (await platform.sql<{ n: number }>('select count(*)::integer as n from directory.people'))[0]?.n ?? 0;

/** Creates a conversation of an earlier booking whose Cal.com number can be guessed. */
async function book({ platform, demo }: Place, number: number, uid: string): Promise<number> {
  const { id } = await createConversation(platform, demo, '2031-01-01T10:00:00Z');
  // The conversation gets an end, so that it does not match the next booking.
  await platform.sql(`update conversations.conversations set finish_at = '2030-12-01' where id = $1`, [id]);
  await platform.sql(
    `with booking as (
       insert into conversations.bookings (conversation_id, attendee_key, last_event_at) values ($1, $3, '2026-01-01') returning id
     )
     insert into conversations.booking_identifiers (identifier, booking_id) select name, id from booking, unnest(array['id:' || $2, $3]) as name`,
    [id, String(number), `uid:${uid}`],
  );
  return id;
}

/** Counts clock hours from now on, because hourly limits reset at the full hour. */
function countHours(): () => number {
  const hour = () => Math.floor(Date.now() / 3_600_000);
  const first = hour();
  return () => hour() - first + 1;
}

const strangers = (count: number) =>
  Array.from({ length: count }, (_value, n) => ({ name: `Stranger ${n}`, email: `s${n}@example.net` }));

describe('an installation with hooks without a secret (D64)', () => {
  let place: Place;
  let delivered = 0;
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  beforeAll(async () => {
    const REALTIMEKIT_WEBHOOK_PUBLIC_KEY = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    place = await open('open', { BOOKING_WEBHOOK_SECRET: '', REALTIMEKIT_WEBHOOK_PUBLIC_KEY });
  });
  afterAll(() => place.platform.stop());

  it('keeps a conversation when an unsigned webhook contains its booking number', async () => {
    const id = await book(place, 501, 'unguessable');
    await post(place, booking('BOOKING_CANCELLED', { bookingId: 501 }));
    const rows = await settled(place, ++delivered);
    expect(await exists(place, id)).toBe(true);
    expect(rows).toMatchObject([{ outcome: 'rejected_unsigned' }]);
  });

  it('creates no person for an unsigned booking webhook with a thousand attendees', async () => {
    const before = await countPeople(place);
    const metadata = { videoCallUrl: `https://meet.example.org/${place.demo.journey}` };
    const body = booking('BOOKING_CREATED', { uid: 'crowd', attendees: strangers(1_000), metadata });
    await post(place, body);
    await post(place, body, { 'x-cal-signature-256': createHmac('sha256', '').update(body).digest('hex') });
    delivered += 2;
    await settled(place, delivered);
    expect(await countPeople(place)).toBe(before);
  });

  it('stores no bytes of 60 MB of anonymous webhook bodies', async () => {
    const noise = randomBytes(1_500_000).toString('base64');
    for (let n = 0; n < 15; n++) {
      await post(
        place,
        n % 2 === 0 ? `${n}${noise}${noise}` : booking('BOOKING_CREATED', { uid: `noise-${n}`, title: noise + noise }),
      );
      const headers = { 'rtk-uuid': `forged-${n}`, 'rtk-signature': randomBytes(256).toString('base64') };
      const meeting = { event: 'recording.statusUpdate', n, noise: n % 2 === 0 ? noise : '' };
      const forged = await place.platform.call('POST', '/api/hook/meetings', { token: null, json: meeting, headers });
      expect(forged.status).toBe(200);
    }
    delivered += 30;
    await settled(place, delivered);
    const [kept] = await place.platform.sql<{ bytes: number; rows: number; headers: number }>(
      `select coalesce(sum(length(body)), 0)::integer as bytes, max(length(headers::text)) as headers from conversations.webhook_receipts`,
    );
    expect(kept?.bytes).toBe(0);
    expect(kept?.headers).toBeLessThan(1_000);
  });

  it('stores a limited number of receipts for many small webhooks', async () => {
    const count = async () => (await place.platform.sql('select 1 from conversations.webhook_receipts')).length;
    const hours = countHours();
    const before = await count();
    const posts = 400;
    for (let n = 0; n < posts; n += 20)
      await Promise.all(Array.from({ length: 20 }, (_value, more) => post(place, `small ${n + more}`)));
    delivered += posts;
    await settled(place, delivered);
    expect((await count()) - before).toBeLessThanOrEqual(101 * hours());
  });
});

describe('a development platform that accepts unsigned webhooks (D64, D65, D66)', () => {
  let place: Place;
  let delivered = 0;
  beforeAll(async () => {
    place = await open('unsigned', { BOOKING_WEBHOOK_SECRET: '', ALLOW_UNSIGNED_WEBHOOKS: 'true' });
  });
  afterAll(() => place.platform.stop());

  it('does not cancel a booking when an unsigned webhook contains only its guessed number', async () => {
    const id = await book(place, 601, 'secret-601');
    await post(place, booking('BOOKING_CANCELLED', { bookingId: 601 }));
    await post(place, booking('BOOKING_CANCELLED', { bookingId: 601, uid: 'made-up' }));
    await post(place, booking('BOOKING_CANCELLED', { bookingId: 601, rescheduleUid: 'made-up-too' }));
    delivered += 3;
    await settled(place, delivered);
    expect(await exists(place, id)).toBe(true);
  });

  it('does not merge a conversation with another one whose booking uid an unsigned webhook contains', async () => {
    const [mine, theirs] = [await book(place, 701, 'mine'), await book(place, 702, 'theirs')];
    const read = () =>
      place.platform.sql('select to_jsonb(c) as row from conversations.conversations c where id = $1', [theirs]);
    const before = await read();
    await post(
      place,
      booking('BOOKING_RESCHEDULED', { uid: 'mine', bookingId: 702, startTime: '2031-03-01T10:00:00Z' }),
    );
    await post(place, booking('BOOKING_CANCELLED', { uid: 'mine', bookingId: 702 }));
    delivered += 2;
    await settled(place, delivered);
    expect([await exists(place, mine), await exists(place, theirs)]).toEqual([false, true]);
    expect(await read()).toEqual(before);
  });

  it('creates neither a person nor a conversation for an unsigned webhook with a thousand attendees', async () => {
    const metadata = { videoCallUrl: `https://meet.example.org/${place.demo.journey}` };
    const before = await countPeople(place);
    await post(place, booking('BOOKING_CREATED', { uid: 'crowd', attendees: strangers(1_000), metadata }));
    const rows = await settled(place, ++delivered);
    expect(rows.at(-1)).toMatchObject({ outcome: 'refused_too_many_attendees' });
    expect(await countPeople(place)).toBe(before);
    expect(
      await place.platform.sql(`select 1 from conversations.conversations where config #>> '{booking,uid}' = 'crowd'`),
    ).toEqual([]);
  });
});

describe('an installation with a webhook secret', () => {
  let place: Place;
  beforeAll(async () => {
    place = await open('signed', {
      BOOKING_WEBHOOK_SECRET: secret,
      ALLOW_UNSIGNED_WEBHOOKS: 'true',
      REALTIMEKIT_WEBHOOK_KEY_URL: 'http://127.0.0.1:9/the-provider-is-away',
    });
  });
  afterAll(() => place.platform.stop());

  it('applies only webhooks that the provider has signed', async () => {
    const id = await book(place, 801, 'signed');
    const body = booking('BOOKING_CANCELLED', { uid: 'signed' });
    await post(place, body);
    await post(place, body, { 'x-cal-signature-256': createHmac('sha256', 'guess').update(body).digest('hex') });
    expect(await settled(place, 2)).toMatchObject([{ outcome: 'rejected_signature' }]);
    expect(await exists(place, id)).toBe(true);
    await post(place, body, sign(body));
    await settled(place, 3);
    expect(await exists(place, id)).toBe(false);
  });

  it('stores only few and small bodies of meeting webhooks while the key of the provider cannot be read', async () => {
    const headers = (n: number) => ({
      'rtk-uuid': `unknown-${n}`,
      'rtk-signature': randomBytes(256).toString('base64'),
    });
    const hours = countHours();
    const forge = (n: number, noise: string) =>
      place.platform.call('POST', '/api/hook/meetings', { token: null, json: { n, noise }, headers: headers(n) });
    for (let n = 0; n < 10; n++) expect((await forge(n, 'x'.repeat(100_000))).status).toBe(200);
    for (let n = 10; n < 160; n++) expect((await forge(n, 'small')).status).toBe(200);
    await eventually(async () => {
      const [all] = await place.platform.sql<{ deliveries: number; bodies: number; longest: number; refused: number }>(
        `select sum(deliveries)::integer as deliveries, count(body)::integer as bodies, max(length(body)) as longest,
           (count(*) filter (where outcome = 'rejected_unverified'))::integer as refused
         from conversations.webhook_receipts where source = 'meeting'`,
      );
      expect(all?.deliveries).toBe(160);
      expect(all?.bodies).toBeLessThanOrEqual(100 * hours());
      expect(all?.longest).toBeLessThan(1_000);
      expect(all?.refused).toBeGreaterThanOrEqual(10);
    });
  });

  it('loses no booking webhook when webhooks of an unavailable service fill the stream', async () => {
    const { NATS_URL: url = '', NATS_SUBJECT_PREFIX: prefix } = place.platform.runtime.settings;
    const bus = await connectBus({
      url,
      name: 'operator',
      prefix,
      logger: createLogger({ service: 'test', level: 'silent' }),
    });
    const limit = 1_000_000;
    try {
      await bus.ensureStreams({ WEBHOOKS: limit });
      const noise = 'x'.repeat(90_000);
      const flood = (n: number) =>
        place.platform.call('POST', '/api/hook/agents/guide', { token: null, json: { update_id: n, noise } });
      for (let n = 0; n < 30; n++) expect((await flood(n)).status).toBe(200);
      const uids = Array.from({ length: 5 }, (_value, n) => `kept-${n}`);
      const metadata = { videoCallUrl: `https://meet.example.org/${place.demo.journey}` };
      for (const [n, uid] of uids.entries()) {
        const body = booking('BOOKING_CREATED', { uid, startTime: `2032-01-0${n + 1}T10:00:00Z`, metadata });
        await post(place, body, sign(body));
      }
      expect((await bus.streamSize('WEBHOOKS')).bytes).toBeLessThanOrEqual(limit);
      // The consumer of the stopped service processes its backlog.
      const worker = await bus.consume({ ...agents.consumers.updates, concurrency: 4 }, (delivery) =>
        Promise.resolve(delivery.ack()),
      );
      const booked = () =>
        place.platform.sql<{ uid: string }>(
          `select config #>> '{booking,uid}' as uid from conversations.conversations where config #>> '{booking,uid}' like 'kept-%' order by 1`,
        );
      await eventually(async () => expect((await booked()).map(({ uid }) => uid)).toEqual(uids), 60_000);
      await worker.stop();
    } finally {
      await bus.close();
    }
  });
});
