/**
 * Deliveries of events to webhook endpoints: signed, at least once, and only events that the owner can read
 * (rules/events#deliveries; V5 to V7, V10, V11).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  type ReceivedWebhook,
  startWebhookReceiver,
  conversationJourney,
  waitFor,
  type WebhookReceiver,
} from '#libs/product/testing';
import { type Answer, type Applied, startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let receiver: WebhookReceiver;
let ids: Applied['ids'];
const tokens: Record<string, string> = {};
const names = ['ann', 'ben', 'eve', 'root'];
const emailOf = (name: string): string => `${name}@example.org`;
const passwordOf = (name: string): string => `secret-of-${name}-1`;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  platform = await startTestPlatform(
    import.meta.url,
    { WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}`, CONVERSATION_ACCESS: 'members' },
    { services: ['api-gateway', 'directory', 'conversations', 'events'] },
  );
  ({ ids } = await platform.apply({
    classes: [{ slug: 'event', label: 'Event', conversation_event: true }],
    journeys: [conversationJourney('circle')],
    holons: [{ slug: 'spring', name: 'Spring', class: 'event', journeys: ['circle'] }],
    people: names.map((key) => ({ key, name: key })),
    accounts: names.map((name) => ({
      email: emailOf(name),
      person: name,
      password: passwordOf(name),
      superuser: name === 'root',
    })),
  }));
  for (const name of names) tokens[name] = await platform.login(emailOf(name), passwordOf(name));
});
afterAll(async () => {
  await receiver.stop(); // first, because stopping waits for deliveries to a hanging receiver
  await platform.stop();
});

const root = '/api/v1/webhook-endpoints';
const call = (method: string, path: string, json?: unknown, as = 'ann'): Promise<Answer> =>
  platform.call(method, `${root}${path}`, { token: tokens[as] ?? '', ...(json !== undefined && { json }) });

type Made = Readonly<{ id: number; path: string; secret: string }>;
let paths = 0;
async function create(as = 'ann', wish: Record<string, unknown> = {}): Promise<Made> {
  const path = `/${as}-${++paths}`;
  const { status, json, text } = await call('POST', '', { url: receiver.url(path), ...wish }, as);
  if (status !== 201) throw new Error(text);
  return { id: json.endpoint.id, path, secret: json.secret };
}
const end = (made: Made, as = 'ann'): Promise<Answer> => call('DELETE', `/${made.id}`, undefined, as);
const at = ({ path }: Made): ReceivedWebhook[] => receiver.received.filter((item) => item.path === path);
const arrived = (made: Made, count: number, timeoutMs?: number): Promise<ReceivedWebhook[]> =>
  waitFor(() => (at(made).length >= count ? at(made) : undefined), {
    what: `${count} at ${made.path}`,
    ...(timeoutMs && { timeoutMs }),
  });
const typesAt = (made: Made): string[] => at(made).map(({ body }) => (JSON.parse(body) as { type: string }).type);
const deliveries = async (made: Made, query = '', as = 'ann') =>
  (await call('GET', `/${made.id}/deliveries${query}`, undefined, as)).json;

const outgoingInstant = expect.stringMatching(/^[-0-9]{10}T[:0-9]{8}(?:\.\d{6})?Z$/); // format of datetimes: rules/http#datetimes-out

let days = 0;
/** Creates a separate conversation of the person. @returns its id */
async function converse(person = 'ann'): Promise<number> {
  const time = new Date(Date.UTC(2029, 0, 1) - ++days * 86_400_000).toISOString();
  const query = `person_id=${ids['people']?.[person]}&journey=circle&time=${time}`;
  const { json, text } = await platform.call('GET', `/api/coherence/conversations?${query}`);
  if (json?.[0]?.id === undefined) throw new Error(text);
  return json[0].id;
}
const patch = async (id: number, n: number): Promise<void> =>
  expect((await platform.call('PATCH', `/api/coherence/conversations/${id}`, { json: { infos: { n } } })).status).toBe(
    200,
  );
const feedOf = async (as: string): Promise<any[]> =>
  (await platform.call('GET', '/api/v1/events?limit=500', { token: tokens[as] ?? '' })).json.items;

