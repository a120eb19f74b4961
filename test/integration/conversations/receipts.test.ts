import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestOf } from '#libs/infrastructure/contract';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { signBooking } from '#libs/product/testing';
import { maxRefusalsPerHour, sweepReceipts } from '#libs/product/webhooks';
import { conversations } from '#services/conversations';
import { dropOldBodies } from '../../../services/conversations/receipts/statements.ts';
import {
  attendee,
  createBookingSimulator,
  createChain,
  eventually,
  type BookingSimulator,
} from './booking-simulator.ts';
import { startConversationFixture, waitFor, type ConversationFixture } from './fixture.ts';

const digestOf = (body: string) => createHash('sha256').update(body).digest('hex');

let fixture: ConversationFixture;
let simulator: BookingSimulator;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
  simulator = createBookingSimulator(fixture);
});
afterAll(() => fixture.stop());

const replay = (id: number) => fixture.call(conversations.rpcs.replayWebhooks, { ids: [id], limit: 1 });

describe('webhook receipts (D20, D33d)', () => {
  it('stores and applies a repeated webhook once', async () => {
    const chain = createChain();
    const receipt = await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    await simulator.deliver(chain.envelope('BOOKING_CREATED', 0));
    await waitFor(
      async () => (await fixture.call(conversations.rpcs.showWebhook, { id: receipt.id })).deliveries === 2,
    );
    const [conversation, ...others] = await simulator.booked(chain);
    expect(others).toEqual([]);
    expect(await fixture.notes(conversation?.id ?? 0)).toHaveLength(1);
  });

  it.each([
    ['a test ping', { triggerEvent: 'PING', payload: { type: 'Test', title: 'Test' } }, 'ignored'],
    ['an event that is not acted on', { triggerEvent: 'BOOKING_PAID', payload: {} }, 'ignored'],
    ['no triggerEvent', { payload: {} }, 'ignored'],
    [
      'no identifier',
      { triggerEvent: 'BOOKING_CREATED', payload: { title: 'x', uid: '', bookingId: null } },
      'rejected_unidentified',
    ],
  ])('stores a webhook with %s, with its outcome', async (_what, envelope, outcome) => {
    expect(await simulator.settle({ ...envelope, marker: randomUUID() })).toMatchObject({ outcome });
  });

  it.each([
    ['no JSON', '{"triggerEvent":'],
    ['no object', '["BOOKING_CREATED"]'],
    ['too deep', `{"triggerEvent":"BOOKING_CREATED","payload":${'['.repeat(100)}${']'.repeat(100)}}`],
  ])('stores the body of an unreadable webhook for replay: %s (D68)', async (_what, body) => {
    const receipt = await simulator.settle(undefined, { body, person: `${fixture.personId('ada')}` });
    expect(receipt).toMatchObject({
      outcome: 'rejected_unreadable',
      body_size: body.length,
      body_digest: digestOf(body),
    });
    await replay(receipt.id);
    const replayed = await waitFor(async () => {
      const shown = await fixture.call(conversations.rpcs.showWebhook, { id: receipt.id });
      return shown.processed_at === receipt.processed_at ? undefined : shown;
    });
    const stored = expect.stringContaining(body.slice(0, 40)); // values beyond the depth limit are redacted
    expect(replayed).toMatchObject({ outcome: 'rejected_unreadable', body: stored });
  });

  it('applies a booking with characters that PostgreSQL cannot store, and returns the received body unchanged (rules/webhooks#text; D106)', async () => {
    const chain = createChain();
    const notes = { value: 'x\u0000\ud83d' };
    const fields = { responses: { notes }, title: 'A\ntalk', attendees: [attendee('Zo\u00eb')] };
    const envelope = chain.envelope('BOOKING_CREATED', 0, fields);
    const body = Buffer.from(`\ufeff${JSON.stringify(envelope)}`, 'utf16le');
    const receipt = await simulator.settle(undefined, { body });
    expect(receipt).toMatchObject({ outcome: 'applied' });
    const [booked] = await simulator.booked(chain);
    expect(JSON.stringify(booked)).toContain('A talk');
    const shown = await fixture.call(conversations.rpcs.showWebhook, { id: receipt.id });
    expect(JSON.parse(shown.body ?? '')).toEqual(envelope);
  });

  it.each([
    [
      'of more than 64 KiB',
      `{"triggerEvent":"BOOKING_CREATED","payload":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    ],
    ['of nothing', ''],
  ])('stores no body for an unreadable webhook %s', async (_what, body) => {
    const receipt = await simulator.settle(undefined, { body, person: `${fixture.personId('ada')}` });
    expect(receipt).toMatchObject({
      outcome: 'rejected_unreadable',
      body_size: body.length,
      body_digest: digestOf(body),
    });
    expect(await fixture.call(conversations.rpcs.showWebhook, { id: receipt.id })).toMatchObject({ body: null });
    expect(await replay(receipt.id)).toMatchObject({ selected: 1, changed: 0, without_body: 1 });
  });

  it.each([
    [
      'rejected_signature',
      { triggerEvent: 'BOOKING_CREATED', payload: { uid: 'x' } },
      { 'x-cal-signature-256': 'f'.repeat(64) },
    ],
    ['rejected_unidentified', { triggerEvent: 'BOOKING_CREATED', payload: { title: 'x' } }, undefined],
    ['ignored', { triggerEvent: 'BOOKING_PAID', payload: {} }, undefined],
  ])(
    'stores digest, size and headers of webhooks with the outcome %s, never the body (D68)',
    async (outcome, envelope, headers) => {
      const body = JSON.stringify({ ...envelope, marker: randomUUID() });
      const receipt = await simulator.settle(undefined, { body, ...(headers === undefined ? {} : { headers }) });
      const { body: kept, ...shown } = await fixture.call(conversations.rpcs.showWebhook, { id: receipt.id });
      expect(shown).toMatchObject({
        outcome,
        body_size: body.length,
        body_digest: digestOf(body),
        headers: { 'x-cal-signature-256': '[redacted]' },
      });
      expect(kept).toBeNull();
      expect(await replay(receipt.id)).toMatchObject({ selected: 1, changed: 0, without_body: 1 });
    },
  );

  it('records a webhook over the size limit as rejected, without the body', async () => {
    expect(await simulator.settle(undefined, { body: null })).toMatchObject({ outcome: 'rejected_too_large' });
  });

  it.each(['999999', 'abc', '0', '-1', '99999999999999999999', '../1', ''])(
    'creates no conversation for a webhook with "%s" as the person in the path',
    async (person) => {
      const chain = createChain();
      expect(await simulator.settle(chain.envelope('BOOKING_CREATED', 0), { person })).toMatchObject({
        outcome: 'person_not_found',
        person_id: /^[1-9]\d{0,8}$/.test(person) ? Number(person) : null,
      });
      expect(await simulator.booked(chain)).toEqual([]);
    },
  );

  it('applies a replayed receipt that failed before, and does not apply an applied one again', async () => {
    const chain = createChain();
    const envelope = chain.envelope('BOOKING_CREATED', 0, {
      metadata: { videoCallUrl: 'https://meet.example.org/later-journey' },
    });
    const receipt = await simulator.settle(envelope);
    expect(receipt.outcome).toBe('journey_error');
    await fixture.apply({
      journeys: [
        {
          slug: 'later-journey',
          name: 'Later',
          svc_app: 'coherence',
          object_kind: 'holon',
          is_conversation: true,
          steps: [],
        },
      ],
    });
    await replay(receipt.id);
    await waitFor(async () => (await simulator.booked(chain)).length === 1);
    await replay(receipt.id);
    await waitFor(
      async () =>
        (await fixture.call(conversations.rpcs.showWebhook, { id: receipt.id })).message === 'Nothing to change.',
    );
    const [conversation, ...others] = await simulator.booked(chain);
    expect(others).toEqual([]);
    expect(await fixture.notes(conversation?.id ?? 0)).toHaveLength(1);
  });

  it('replays receipts by filter, oldest first, up to the limit; a dry run only counts them', async () => {
    const journey = { metadata: { videoCallUrl: 'https://meet.example.org/latest-journey' } };
    const chains = [createChain(), createChain(), createChain()];
    const receipts = [];
    for (const chain of chains) receipts.push(await simulator.settle(chain.envelope('BOOKING_CREATED', 0, journey)));
    const since = receipts[0]?.received_at ?? '';
    const rejected = await simulator.settle({
      triggerEvent: 'BOOKING_CREATED',
      payload: { title: 'x' },
      marker: randomUUID(),
    });
    await fixture.apply({
      journeys: [
        {
          slug: 'latest-journey',
          name: 'Latest',
          svc_app: 'coherence',
          object_kind: 'holon',
          is_conversation: true,
          steps: [],
        },
      ],
    });
    const replayMany = async (filter: Partial<RequestOf<typeof conversations.rpcs.replayWebhooks>>) => {
      const request = { limit: 1_000, from: since, ...filter };
      const {
        items: _items,
        job_ids: jobs,
        ...counts
      } = await fixture.call(conversations.rpcs.replayWebhooks, request);
      return { ...counts, jobs: jobs.length };
    };
    const booked = async () =>
      (await Promise.all(chains.map((chain) => simulator.booked(chain)))).map(({ length }) => length);

    const none = { failed: 0, without_body: 0, nothing_left: 0, no_agent: 0, more: false };
    const all = { ...none, selected: 3, matched: 3, changed: 0, jobs: 0 };
    expect(await replayMany({ outcome: 'journey_error', dry_run: true })).toEqual(all);
    expect(await replayMany({ dry_run: true })).toEqual({ ...all, selected: 4, without_body: 1 });
    expect(await replayMany({ kind: 'meeting' })).toMatchObject({ selected: 0, changed: 0 });
    expect(await replayMany({ to: since })).toMatchObject({ selected: 0 });
    expect(await booked()).toEqual([0, 0, 0]);

    expect(await replayMany({ outcome: 'journey_error', kind: 'booking', limit: 2 })).toEqual({
      ...none,
      selected: 2,
      matched: 2,
      changed: 2,
      jobs: 2,
      more: true,
    });
    await waitFor(async () => (await booked()).join() === '1,1,0');
    expect(await replayMany({ outcome: 'rejected_unidentified' })).toMatchObject({
      selected: 1,
      changed: 0,
      without_body: 1,
    });
    expect((await fixture.call(conversations.rpcs.showWebhook, { id: rejected.id })).processed_at).toBe(
      rejected.processed_at,
    );
    expect((await fixture.refusal(conversations.rpcs.replayWebhooks, { limit: 10_001, dry_run: true })).code).toBe(
      'bad_request',
    );
  });

  it('lists webhook receipts by kind and time', async () => {
    const list = async (request: Partial<RequestOf<typeof conversations.rpcs.listWebhooks>>) =>
      (await fixture.call(conversations.rpcs.listWebhooks, { limit: 10, ...request })).items;
    const [newest, next] = await list({ limit: 2 });
    expect(await list({ to: newest?.received_at ?? '', limit: 1 })).toEqual([next]);
    expect(await list({ from: newest?.received_at ?? '' })).toEqual([newest]);
    expect(await list({ kind: 'meeting' })).toEqual([]);
  });

  it('reports a webhook receipt that does not exist', async () => {
    expect(await fixture.refusal(conversations.rpcs.showWebhook, { id: 999_999 })).toMatchObject({ code: 'not_found' });
    expect(await replay(999_999)).toMatchObject({ selected: 0, failed: 1 });
  });
});

describe('X-Cal-Signature-256 with a configured secret (D19)', () => {
  let signed: ConversationFixture;
  let counter: BookingSimulator;
  beforeAll(async () => {
    signed = await startConversationFixture(import.meta.url, {
      BOOKING_WEBHOOK_SECRET: 'secret',
      BOOKING_CREATE_ATTENDEES: 'false',
    });
    counter = createBookingSimulator(signed);
  });
  afterAll(() => signed.stop());

  it('accepts signed webhooks, rejects others, and accepts a rejected body that is sent again with a valid signature', async () => {
    const chain = createChain();
    const envelope = chain.envelope('BOOKING_CREATED', 0);
    const good = signBooking(JSON.stringify(envelope), 'secret');
    const forged = good['x-cal-signature-256'].replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
    for (const headers of [{}, { 'x-cal-signature-256': 'no-secret-provided' }, { 'x-cal-signature-256': forged }]) {
      await counter.deliver(envelope, { headers });
    }
    await eventually(async () => {
      const { items } = await signed.call(conversations.rpcs.listWebhooks, {
        outcome: 'rejected_signature',
        limit: 10,
      });
      expect(items).toMatchObject([{ deliveries: 3, conversation_id: null }]);
    });
    expect(await counter.booked(chain)).toEqual([]);
    expect(await counter.settle(envelope, { headers: good })).toMatchObject({ outcome: 'applied' });
    expect(await counter.booked(chain)).toHaveLength(1);
  });

  it('ignores unknown attendees when their creation is disabled', async () => {
    const chain = createChain();
    const envelope = chain.envelope('BOOKING_CREATED', 0, { attendees: [attendee('Ben'), attendee('Stranger')] });
    await counter.settle(envelope, { headers: signBooking(JSON.stringify(envelope), 'secret') });
    const [conversation] = await counter.booked(chain);
    expect(conversation?.participants.map((person) => person.name)).toEqual(['Ada', 'Ben']);
  });
});

describe('rotation of the webhook secret (K8)', () => {
  let rotated: ConversationFixture;
  let counter: BookingSimulator;
  beforeAll(async () => {
    rotated = await startConversationFixture(import.meta.url, { BOOKING_WEBHOOK_SECRET: 'old' });
    counter = createBookingSimulator(rotated);
  });
  afterAll(() => rotated.stop());

  const later = { metadata: { videoCallUrl: 'https://meet.example.org/journey-of-later' } };
  const signWith = (secret: string, envelope: unknown) => ({ headers: signBooking(JSON.stringify(envelope), secret) });
  const outcomeOf = async (id: number) => (await rotated.call(conversations.rpcs.showWebhook, { id })).outcome;

  it('processes and replays webhooks whose secret was removed after their receipt', async () => {
    const [early, waiting] = [createChain(), createChain()];
    const envelope = early.envelope('BOOKING_CREATED', 0, later);
    const receipt = await counter.settle(envelope, signWith('old', envelope));
    expect(receipt.outcome).toBe('journey_error');
    const cancellation = waiting.envelope('BOOKING_CANCELLED', 0);
    const cancelled = await counter.settle(cancellation, signWith('old', cancellation));
    expect(cancelled.outcome).toBe('waiting');
    await rotated.restart({ BOOKING_WEBHOOK_SECRET: ' new\n' });

    await rotated.apply({
      journeys: [
        {
          slug: 'journey-of-later',
          name: 'Later',
          svc_app: 'coherence',
          object_kind: 'holon',
          is_conversation: true,
          steps: [],
        },
      ],
    });
    await rotated.call(conversations.rpcs.replayWebhooks, { ids: [receipt.id], limit: 1 });
    await waitFor(async () => (await outcomeOf(receipt.id)) === 'applied');
    expect(await counter.booked(early)).toHaveLength(1);
    const created = waiting.envelope('BOOKING_CREATED', 0);
    await counter.deliver(created, signWith('new', created));
    await waitFor(async () => (await outcomeOf(cancelled.id)) === 'applied');
  });

  it('rejects new webhooks with the old secret, and checks the signature of a replayed receipt of an older release', async () => {
    const envelope = createChain().envelope('BOOKING_CREATED', 0);
    expect(await counter.settle(envelope, signWith('old', envelope))).toMatchObject({ outcome: 'rejected_signature' });
    const before = createChain().envelope('BOOKING_CREATED', 0, { metadata: {} });
    const { id } = await counter.settle(before, signWith('new', before));
    await rotated.env.sql(`update conversations.webhook_receipts set was_signed = false, headers = $2 where id = $1`, [
      id,
      JSON.stringify(signBooking(JSON.stringify(before), 'old')),
    ]);
    await rotated.call(conversations.rpcs.replayWebhooks, { ids: [id], limit: 1 });
    await waitFor(async () => (await outcomeOf(id)) === 'rejected_signature');
  });

  it('applies a repeated webhook with its latest signature', async () => {
    const envelope = createChain().envelope('BOOKING_CREATED', 0, { metadata: {} });
    const { id } = await counter.settle(envelope, signWith('new', envelope));
    await rotated.env.sql(
      `update conversations.webhook_receipts set was_signed = false, headers = '{}' where id = $1`,
      [id],
    );
    await counter.deliver(envelope, signWith('new', envelope));
    await waitFor(async () => {
      const [row] = await rotated.env.sql<{ ok: boolean }>(
        `select was_signed and deliveries = 2 and outcome = 'journey_error' as ok from conversations.webhook_receipts where id = $1`,
        [id],
      );
      return row?.ok;
    });
  });
});

describe('retention of webhook receipts (D68)', () => {
  let db: Database;
  beforeAll(async () => {
    const { DATABASE_URL: url = '' } = fixture.env.settings;
    db = await createDatabase({
      url,
      schema: 'conversations',
      poolSize: 1,
      logger: fixture.env.logger,
      applicationName: 'retention',
    });
  });
  afterAll(() => db.close());

  const sweep = (days: number) => sweepReceipts({ db, dropContents: dropOldBodies, days });
  const age = (ids: readonly number[], days: number) =>
    fixture.env.sql(
      `update conversations.webhook_receipts set received_at = clock_timestamp() - make_interval(days => $2, mins => 1) where id = any($1)`,
      [ids, days],
    );

  it('removes webhook bodies, and receipts of rejected or ignored webhooks, after their retention days and not before', async () => {
    const chain = createChain();
    const envelope = chain.envelope('BOOKING_CREATED', 0, { metadata: {} });
    const failed = await simulator.settle(envelope);
    const rejected = await simulator.settle(undefined, { body: randomUUID() });
    await age([failed.id, rejected.id], 89);
    await sweep(90);
    expect(await fixture.call(conversations.rpcs.showWebhook, { id: failed.id })).toMatchObject({
      body: JSON.stringify(envelope),
    });
    await age([failed.id, rejected.id], 90);
    expect(await sweep(90)).toEqual({ rows: 1, bodies: 1 });
    expect(await fixture.refusal(conversations.rpcs.showWebhook, { id: rejected.id })).toMatchObject({
      code: 'not_found',
    });
    expect(await fixture.call(conversations.rpcs.showWebhook, { id: failed.id })).toMatchObject({
      outcome: 'journey_error',
      body: null,
    });
    expect(await replay(failed.id)).toMatchObject({ selected: 1, changed: 0, without_body: 1 });
  });

  it('processes a repeated webhook whose stored body was removed', async () => {
    const chain = createChain();
    const envelope = chain.envelope('BOOKING_CREATED', 0, {
      metadata: { videoCallUrl: 'https://meet.example.org/late-journey' },
    });
    const { id } = await simulator.settle(envelope);
    await age([id], 90);
    await sweep(90);
    await fixture.apply({
      journeys: [
        {
          slug: 'late-journey',
          name: 'Late',
          svc_app: 'coherence',
          object_kind: 'holon',
          is_conversation: true,
          steps: [],
        },
      ],
    });
    await simulator.deliver(envelope);
    await waitFor(async () => (await simulator.booked(chain)).length === 1);
    expect(await fixture.call(conversations.rpcs.showWebhook, { id })).toMatchObject({
      outcome: 'applied',
      deliveries: 2,
    });
  });

  it('removes more expired receipts than fit in one batch', async () => {
    await fixture.env.sql(
      `insert into conversations.webhook_receipts (dedupe_key, delivery_id, received_at, person_id, headers, outcome)
       select 'old-' || n, 'old', clock_timestamp() - interval '100 days', '1', '{}', 'rejected_unsigned' from generate_series(1, 1234) n`,
    );
    expect(await sweep(90)).toMatchObject({ rows: 1_234 });
  });
});

describe('a flood of rejected webhooks (D68)', () => {
  it('stores a limited number of receipts of rejected webhooks, one of which counts the rest, without using up ids', async () => {
    const last = async () =>
      (await fixture.env.sql<{ n: number }>(`select last_value as n from conversations.webhook_receipts_id_seq`))[0]
        ?.n ?? 0;
    const before = await last();
    const hour = () => Math.floor(Date.now() / 3_600_000);
    const began = hour();
    const most = () => (maxRefusalsPerHour + 1) * (hour() - began + 1);
    const headers = { 'x-cal-signature-256': 'a'.repeat(64) };
    const posts = 2 * maxRefusalsPerHour;
    for (let n = 0; n < posts; n++) await simulator.deliver(undefined, { body: `flood ${n}`, headers });
    await eventually(async () => {
      const [sum] = await fixture.env.sql<{ rows: number; deliveries: number }>(
        `select count(*)::integer as rows, sum(deliveries)::integer as deliveries from conversations.webhook_receipts where id > $1`,
        [before],
      );
      expect(sum?.deliveries).toBe(posts);
      expect(sum?.rows).toBeLessThanOrEqual(most());
    });
    const sideBySide = 16; // Receipts that are processed concurrently can consume a sequence number without using it.
    expect((await last()) - before).toBeLessThanOrEqual(most() + sideBySide);
    const { items } = await fixture.call(conversations.rpcs.listWebhooks, {
      outcome: 'rejected_signature',
      limit: 200,
    });
    const common = items.filter(({ deliveries }) => deliveries > 1);
    expect(common.map(({ message }) => message)).toContainEqual(expect.stringContaining('these are only counted'));
  });
});

describe('conversations.bookings.hint (rules/bookings#booking-webhook; D19a)', () => {
  it.each([1, 0, -5, 999_999])('returns plain text for a GET of the webhook URL of person %d', async (id) => {
    const reply = await fixture.bus.callRaw(conversations.rpcs.bookingHint, { person_id: id }, { requestId: 'test' });
    expect(reply.kind === 'bytes' && Buffer.from(reply.bytes).toString()).toMatch(/webhook/i);
  });
});
