/** Deliveries queued for open requests, and concurrent redeliveries (rules/events#deliveries; V5, V7). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  conversationJourney,
  type ReceivedWebhook,
  startWebhookReceiver,
  waitFor,
  type WebhookReceiver,
} from '#libs/product/testing';
import { type Answer, type Applied, startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let receiver: WebhookReceiver;
let ids: Applied['ids'];
const names = ['ann', 'ben', 'dan', 'root'];
const tokens: Record<string, string> = {};
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
      email: `${name}@example.org`,
      person: name,
      password: `secret-of-${name}-1`,
      superuser: name === 'root',
    })),
  }));
  for (const name of names) tokens[name] = await platform.login(`${name}@example.org`, `secret-of-${name}-1`);
});
afterAll(async () => {
  await receiver.stop();
  await platform.stop();
});

const root = '/api/v1/webhook-endpoints';
const call = (method: string, path: string, json?: unknown, as = 'ann'): Promise<Answer> =>
  platform.call(method, `${root}${path}`, { token: tokens[as] ?? '', ...(json !== undefined && { json }) });
const at = (path: string): ReceivedWebhook[] => receiver.received.filter((item) => item.path === path);

/** Creates a separate conversation of the person. @returns its id */
async function converse(person: string): Promise<number> {
  const query = `person_id=${ids['people']?.[person]}&journey=circle&time=2029-01-01T00:00:00Z`;
  return (await platform.call('GET', `/api/coherence/conversations?${query}`)).json[0].id;
}

describe('deliveries that wait for open requests (V7)', () => {
  it('apply changes of their endpoint and its account before they are sent', async () => {
    const everyone = ['ann', 'ben', 'dan'];
    const conversations = await Promise.all(everyone.map((name) => converse(name)));
    const owners = {
      withdrawn: 'ann',
      deactivated: 'dan',
      disabled: 'ben',
      enabled: 'ben',
      deleted: 'ben',
      moved: 'ben',
      rotated: 'ben',
    };
    const made = {} as Record<keyof typeof owners, { readonly id: number; readonly path: string }>;
    const since = new Date().toISOString();
    for (const [act, owner] of Object.entries(owners)) {
      const path = `/${act}`;
      const { endpoint } = (await call('POST', '', { url: receiver.url(path), types: ['conversation.updated'] }, owner))
        .json;
      made[act as keyof typeof owners] = { id: endpoint.id, path };
      await call('POST', `/${endpoint.id}/update`, { disabled: true }, owner);
    }
    for (let n = 0; n < 12; n++)
      await Promise.all(
        conversations.map((id) =>
          platform.call('PATCH', `/api/coherence/conversations/${id}`, { json: { infos: { n } } }),
        ),
      );
    await waitFor(async () => {
      const query = 'types=conversation.updated&limit=500';
      return (
        (await platform.call('GET', `/api/v1/events?${query}`, { token: tokens['root'] ?? '' })).json.items.length ===
        12 * everyone.length
      );
    });
    const letGo = Promise.withResolvers<204>();
    for (const [act, owner] of Object.entries(owners)) {
      const { id, path } = made[act as keyof typeof owners];
      receiver.answer(path, (place) => (place <= 4 ? letGo.promise : 204));
      await call('POST', `/${id}/update`, { disabled: false }, owner);
      await call('POST', `/${id}/recover`, { since }, owner);
    }
    await waitFor(() => Object.values(made).every(({ path }) => receiver.maxOpen(path) === 4), {
      what: 'four open requests of each',
    });
    const actedMs = performance.now();
    await platform.sql(`update conversations.all_conversations set participant_ids = '{}' where id = $1`, [
      conversations[0],
    ]);
    await platform.ask('accounts', 'deactivate', 'dan@example.org');
    for (const disabled of [true, false]) await call('POST', `/${made.enabled.id}/update`, { disabled }, 'ben');
    await call('POST', `/${made.disabled.id}/update`, { disabled: true }, 'ben');
    await call('DELETE', `/${made.deleted.id}`, undefined, 'ben');
    await call('POST', `/${made.moved.id}/update`, { url: receiver.url('/elsewhere-now') }, 'ben');
    const { secret } = (await call('POST', `/${made.rotated.id}/rotate-secret`, { overlap_seconds: 0 }, 'ben')).json;
    await waitFor(() => performance.now() - actedMs > 1_500, { what: 'answers that take long' });
    letGo.resolve(204);
    const isOver = `select 1 from events.webhook_dispatches where endpoint_id = any($1) and holder is not null`;
    await waitFor(async () => (await platform.sql(isOver, [Object.values(made).map(({ id }) => id)])).length === 0, {
      what: 'nothing under way',
    });
    const counts = Object.fromEntries(Object.entries(made).map(([act, endpoint]) => [act, at(endpoint.path).length]));
    expect(counts).toEqual({
      withdrawn: 4,
      deactivated: 4,
      disabled: 4,
      enabled: 4,
      deleted: 4,
      moved: 4,
      rotated: 12,
    });
    expect(at('/elsewhere-now')).toHaveLength(8);
    for (const { body, headers } of at(made.rotated.path).slice(4))
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toBeTruthy();
  });
});

describe('an address that WEBHOOK_ALLOWED_HOSTS no longer allows (D90)', () => {
  it('does not connect to the address, and reports the reason in the attempt', async () => {
    const { id } = (await call('POST', '', { url: 'https://example.com/' })).json.endpoint;
    await platform.sql(`update events.webhook_endpoints set url = 'http://example.com/' where id = $1`, [id]);
    await call('POST', `/${id}/test`);
    const attempt = await waitFor(async () => (await call('GET', `/${id}/deliveries`)).json.items[0].attempts[0]);
    expect(attempt).toMatchObject({ status_code: null, error: 'forbidden_address' });
  });
});

describe('concurrent redeliveries (V5)', () => {
  it('complete all requests, even if there are more of them than pool connections', async () => {
    const { id } = (await call('POST', '', { url: receiver.url('/ann'), types: ['conversation.created'] })).json
      .endpoint;
    await platform.call(
      'GET',
      `/api/coherence/conversations?person_id=${ids['people']?.['ann']}&journey=circle&time=2028-01-01T00:00:00Z`,
    );
    const item = await waitFor(async () => (await call('GET', `/${id}/deliveries?status=delivered`)).json.items[0]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call('POST', `/${id}/deliveries/${item.id}/redeliver`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });
});