describe('webhook deliveries (V6)', () => {
  it('sends the feed event with the same signature as the reference library', async () => {
    const made = await create();
    const before = Math.floor(Date.now() / 1_000);
    const id = await converse();
    const [first] = await arrived(made, 2);
    const told = await waitFor(async () => {
      const events = (await feedOf('ann')).filter(
        ({ subject }) => subject.type === 'conversation' && subject.id === id,
      );
      return events.length >= 2 && events.length === at(made).length && events;
    });
    expect(new Set(at(made).map((item) => item.id))).toEqual(new Set(told.map((event) => event.id)));
    for (const item of at(made)) {
      const event = new Webhook(made.secret).verify(item.body, item.headers as Record<string, string>) as {
        id: string;
      };
      expect(told).toContainEqual(event);
      expect([item.id, item.headers['content-type']]).toEqual([event.id, 'application/json']);
      expect(String(item.headers['webhook-signature'])).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
      const timestamp = Number(item.headers['webhook-timestamp']);
      expect([before <= timestamp, timestamp <= item.atMs / 1_000]).toEqual([true, true]);
      const other = new Webhook('whsec_' + Buffer.alloc(32).toString('base64'));
      expect(() => other.verify(item.body, item.headers as Record<string, string>)).toThrow('No matching signature');
    }
    const list = await waitFor(async () => {
      const page = await deliveries(made);
      return page.items.every((item: { status: string }) => item.status === 'delivered') && page;
    });
    expect(list).toEqual({
      items: expect.arrayContaining([
        {
          id: expect.any(String),
          event_id: first?.id,
          status: 'delivered',
          attempts: [{ at: outgoingInstant, status_code: 204, error: null, duration_ms: expect.any(Number) }],
          created_at: outgoingInstant,
          next_attempt_at: null,
        },
      ]),
      next: null,
    });
    await end(made);
  });

  it('sends two signatures during the overlap of a secret rotation, and one afterwards', async () => {
    const made = await create();
    const rotated = (await call('POST', `/${made.id}/rotate-secret`)).json;
    await call('POST', `/${made.id}/test`);
    const [both] = await arrived(made, 1);
    for (const secret of [made.secret, rotated.secret]) {
      expect(new Webhook(secret).verify(both?.body ?? '', both?.headers as Record<string, string>)).toBeTruthy();
    }
    expect(String(both?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    const last = (await call('POST', `/${made.id}/rotate-secret`, { overlap_seconds: 0 })).json;
    await call('POST', `/${made.id}/test`);
    const [, one] = await arrived(made, 2);
    expect(new Webhook(last.secret).verify(one?.body ?? '', one?.headers as Record<string, string>)).toBeTruthy();
    expect(() => new Webhook(rotated.secret).verify(one?.body ?? '', one?.headers as Record<string, string>)).toThrow();
    await end(made);
  });

  it('sends only subscribed event types, and only events after the creation of the endpoint', async () => {
    const id = await converse();
    const all = await create();
    const some = await create('ann', { types: ['conversation.updated'] });
    await patch(id, 1);
    await patch(await converse(), 1);
    await waitFor(() => typesAt(some).length >= 2 && typesAt(all).length >= 4);
    expect(new Set(typesAt(some))).toEqual(new Set(['conversation.updated']));
    expect(typesAt(all).filter((type) => type === 'conversation.created')).toHaveLength(1);
    await Promise.all([end(all), end(some)]);
  });
});

describe('failed deliveries (V6)', () => {
  it('are retried with the same webhook-id, first after about 5 seconds', async () => {
    const made = await create('ann', { types: ['conversation.created'] });
    receiver.answer(made.path, (place) => (place === 1 ? 500 : 204));
    await converse();
    const [first] = await arrived(made, 1);
    const waiting = await waitFor(async () =>
      (await deliveries(made, '?status=pending')).items.find((item: any) => item.attempts.length === 1),
    );
    expect(waiting.attempts[0]).toMatchObject({ status_code: 500, error: 'status' });
    const delayMs = Date.parse(waiting.next_attempt_at) - Date.parse(waiting.attempts[0].at);
    expect(delayMs).toBeGreaterThan(3_700);
    expect((await call('GET', `/${made.id}`)).json.endpoint.failing_since).toEqual(expect.any(String));
    const [, second] = await arrived(made, 2);
    expect([second?.id, second?.body]).toEqual([first?.id, first?.body]);
    const done = await waitFor(async () => (await deliveries(made, '?status=delivered')).items[0]);
    expect(done.attempts.map((attempt: any) => [attempt.status_code, attempt.error])).toEqual([
      [500, 'status'],
      [204, null],
    ]);
    expect((await call('GET', `/${made.id}`)).json.endpoint.failing_since).toBeNull();
    await end(made);
  });

  it('are reported with their cause, without following redirects or connecting to private addresses', async () => {
    const made = await create();
    for (const [answer, expected] of [
      ['redirect', { status_code: 302, error: 'redirect' }],
      ['drop', { status_code: null, error: 'connection_broken' }],
      [404, { status_code: 404, error: 'status' }],
    ] as const) {
      receiver.answer(made.path, answer);
      const { delivery } = (await call('POST', `/${made.id}/test`)).json;
      const found = await waitFor(async () =>
        (await deliveries(made)).items.find((item: any) => item.id === delivery.id && item.attempts.length > 0),
      );
      expect(found.attempts[0]).toMatchObject(expected);
    }
    expect(receiver.received.some(({ path }) => path === '/elsewhere')).toBe(false);
    await call('POST', `/${made.id}/update`, { url: `https://localhost:${receiver.port}/` });
    const { delivery } = (await call('POST', `/${made.id}/test`)).json;
    const found = await waitFor(async () =>
      (await deliveries(made)).items.find((item: any) => item.id === delivery.id && item.attempts.length > 0),
    );
    expect(found.attempts[0]).toMatchObject({ status_code: null, error: 'forbidden_address' });
    await end(made);
  });

  it("disable the endpoint after a 410 response, which only the feed of the endpoint's account reports", async () => {
    const made = await create('ben');
    const other = await create('ben', { types: ['webhook_endpoint.disabled'] });
    receiver.answer(made.path, 410);
    await call('POST', `/${made.id}/test`, {}, 'ben');
    const { endpoint } = await waitFor(async () => {
      const { json } = await call('GET', `/${made.id}`, undefined, 'ben');
      return json.endpoint.disabled && json;
    });
    expect(endpoint.disabled_reason).toBe('gone');
    const [told] = await arrived(other, 1);
    const event = JSON.parse(told?.body ?? '') as object;
    expect(event).toMatchObject({
      type: 'webhook_endpoint.disabled',
      subject: { type: 'webhook_endpoint', id: made.id },
      data: { reason: 'gone' },
    });
    expect(await feedOf('ben')).toContainEqual(event);
    expect(await feedOf('root')).toContainEqual(event);
    expect((await feedOf('eve')).filter(({ type }) => type === 'webhook_endpoint.disabled')).toEqual([]);
    const count = at(made).length;
    await converse('ben');
    expect((await deliveries(made, '?status=pending', 'ben')).items).toEqual([]);
    expect(at(made)).toHaveLength(count);
    await Promise.all([end(made, 'ben'), end(other, 'ben')]);
  });

  it('disable the endpoint after five days without a successful delivery', async () => {
    const made = await create();
    receiver.answer(made.path, 503);
    for (const [age, isDisabled] of [
      ['4 days 23 hours', false],
      ['5 days 1 hour', true],
    ] as const) {
      await platform.sql(`update events.webhook_endpoints set failing_since = now() - $1::interval where id = $2`, [
        age,
        made.id,
      ]);
      const { delivery } = (await call('POST', `/${made.id}/test`)).json;
      await waitFor(async () =>
        (await deliveries(made)).items.find((item: any) => item.id === delivery.id && item.attempts.length > 0),
      );
      const { endpoint } = (await call('GET', `/${made.id}`)).json;
      expect([endpoint.disabled, endpoint.disabled_reason]).toEqual([isDisabled, isDisabled ? 'failing' : null]);
    }
    expect((await deliveries(made)).items.map((item: any) => item.status)).toEqual(['failed', 'failed']);
    await end(made);
  });

  it('start a new period of failures after a successful delivery, also in the same batch', async () => {
    const made = await create('root', { types: ['person.created'] });
    const first = Promise.withResolvers<503>(); // four requests run at once; one succeeds, then the others fail
    receiver.answer(made.path, (place) => (place === 1 ? (first.resolve(503), 204) : first.promise));
    await platform.sql(`update events.webhook_endpoints set failing_since = now() - interval '6 days' where id = $1`, [
      made.id,
    ]);
    await platform.apply({
      people: Array.from({ length: 12 }, (_value, index) => ({ key: `batch-${index}`, name: `Of a batch ${index}` })),
    });
    await arrived(made, 12);
    const tried = async () =>
      (await deliveries(made, '', 'root')).items.filter((item: any) => item.attempts.length > 0);
    await waitFor(async () => (await tried()).length === 12);
    const { endpoint } = (await call('GET', `/${made.id}`, undefined, 'root')).json;
    expect([endpoint.disabled, Date.now() - Date.parse(endpoint.failing_since) < 300_000]).toEqual([false, true]);
    await end(made, 'root');
  });
});

describe('recipients of deliveries (V4, V7, V10)', () => {
  it('are selected at sending time by the current access of the account', async () => {
    const [ann, eve, all] = [await create('ann'), await create('eve'), await create('root')];
    receiver.answer(ann.path, (place) => (place <= 2 ? 503 : 204));
    const id = await converse('ann');
    await arrived(ann, 2);
    await arrived(all, 2);
    expect((await deliveries(ann, '?status=pending')).items).toHaveLength(2);
    await platform.sql(`update conversations.all_conversations set participant_ids = '{}' where id = $1`, [id]);
    expect((await deliveries(ann)).items).toEqual([]);
    await waitFor(
      async () =>
        (await platform.sql('select 1 from events.webhook_deliveries where endpoint_id = $1', [ann.id])).length === 0,
      {
        what: 'nothing to be sent',
      },
    );
    expect(at(ann)).toHaveLength(2);
    expect(at(eve)).toEqual([]);
    expect((await deliveries(eve, '', 'eve')).items).toEqual([]);
    await Promise.all([end(ann), end(eve, 'eve'), end(all, 'root')]);
  });

  it('exclude endpoints of deactivated accounts', async () => {
    const made = await create('eve');
    await platform.ask('accounts', 'deactivate', 'eve@example.org');
    await converse('eve');
    const watched = await create('root', { types: ['conversation.created'] });
    await converse('eve');
    await arrived(watched, 1);
    await waitFor(async () => {
      const [row] = await platform.sql<{ up: boolean }>(
        'select position = (select last_position from events.feed_head) as up from events.webhook_endpoints where id = $1',
        [made.id],
      );
      return row?.up;
    });
    expect(at(made)).toEqual([]);
    await end(watched, 'root');
  });

  it('receive deliveries independently of unresponsive endpoints, with four requests at once', async () => {
    const hanging = await Promise.all([create(), create(), create()]);
    for (const { path } of hanging) receiver.answer(path, 'hang');
    const quick = await create();
    const id = await converse();
    for (let n = 0; n < 8; n++) await patch(id, n);
    await waitFor(() => typesAt(quick).filter((type) => type === 'conversation.updated').length >= 8);
    for (const made of hanging) await arrived(made, 4);
    // Each endpoint has still received only the first four requests.
    for (const made of hanging) expect([at(made).length, receiver.maxOpen(made.path)]).toEqual([4, 4]);
    await Promise.all([...hanging, quick].map((made) => end(made)));
  });

  it('receive deliveries over four connections per endpoint, even when responses never end', async () => {
    const [endless, quick] = [await create(), await create()];
    receiver.answer(endless.path, 'endless');
    const id = await converse();
    for (let n = 0; n < 8; n++) await patch(id, n);
    await waitFor(() => typesAt(quick).filter((type) => type === 'conversation.updated').length >= 8);
    await waitFor(async () => (await deliveries(endless, '?status=delivered')).items.length >= 4, {
      what: 'four that were answered',
    });
    expect([at(endless).length, receiver.maxOpen(endless.path)]).toEqual([4, 4]);
    await Promise.all([end(endless), end(quick)]);
  });
});

describe('resending webhooks (V5, V11)', () => {
  it('sends a test event, which is not in the feed, regardless of the subscribed types', async () => {
    const made = await create('ann', { types: ['question.changed'] });
    const { status, json } = await call('POST', `/${made.id}/test`);
    expect([status, json.delivery]).toEqual([200, expect.objectContaining({ status: 'pending', attempts: [] })]);
    const [got] = await arrived(made, 1);
    const event = new Webhook(made.secret).verify(got?.body ?? '', got?.headers as Record<string, string>) as Record<
      string,
      unknown
    >;
    expect(event).toMatchObject({
      id: json.delivery.event_id,
      type: 'webhook_endpoint.test',
      subject: { type: 'webhook_endpoint', id: made.id },
    });
    expect(got?.id).toBe(json.delivery.event_id);
    expect((await feedOf('root')).map(({ id }) => id)).not.toContain(json.delivery.event_id);
    await end(made);
  });

  it('redelivers a delivered event with the same webhook-id', async () => {
    const made = await create('ann', { types: ['conversation.created'] });
    await converse();
    const [first] = await arrived(made, 1);
    const item = await waitFor(async () => (await deliveries(made, '?status=delivered')).items[0]);
    const again = await call('POST', `/${made.id}/deliveries/${item.id}/redeliver`);
    expect([again.status, again.json.delivery]).toEqual([
      200,
      expect.objectContaining({ id: item.id, status: 'pending' }),
    ]);
    const [, second] = await arrived(made, 2);
    expect(second?.id).toBe(first?.id);
    await waitFor(async () => (await deliveries(made)).items[0].attempts.length === 2);
    for (const id of ['none', '00000000-0000-4000-8000-000000000000'])
      expect((await call('POST', `/${made.id}/deliveries/${id}/redeliver`)).status).toBe(404);
    await call('POST', `/${made.id}/update`, { disabled: true });
    expect((await call('POST', `/${made.id}/deliveries/${item.id}/redeliver`)).json.code).toBe('endpoint_disabled');
    await end(made);
  });

  it('recovers undelivered events since a time, including events while the endpoint was disabled', async () => {
    const made = await create('ann', { types: ['conversation.created'] });
    await converse();
    await arrived(made, 1);
    receiver.answer(made.path, 410);
    await converse();
    await waitFor(async () => (await call('GET', `/${made.id}`)).json.endpoint.disabled);
    const whileDisabled = await converse();
    await waitFor(async () =>
      (await feedOf('ann')).some(({ subject }) => subject.type === 'conversation' && subject.id === whileDisabled),
    );
    receiver.answer(made.path, 204);
    const { endpoint } = (await call('POST', `/${made.id}/update`, { disabled: false })).json;
    expect(endpoint).toMatchObject({ disabled: false, disabled_reason: null, failing_since: null });
    await converse();
    await arrived(made, 3);
    const before = at(made).map(({ id }) => id);
    const recovered = await call('POST', `/${made.id}/recover`, { since: '2020-01-01T00:00:00Z' });
    expect([recovered.status, recovered.json.endpoint.id]).toEqual([200, made.id]);
    const all = await arrived(made, 5);
    const again = all.slice(3).map(({ id }) => id);
    expect(again).toContain(before[1]);
    const told = (await feedOf('ann')).filter(
      ({ type, subject }) => type === 'conversation.created' && subject.id === whileDisabled,
    );
    expect(again).toContain(told[0]?.id);
    await waitFor(async () => {
      const page = await deliveries(made);
      return page.items.length === 4 && page.items.every((item: any) => item.status === 'delivered');
    });
    expect(at(made)).toHaveLength(5);
    expect((await call('GET', `/${made.id}`)).json.endpoint.recovering).toBe(false);
    await end(made);
  });

  it('lists deliveries in pages, and rejects cursors of another endpoint', async () => {
    const made = await create('root');
    for (let n = 0; n < 5; n++) await call('POST', `/${made.id}/test`, {}, 'root');
    const whole = await deliveries(made, '', 'root');
    expect(whole.items).toHaveLength(5);
    const seen: unknown[] = [];
    for (let [cursor, next] = ['', '']; next !== null; cursor = `&cursor=${next}`) {
      const page = await deliveries(made, `?limit=2${cursor}`, 'root');
      seen.push(...page.items.map((item: any) => item.id));
      next = page.next;
    }
    expect(seen).toEqual(whole.items.map((item: any) => item.id));
    const other = await create('root');
    for (const cursor of ['x', whole.items[0].id])
      expect((await call('GET', `/${other.id}/deliveries?cursor=${cursor}`, undefined, 'root')).status).toBe(400);
    await Promise.all([end(made, 'root'), end(other, 'root')]);
  });
});
