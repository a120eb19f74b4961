/** Redelivery of what was sent to an endpoint, by many at once (rules/events#deliveries; V5). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { conversationJourney, startWebhookReceiver, waitFor, type WebhookReceiver } from '#libs/testing';
import { startWorld, type World } from './world.ts';

let world: World;
let receiver: WebhookReceiver;
let token: string;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  world = await startWorld(
    import.meta.url,
    { WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}` },
    { services: ['api-gateway', 'directory', 'conversations', 'events'] },
  );
  await world.apply({
    classes: [{ slug: 'event', label: 'Event', conversation_event: true }],
    journeys: [conversationJourney('circle')],
    holons: [{ slug: 'spring', name: 'Spring', class: 'event', journeys: ['circle'] }],
    people: [{ key: 'ann', name: 'Ann' }],
    accounts: [{ email: 'ann@example.org', person: 'ann', password: 'secret-of-ann-1' }],
  });
  token = await world.login('ann@example.org', 'secret-of-ann-1');
});
afterAll(async () => {
  await receiver.stop();
  await world.stop();
});

const root = '/api/v1/webhook-endpoints';
const personId = async () => (await world.call('GET', '/api/v1/auth/whoami', { token })).json.person.id;

describe('a redelivery (V5)', () => {
  it('does not hold the connection that it waits for: more at once than the pool has are all answered', async () => {
    const made = await world.call('POST', root, { token, json: { url: receiver.url('/ann'), types: ['conversation.created'] } });
    const { id } = made.json.endpoint;
    await world.call('GET', `/api/coherence/conversations?person_id=${await personId()}&journey=circle&time=2029-01-01T00:00:00Z`);
    const list = `${root}/${id}/deliveries?status=delivered`;
    const item = await waitFor(async () => (await world.call('GET', list, { token })).json.items[0]);
    const again = () => world.call('POST', `${root}/${id}/deliveries/${item.id}/redeliver`, { token });
    const answers = await Promise.all(Array.from({ length: 20 }, again));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });
});
