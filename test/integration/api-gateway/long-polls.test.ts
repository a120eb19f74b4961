/**
 * Requests that wait for events: what ends them, and which rights apply to the response (rules/events#documents;
 * rules/operations#promises; D89).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startService } from '#libs/product/testing';
import type { Service } from '#libs/infrastructure/lifecycle';
import { directory } from '#services/directory';
import { createKeyOf, updateAccountOf } from '../directory/account-of.ts';
import { startConversationFixture, type ConversationFixture } from '../conversations/fixture.ts';

interface Page {
  items: { type: string }[];
  next: string;
}

const account = { email: 'follower@example.org', password: 'a password of who follows' };
let fixture: ConversationFixture;
let gateway: Service & { readonly port: number };
let token: string;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
  await startService('events', fixture.env);
  gateway = (await startService('api-gateway', fixture.env)) as typeof gateway;
  await fixture.call(directory.rpcs.createAccount, { ...account, person: 'ada', superuser: true });
  const answer = await ask('/api/v1/auth/login', { method: 'POST', body: JSON.stringify(account) });
  ({ token } = (await answer.json()) as { token: string });
});
afterAll(() => fixture.stop());

const ask = (
  path: string,
  init: Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> } = {},
): Promise<Response> =>
  fetch(`http://127.0.0.1:${gateway.port}${path}`, {
    ...init,
    headers: {
      'content-type': 'application/json',
      'x-svc-api-key': 'test-login-secret',
      authorization: `Bearer ${token}`,
      ...init.headers,
    },
  });
const read = async (query: string): Promise<Page> => {
  const answer = await ask(`/api/v1/events?${query}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Page;
};

/** Creates an account with a session and a service key. */
async function admit(
  name: string,
  superuser = false,
): Promise<{ email: string; session: string; key: { id: string; token: string } }> {
  const [email, password] = [`${name}@example.org`, `a password of ${name}`];
  await fixture.call(directory.rpcs.createAccount, { email, password, person: 'ada', superuser });
  const answer = await ask('/api/v1/auth/login', { method: 'POST', body: JSON.stringify({ email, password }) });
  const { token: session } = (await answer.json()) as { token: string };
  const issued = await createKeyOf(fixture, email, { name });
  return { email, session, key: { id: issued.key.id, token: issued.token } };
}

/** Waits for events with the bearer token. @returns status and event types of the response */
async function follow(bearer: string, query: string): Promise<{ status: number; types: string[] }> {
  const answer = await ask(`/api/v1/events?${query}`, { headers: { authorization: `Bearer ${bearer}` } });
  const { items = [] } = (await answer.json()) as Partial<Page>;
  return { status: answer.status, types: items.map(({ type }) => type) };
}

