import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ApiConnectionError, ApiError, ApiTimeoutError, type Client, createClient, listItems } from './index.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let client: Client;
/** Answers of the test server to the next requests, one per request; the last answer is repeated. */
let answers: Answer[] = [];
const seen: { method: string | undefined; url: string | undefined; key: string | undefined }[] = [];
const retry = { attempts: 3, firstDelayMs: 1, maxDelayMs: 2_000 };

// Starts one server per test: a request that a test aborted can still reach the server during the next test.
beforeEach(async () => {
  seen.length = 0;
  server = createServer((request, response) => {
    request.resume();
    seen.push({ method: request.method, url: request.url, key: request.headers['idempotency-key'] as string | undefined });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    request.once('end', () => answer?.(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 't', retry });
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const cut: Answer = (_request, response) => response.destroy();
const silent: Answer = () => undefined;
const failure = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined, (error: unknown) => error);
const path = { conversation_id: 1 };

describe('request paths of the client', () => {
  it('encodes path parameters, and rejects values that would address another operation', async () => {
    answers = [json(200, {})];
    await client.getHolonBySlug({ path: { slug: '../a b?#%2e' } });
    expect(seen.map(({ url }) => url)).toEqual(['/api/v1/holons/by-slug/..%2Fa%20b%3F%23%252e']);
    for (const slug of ['..', '.', '']) expect(await failure(client.getHolonBySlug({ path: { slug } }))).toBeInstanceOf(TypeError);
    expect(seen.length).toBe(1);
  });
});

describe('retries of calls', () => {
  it.each([
    ['a connection that broke', cut],
    ['503', json(503, { detail: 'away' })],
    ['504 of a proxy', json(504, 'away')],
  ])('retries a read after %s', async (_name, first) => {
    answers = [first, first, json(200, { id: 1 })];
    expect((await client.getConversation({ path })).body).toEqual({ id: 1 });
    expect(seen.length).toBe(3);
  });

  it('throws the last error after the maximum number of attempts', async () => {
    answers = [json(503, { detail: 'away' })];
    expect(await failure(client.getConversation({ path }))).toMatchObject({ name: 'ApiError', status: 503, operation: 'getConversation' });
    expect(seen.length).toBe(3);
    expect(await failure(client.getConversation({ path }, { retry: { attempts: 1 } }))).toBeInstanceOf(ApiError);
    expect(seen.length).toBe(4);
  });

  it.each([
    ['a connection that broke', cut, ApiConnectionError],
    ['503', json(503, { detail: 'away' }), ApiError],
  ])('never retries a write without an Idempotency-Key after %s, because the server may have applied it', async (_name, answer, kind) => {
    answers = [answer];
    expect(await failure(client.patchConversation({ path, body: {} }))).toBeInstanceOf(kind);
    expect(seen.length).toBe(1);
  });

  it.each([
    ['429', json(429, { code: 'rate_limited', message: 'later', retryable: true })],
    ['a conflict that calls itself retryable', json(409, { code: 'bulk_in_progress', message: 'later', retryable: true })],
  ])('retries any write after %s, because the server did not apply it', async (_name, first) => {
    answers = [first, json(200, { id: 1 })];
    await client.patchConversation({ path, body: {} });
    expect(seen.length).toBe(2);
  });

  it('retries operations that accept an Idempotency-Key with the same key, generated or passed by the caller', async () => {
    const body = { body: 'Hello' };
    answers = [cut, json(200, { visitor_id: 'v' })];
    await client.sendChatMessage({ path: { agent_slug: 'guide' }, body });
    expect(seen[0]?.key).toMatch(/^[0-9a-f-]{36}$/);
    answers = [json(502, 'away'), json(200, { visitor_id: 'v' })];
    await client.sendChatMessage({ path: { agent_slug: 'guide' }, headers: { 'Idempotency-Key': 'mine' }, body });
    const [first, second, third, fourth] = seen.map(({ key }) => key);
    expect([second, third, fourth]).toEqual([first, 'mine', 'mine']);
  });

  it('waits for Retry-After, and fails when Retry-After exceeds the caller’s maximum', async () => {
    answers = [json(429, {}, { 'retry-after': '1' }), json(200, {})];
    const startedAt = performance.now();
    await client.getConversation({ path });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(995);
    answers = [json(429, {}, { 'retry-after': '3' })];
    expect(await failure(client.getConversation({ path }))).toMatchObject({ status: 429, retryAfterSeconds: 3 });
    expect(seen.length).toBe(3);
  });

  it('waits until the date in Retry-After, and uses the usual delay when it is invalid', async () => {
    answers = [json(503, {}, { 'retry-after': new Date(Date.now() + 600_000).toUTCString() })];
    const error = await failure(client.getConversation({ path }));
    expect((error as ApiError).retryAfterSeconds).toBeGreaterThan(500);
    expect(seen.length).toBe(1);
    for (const text of ['soon', new Date(0).toUTCString()]) {
      answers = [json(503, {}, { 'retry-after': text }), json(200, {})];
      await client.getConversation({ path });
    }
    expect(seen.length).toBe(5);
  });

  it('never retries a request with a stream as its body', async () => {
    answers = [json(429, {})];
    const file = { name: 'a.mp3', content: new Blob(['x']).stream() };
    expect(await failure(client.uploadAudio({ path, file }))).toBeInstanceOf(ApiError);
    expect(seen.length).toBe(1);
  });
});

describe('timeouts and signals', () => {
  it('aborts an attempt after its timeout', async () => {
    answers = [silent];
    const error = await failure(client.getConversation({ path }, { timeoutMs: 50, retry: { attempts: 1 } }));
    expect(error).toBeInstanceOf(ApiTimeoutError);
    expect(error).toMatchObject({ operation: 'getConversation', timeoutMs: 50 });
  });

  it('rejects immediately with the caller’s reason when the caller aborts, also during a retry delay', async () => {
    const reason = new Error('enough');
    answers = [silent];
    const waiting = new AbortController();
    // The test waits for the request: if it reached the server after the abort, it would consume the next answer.
    const arrived = once(server, 'request');
    const first = failure(client.getConversation({ path }, { signal: waiting.signal }));
    await arrived;
    waiting.abort(reason);
    expect(await first).toBe(reason);
    answers = [json(503, {}, { 'retry-after': '2' })];
    const pausing = new AbortController();
    const second = failure(client.getConversation({ path }, { signal: pausing.signal }));
    setTimeout(() => pausing.abort(reason), 30);
    expect(await second).toBe(reason);
    expect(await failure(client.getConversation({ path }, { signal: AbortSignal.abort(reason) }))).toBe(reason);
  });
});

describe('paginated lists', () => {
  it('yields every item from the requested offset, with one request per page', async () => {
    const page = (items: number[], has_more: boolean): Answer => json(200, { items, has_more });
    answers = [page([3, 4], true), page([5], false)];
    const items = [];
    for await (const item of listItems(client.listPeople, { query: { q: 'a', limit: 2, offset: 2 } })) items.push(item);
    expect(items).toEqual([3, 4, 5]);
    expect(seen.map(({ url }) => url)).toEqual(['/api/v1/people?q=a&limit=2&offset=2', '/api/v1/people?q=a&limit=2&offset=4']);
  });

  it('requests the pages in `next`, including empty pages, until the last one', async () => {
    const page = (items: number[], next: string | null): Answer => json(200, { items, next });
    answers = [page([1, 2], 'a b'), page([], 'c'), page([3], null)];
    const items = [];
    for await (const item of listItems(client.listWebhookDeliveries, { path: { endpoint_id: 7 }, query: { limit: 2 } })) items.push(item);
    expect(items).toEqual([1, 2, 3]);
    const path = '/api/v1/webhook-endpoints/7/deliveries?limit=2';
    expect(seen.map(({ url }) => url)).toEqual([path, `${path}&cursor=a+b`, `${path}&cursor=c`]);
    answers = [page([9], null)];
    for await (const item of listItems(client.listAudit, { query: { cursor: 'd' } })) items.push(item);
    expect([items.at(-1), seen.at(-1)?.url]).toEqual([9, '/api/ops/audit?cursor=d']);
  });

  it('reads a list until `count` items when it has no `has_more`, and until an empty page when it has neither', async () => {
    answers = [json(200, { items: [3, 4], count: 5 }), json(200, { items: [5], count: 5 })];
    const items: unknown[] = [];
    for await (const item of listItems(client.listNotesOfHolon, { path: { holon_id: 7 }, query: { offset: 2 } })) items.push(item);
    for await (const item of listItems(client.listHolonRelationships, { path: { holon_id: 7 }, query: { offset: 5 } })) items.push(item);
    answers = [json(200, { items: [6], count: 2 }), json(200, { items: [], count: 1 })];
    for await (const item of listItems(client.listKeys, {})) items.push(item);
    answers = [json(200, { items: [7, 8] }), json(200, { items: [9] }), json(200, { items: [] })];
    for await (const item of listItems(client.listWebhookEndpoints, { query: { limit: 2 } })) items.push(item);
    expect(items).toEqual([3, 4, 5, 5, 6, 7, 8, 9]);
    expect(seen.map(({ url }) => url?.replace(/^.*\//, ''))).toEqual([
      ...['notes?offset=2', 'notes?offset=4', 'relationships?offset=5', 'keys', 'keys?offset=1'],
      ...['webhook-endpoints?limit=2', 'webhook-endpoints?limit=2&offset=2', 'webhook-endpoints?limit=2&offset=3'],
    ]);
  });

  it('does not compile with a list without pages, nor with the endless event feed', () => {
    // @ts-expect-error all classes come at once
    void (() => listItems(client.listClasses, {}));
    // @ts-expect-error `events` follows it
    void (() => listItems(client.listEvents, {}));
    expect(seen).toEqual([]);
  });

  it('does not request further pages when the caller stops iterating', async () => {
    answers = [json(200, { items: [1, 2], has_more: true })];
    for await (const _item of listItems(client.listHolons, {})) break;
    expect(seen.length).toBe(1);
  });
});
