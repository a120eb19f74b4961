import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ApiError, type Client, createClient, type FollowOptions, type PlatformEvent } from './index.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let client: Client;
let answers: Answer[] = [];
const asked: URLSearchParams[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(new URL(request.url ?? '', 'http://x').searchParams);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    answer?.(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = createClient({ baseUrl, token: 't', retry: { firstDelayMs: 1, maxDelayMs: 20 } });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked.length = 0;
});

const json =
  (status: number, body: unknown): Answer =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const cut: Answer = (_request, response) => response.destroy();
const event = (n: number): PlatformEvent => ({
  id: `evt_${n}`,
  type: 'person.created',
  occurred_at: '2030-01-01T00:00:00Z',
  subject: { type: 'person', id: n },
  data: {},
  cursor: `c${n}`,
});
const page = (...numbers: number[]): Answer =>
  json(200, { items: numbers.map(event), next: `c${numbers.at(-1) ?? 0}`, has_more: false });

/** Returns the subject ids of the first `count` events, and the error if the sequence failed earlier. */
async function take(count: number, options: FollowOptions = {}): Promise<{ ids: number[]; error?: unknown }> {
  const ids: number[] = [];
  try {
    for await (const item of client.events(options)) {
      ids.push(item.subject.id);
      if (ids.length === count) break;
    }
  } catch (error) {
    return { ids, error };
  }
  return { ids };
}

describe('client.events (V8)', () => {
  it('continues after the last cursor, across lost connections, busy servers and empty responses', async () => {
    answers = [page(1, 2), cut, json(503, { detail: 'away' }), json(429, { detail: 'busy' }), page(), page(3), page(4)];
    expect((await take(4)).ids).toEqual([1, 2, 3, 4]);
    expect(asked.map((query) => query.get('after'))).toEqual([null, 'c2', 'c2', 'c2', 'c2', 'c0', 'c3']);
    expect(asked[0]?.get('wait')).toBe('25');
  });

  it('requests the selected event types from the specified start', async () => {
    answers = [page(1)];
    await take(1, {
      after: 'c9',
      types: ['person.*', 'note.created'],
      subject: { type: 'person', id: 7 },
      pageSize: 5,
      waitSeconds: 3,
    });
    expect(Object.fromEntries(asked[0] ?? [])).toEqual({
      after: 'c9',
      types: 'person.*,note.created',
      subject_type: 'person',
      subject_id: '7',
      limit: '5',
      wait: '3',
    });
  });

  it('starts at the current end of the feed, and requests `latest` only once', async () => {
    answers = [json(200, { items: [], next: 'now', has_more: false }), page(5)];
    expect((await take(1, { after: 'latest' })).ids).toEqual([5]);
    expect(asked.map((query) => query.get('after'))).toEqual(['latest', 'now']);
  });

  it.each([25, 0])('requests the next page immediately after an empty page with `has_more` (V4, V10); wait %d', async (waitSeconds) => {
    const early = (n: number): Answer => json(200, { items: [], next: `early${n}`, has_more: true });
    answers = [...Array.from({ length: 50 }, (_, n) => early(n)), page(1), early(50), early(51), page(2)];
    const startedMs = performance.now();
    const patient = { firstDelayMs: 10_000, maxDelayMs: 10_000 };
    expect((await take(2, { after: 'begin', waitSeconds, retry: patient })).ids).toEqual([1, 2]);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    const cursors = asked.map((query) => query.get('after'));
    expect(cursors).toEqual(['begin', ...Array.from({ length: 50 }, (_, n) => `early${n}`), 'c1', 'early50', 'early51']);
  });

  it('delays a request with an unchanged cursor, even if the server reports more events', async () => {
    answers = [json(200, { items: [], next: 'same', has_more: true })];
    const ending = new AbortController();
    const taking = take(1, { after: 'same', signal: ending.signal, retry: { firstDelayMs: 10_000, maxDelayMs: 10_000 } });
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 200));
    ending.abort(new Error('enough'));
    await taking;
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['a date', new Date(Date.now() + 600_000).toUTCString()],
    ['longer than a timer holds', '99999999999'],
    ['nothing that can be read', 'soon'],
  ])('waits before the next request when Retry-After is %s', async (_name, text) => {
    answers = [(_request, response) => response.writeHead(503, { 'retry-after': text }).end()];
    const ending = new AbortController();
    const taking = take(1, { signal: ending.signal, retry: { firstDelayMs: 10_000, maxDelayMs: 10_000 } });
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 200));
    ending.abort(new Error('enough'));
    await taking;
    expect(asked).toHaveLength(1);
  });

  it.each([400, 401, 403])('fails when the server rejects the request with %d', async (status) => {
    answers = [page(1), json(status, { detail: 'no' })];
    const { ids, error } = await take(9);
    expect(ids).toEqual([1]);
    expect(error).toMatchObject({ name: 'ApiError', status });
  });

  it('fails with 410, unless the caller resynchronises: then it restarts at the oldest event', async () => {
    const gone = json(410, { code: 'cursor_expired', message: 'gone', retryable: false });
    answers = [gone];
    expect((await take(1, { after: 'old' })).error).toMatchObject({ status: 410 });
    answers = [gone, page(8)];
    asked.length = 0;
    const told: unknown[] = [];
    const { ids } = await take(1, {
      after: 'old',
      onExpired: (error) => {
        told.push(error);
      },
    });
    expect([ids, told]).toEqual([[8], [expect.any(ApiError)]]);
    expect(asked.map((query) => query.get('after'))).toEqual(['old', null]);
  });

  it('ends when the caller’s signal aborts, also during a delay', async () => {
    answers = [() => undefined];
    const ending = new AbortController();
    const taking = take(1, { signal: ending.signal });
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    ending.abort(new Error('enough'));
    expect((await taking).error).toEqual(new Error('enough'));
  });
});
