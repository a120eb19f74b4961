/** Many waiting requests do not block other clients (OWASP API4:2023; V3; rules/http#overload). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LlmServer, startLlm, waitFor } from '#libs/product/testing';
import { type Answer, applyDemo, type TestPlatform } from '../e2e/test-platform.ts';
import { countRefused, head, openWire, startTarget, statusesOf, type Wire } from './attacker.ts';

const maxInFlight = 30;
const mostOfAccount = 18;

let platform: TestPlatform;
let llm: LlmServer;
let [ada, ben] = ['', ''];
const wires: Wire[] = [];
beforeAll(async () => {
  llm = await startLlm();
  const settings = {
    MAX_IN_FLIGHT_REQUESTS: String(maxInFlight),
    EVENTS_WAITING_PER_ACCOUNT: String(mostOfAccount),
    LLM_BASE_URL: llm.baseUrl,
    LLM_API_KEY: llm.apiKey,
  };
  platform = await startTarget(import.meta.url, settings, {
    services: ['api-gateway', 'conversations', 'directory', 'events', 'agents'],
  });
  await platform.apply({ agents: [{ slug: 'guide', name: 'Guide', prompt: 'You are the guide.' }] });
  await applyDemo(platform, 'polls');
  [ada, ben] = await Promise.all([login('ada'), login('ben')]);
});
afterAll(async () => {
  for (const wire of wires) wire.hangUp();
  await platform.stop();
  await llm.stop();
});

const login = (who: string): Promise<string> => platform.login(`${who}-polls@example.org`, `secret-of-${who}-polls`);
const ask = (token: string, query: string): Promise<Answer> =>
  platform.call('GET', `/api/v1/events?${query}`, { token });

/** Starts requests of one account that wait half a minute for an event that never occurs. */
async function wait(token: string, count: number): Promise<Wire[]> {
  const { next } = (await ask(token, 'after=latest')).json;
  const path = `/api/v1/events?after=${next}&wait=30&types=question.changed`;
  const request = head('GET', path, { Authorization: `Bearer ${token}` });
  const opened = await Promise.all(Array.from({ length: count }, () => openWire(platform, request)));
  wires.push(...opened);
  return opened;
}

const refusedOf = (opened: readonly Wire[], status: number): number =>
  opened.filter((wire) => statusesOf(wire).includes(status)).length;

describe('requests that wait for events', () => {
  it('limits waiting event requests to EVENTS_WAITING_PER_ACCOUNT per account, without using slots of other requests', async () => {
    const opened = await wait(ada, maxInFlight);
    await waitFor(() => refusedOf(opened, 429) === maxInFlight - mostOfAccount, { what: 'the refusals' });
    const refused = opened.find((wire) => statusesOf(wire).includes(429));
    expect(refused?.received).toMatch(/\r\nRetry-After: [1-9]\d*\r\n/i);
    expect(refused?.received).toMatch(/"code":"rate_limited".*"retryable":true/);
    const others = await Promise.all(
      Array.from({ length: maxInFlight }, () => platform.call('GET', '/api/v1/auth/whoami', { token: ben })),
    );
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
    expect((await ask(ada, 'after=latest&wait=30')).status).toBe(200);
    const another = await ask(ada, `after=${(await ask(ada, 'after=latest')).json.next}&wait=1`);
    expect([another.status, another.json.code]).toEqual([429, 'rate_limited']);
    expect(await countRefused(platform, 'too_many_waits')).toBe(maxInFlight - mostOfAccount + 1);
  });

  it('limits all waiting event requests together to the number of slots', async () => {
    const opened = await wait(ben, maxInFlight - mostOfAccount + 3);
    await waitFor(() => refusedOf(opened, 503) === 3, { what: 'the refusals' });
    expect((await platform.call('GET', '/api/v1/auth/whoami', { token: ben })).status).toBe(200);
  });

  it('ends a waiting event request when its connection is closed', async () => {
    // One is still waiting, so the others did not end by timeout.
    const kept = wires.find((wire) => !wire.isClosed && statusesOf(wire).length === 0);
    for (const wire of wires) if (wire !== kept) wire.hangUp();
    const answer = await waitFor(
      async () => {
        const { next } = (await ask(ada, 'after=latest')).json;
        const given = await ask(ada, `after=${next}&wait=1&types=question.changed`);
        return given.status === 200 ? given : undefined;
      },
      { what: 'a place', intervalMs: 500 },
    );
    expect(answer.json.items).toEqual([]);
    expect(kept?.isClosed).toBe(false);
  });
});

describe('visitor messages that wait for the language model or for their turn', () => {
  it('visitor messages use no slots of documents and logins, however many one visitor sends', async () => {
    const say = (body: string, visitor_id: string | null) =>
      platform.call('POST', '/api/chat/guide/message/', { token: null, json: { body, visitor_id } });
    const { visitor_id: visitor } = (await say('Hello', null)).json;
    const { promise: isTold, resolve: tell } = Promise.withResolvers<string>();
    llm.answerWith(() => isTold);
    const waiting = Array.from({ length: maxInFlight + 5 }, (_value, index) => say(`Word ${index}`, visitor));
    await waitFor(async () => (await countRefused(platform, 'too_many_chats')) === 5, { what: 'the refusals' });
    const others = ['/api/v1/openapi.json', '/console/', '/api/openapi.json'];
    for (const path of others)
      expect([path, (await platform.call('GET', path, { token: null })).status]).toEqual([path, 200]);
    expect(await login('ada')).toMatch(/^svc_agentic_/);
    tell('An answer');
    const answers = await Promise.all(waiting);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(maxInFlight);
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(5);
  });
});