describe('long-polling for events when access ends (D89)', () => {
  const { rpcs } = directory;
  const logOut = ({ session }: Awaited<ReturnType<typeof admit>>) =>
    ask('/api/v1/auth/logout', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${session}` },
    });

  it('returns 401 and no later events after the credential ends in any way', async () => {
    const acts: Record<string, (who: Awaited<ReturnType<typeof admit>>) => Promise<unknown>> = {
      'logged-out': logOut,
      deactivated: ({ email }) => updateAccountOf(fixture, email, { active: false }),
      'key-revoked': ({ key }) => fixture.call(rpcs.revokeKey, { key_id: key.id }),
      'key-rotated': ({ key }) => fixture.call(rpcs.rotateKey, { key_id: key.id, overlap_seconds: 0 }),
      'key-deactivated': ({ email }) => updateAccountOf(fixture, email, { active: false }),
    };
    const { next } = await read('after=latest');
    const waits = await Promise.all(
      Object.entries(acts).map(async ([name, act]) => {
        const who = await admit(name);
        const bearer = name.startsWith('key') ? who.key.token : who.session;
        return {
          name,
          act: () => act(who),
          answer: follow(bearer, `after=${next}&wait=30&types=conversation.created`),
        };
      }),
    );
    const expired = await admit('expired');
    const expiry = follow(expired.key.token, `after=${next}&wait=30&types=question.changed`);
    await read(`after=${next}&wait=1&types=question.changed`); // When this read returns, the waiting requests have reached the events service.
    await fixture.env.sql('update directory.service_keys set expires_at = clock_timestamp() where id = $1', [
      expired.key.id,
    ]);
    for (const { act } of waits) await act();
    await fixture.create();
    const outcomes = await Promise.all(waits.map(async ({ name, answer }) => [name, await answer] as const));
    expect(Object.fromEntries(outcomes)).toEqual(
      Object.fromEntries(waits.map(({ name }) => [name, { status: 401, types: [] }])),
    );
    const startedMs = performance.now();
    expect(await expiry).toEqual({ status: 401, types: [] });
    expect(performance.now() - startedMs).toBeLessThan(20_000);
  });

  it('returns 401 in the console after the session ends', async () => {
    const [email, password] = ['console@example.org', 'a password of the console'];
    await fixture.call(directory.rpcs.createAccount, { email, password, person: 'ada', superuser: true });
    const origin = `http://127.0.0.1:${gateway.port}`;
    const inConsole = (path: string, init: RequestInit = {}, cookie = ''): Promise<Response> =>
      fetch(`${origin}/console${path}`, { ...init, headers: { 'content-type': 'application/json', origin, cookie } });
    const signedIn = await inConsole('/session', { method: 'POST', body: JSON.stringify({ email, password }) });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const { next } = (await (await inConsole('/api/v1/events?after=latest', {}, cookie)).json()) as Page;
    const waiting = inConsole(`/api/v1/events?after=${next}&wait=30&types=conversation.created`, {}, cookie);
    await read(`after=${next}&wait=1&types=question.changed`); // When this read returns, the waiting request has reached the events service.
    expect((await inConsole('/api/v1/auth/logout', { method: 'POST', body: '{}' }, cookie)).status).toBe(200);
    await fixture.create();
    const answer = await waiting;
    expect([answer.status, await answer.text()]).toEqual([401, expect.not.stringContaining('conversation.created')]);
  });

  it('returns only events that the account can still read at the time of the response', async () => {
    const [demoted, owner] = [await admit('demoted', true), await admit('owner')];
    const { next } = await read('after=latest');
    const disable = async (): Promise<void> => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${owner.session}` };
      const url = '/api/v1/webhook-endpoints';
      const made = await ask(url, { method: 'POST', headers, body: '{"url": "https://example.com/"}' });
      const { endpoint } = (await made.json()) as { endpoint: { id: number } };
      await ask(`${url}/${endpoint.id}/update`, { method: 'POST', headers, body: '{"disabled": true}' });
    };
    const query = `after=${next}&wait=6&types=webhook_endpoint.disabled`;
    const [waiting, whole] = [follow(demoted.session, query), follow(token, query)];
    await read(`after=${next}&wait=1&types=question.changed`);
    await updateAccountOf(fixture, demoted.email, { superuser: false });
    await read(`after=${next}&wait=1&types=question.changed`); // Waits longer than a credential is cached.
    await disable();
    expect(await whole).toEqual({ status: 200, types: ['webhook_endpoint.disabled'] });
    expect(await waiting).toEqual({ status: 200, types: [] });
  });
});

describe('long-polling for events', () => {
  it('responds when an event is published, also after a polling interval without events', async () => {
    const { next } = await read('after=latest');
    const startedMs = performance.now();
    const waiting = read(`after=${next}&wait=30&types=conversation.created`);
    // Waits longer than one polling interval of the waiting request.
    await read(`after=${next}&wait=6&types=question.changed`);
    await fixture.create();
    expect((await waiting).items.map(({ type }) => type)).toEqual(['conversation.created']);
    expect(performance.now() - startedMs).toBeLessThan(25_000);
  });

  it('responds with an empty page and a valid cursor when the gateway stops', async () => {
    const { next } = await read('after=latest');
    const startedMs = performance.now();
    const waiting = read(`after=${next}&wait=30&types=question.changed`);
    // When this read returns, the waiting request has reached the events service.
    await read(`after=${next}&wait=1&types=question.changed`);
    await gateway.stop();
    expect(await waiting).toEqual({ items: [], next, has_more: false });
    expect(performance.now() - startedMs).toBeLessThan(20_000);
  });
});
