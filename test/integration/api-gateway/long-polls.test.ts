/** Requests that wait for events while their gateway stops (rules/events#documents; rules/operations#promises). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startService } from '#libs/testing';
import type { Service } from '#libs/lifecycle';
import { directory } from '#services/directory';
import { createWorld, type World } from '../conversations/world.ts';

interface Page {
  items: { type: string }[];
  next: string;
}

const account = { email: 'follower@example.org', password: 'a password of who follows' };
let world: World;
let gateway: Service & { readonly port: number };
let token: string;
beforeAll(async () => {
  world = await createWorld(import.meta.url);
  await startService('events', world.env);
  gateway = (await startService('api-gateway', world.env)) as typeof gateway;
  await world.call(directory.rpcs.createAccount, { ...account, person: 'ada', superuser: true });
  const answer = await ask('/api/v1/auth/login', { method: 'POST', body: JSON.stringify(account) });
  ({ token } = (await answer.json()) as { token: string });
});
afterAll(() => world.stop());

const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${gateway.port}${path}`, {
    ...init,
    headers: { 'content-type': 'application/json', 'x-svc-api-key': 'test-login-secret', authorization: `Bearer ${token}` },
  });
const read = async (query: string): Promise<Page> => {
  const answer = await ask(`/api/v1/events?${query}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Page;
};

describe('a request that waits for events', () => {
  it('is answered when something comes, also after the first turn', async () => {
    const { next } = await read('after=latest');
    const startedMs = performance.now();
    const waiting = read(`after=${next}&wait=30&types=conversation.created`);
    // Longer than a turn.
    await read(`after=${next}&wait=6&types=question.changed`);
    await world.create();
    expect((await waiting).items.map(({ type }) => type)).toEqual(['conversation.created']);
    expect(performance.now() - startedMs).toBeLessThan(25_000);
  });

  it('is answered with an empty page and a cursor that can be used when its gateway stops', async () => {
    const { next } = await read('after=latest');
    const startedMs = performance.now();
    const waiting = read(`after=${next}&wait=30&types=question.changed`);
    // It is with the events service by then.
    await read(`after=${next}&wait=1&types=question.changed`);
    await gateway.stop();
    expect(await waiting).toEqual({ items: [], next, has_more: false });
    expect(performance.now() - startedMs).toBeLessThan(20_000);
  });
});
