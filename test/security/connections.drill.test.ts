/** Connections that are numerous, silent, slow, or use much memory (OWASP API4 and API8:2023; D62, D73). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { sized } from '../drill.ts';
import { applyDemo, createConversation, type TestPlatform } from '../e2e/test-platform.ts';
import {
  countRefused,
  head,
  measureOther,
  openWire,
  readCost,
  readMetric,
  statusesOf,
  type Wire,
  startTarget,
} from './attacker.ts';

const mebibyte = 1_048_576;

let platform: TestPlatform;
let conversation: string;
let user: string;
const wires: Wire[] = [];
beforeAll(async () => {
  platform = await startTarget(
    import.meta.url,
    {},
    { services: ['api-gateway', 'conversations', 'directory', 'media'] },
  );
  const demo = await applyDemo(platform, 'wires');
  conversation = `/api/coherence/conversations/${(await createConversation(platform, demo)).id}`;
  user = await platform.login('ada-wires@example.org', 'secret-of-ada-wires');
});
afterAll(async () => {
  for (const wire of wires) wire.hangUp();
  await platform.stop();
});

const open = async (text = ''): Promise<Wire> => {
  const wire = await openWire(platform, text);
  wires.push(wire);
  return wire;
};
const authorization = () => ({ Authorization: `Bearer ${platform.sharedToken}` });

describe('request headers', () => {
  it.each([
    ['one of 20 KB', { 'X-Long': 'a'.repeat(20_000) }],
    ['two thousand', Object.fromEntries(Array.from({ length: 2_000 }, (_value, index) => [`X-${index}`, 'abcdef']))],
    ['a path of 20 KB', undefined],
  ])('returns 431 for too large request headers: %s', async (_name, headers) => {
    const path = headers === undefined ? `/${'p'.repeat(20_000)}` : '/api/v1/people';
    const wire = await open(head('GET', path, headers));
    await wire.closed;
    expect([statusesOf(wire), wire.received.includes('{"detail":"Request header fields too large"}')]).toEqual([
      [431],
      true,
    ]);
  });

  it('logs a short line for a request with a very long path', async () => {
    const path = `/${'q'.repeat(15_000)}`;
    expect((await platform.call('GET', path)).status).toBe(404);
    const line = await waitFor(async () =>
      (await platform.readLogs()).split('\n').find((item) => item.includes('/qqqqqqqqqq')),
    );
    expect(line.length).toBeLessThan(2_000);
  });
});

/** Opened together before the first test: each has 15 seconds for its first request. */
const silentCount = sized({ smoke: 2_000, release: 10_000 });
const silent: Wire[] = [];
let endless: Wire;
let used: Wire;
let drip: NodeJS.Timeout;
const useAgain = () => head('GET', conversation, authorization());
afterAll(() => clearInterval(drip));

describe('connections that do not send a complete request', () => {
  it(`keep out no other client, ${silentCount} of them`, async () => {
    const before = await readCost(platform);
    endless = await open('GET / HTTP/1.1\r\nHost: x\r\n');
    drip = setInterval(() => endless.socket.write('X-A: b\r\n'), 500);
    used = await open(useAgain());
    await waitFor(() => statusesOf(used).length === 1);
    while (silent.length < silentCount) silent.push(...(await Promise.all(Array.from({ length: 200 }, () => open()))));
    await measureOther(platform, conversation);
    expect(silent.at(-1)?.isClosed).toBe(false);
    expect((await readCost(platform)).residentBytes - before.residentBytes).toBeLessThan(300 * mebibyte);
  });
});

describe('pipelined requests', () => {
  it('answers a few of 5,000 pipelined requests, and closes the connection', async () => {
    const before = await countRefused(platform, 'pipelining');
    const wire = await open(head('GET', conversation, authorization()).repeat(5_000));
    await measureOther(platform, conversation);
    await wire.closed;
    const statuses = statusesOf(wire);
    expect([statuses.length, statuses.at(-1)]).toEqual([17, 503]);
    expect(await countRefused(platform, 'pipelining')).toBe(before + 1);
  });

  it('answers a few pipelined requests in order', async () => {
    const requests = [conversation, '/nowhere', conversation]
      .map((path) => head('GET', path, authorization()))
      .join('');
    const wire = await open(requests);
    await waitFor(() => statusesOf(wire).length === 3);
    expect(statusesOf(wire)).toEqual([200, 404, 200]);
  });
});

describe('responses that clients do not read', () => {
  it('uses little memory and no slots while 20 clients do not read their responses', async () => {
    const infos = { text: 'x'.repeat(900_000) };
    expect((await platform.call('PATCH', conversation, { json: { infos } })).status).toBe(200);
    const before = await readCost(platform);
    const greedy: Wire[] = [];
    const openGreedy = async (): Promise<void> => {
      const wire = await open();
      greedy.push(wire);
      wire.socket.pause();
      wire.send(head('GET', conversation, authorization()).repeat(16));
    };
    await Promise.all(Array.from({ length: 20 }, openGreedy));
    await measureOther(platform, '/api/openapi.json');
    // Returns whether the gateway has aborted enough responses to free memory. Data in kernel buffers does not count.
    // An overloaded gateway rejects further requests with 503, so more are sent.
    const isFull = async (): Promise<boolean> => (await countRefused(platform, 'no_room_for_answer')) > 0;
    for (let more = 0; more < 30 && !(await waitFor(isFull, { timeoutMs: 5_000 }).catch(() => false)); more++)
      await openGreedy();
    expect(await isFull()).toBe(true);
    await waitFor(async () => (await readCost(platform)).residentBytes - before.residentBytes < 400 * mebibyte);
    // The queued requests are processed first; then other clients are served again.
    await waitFor(() => measureOther(platform, conversation));
    for (const wire of greedy) wire.hangUp();
  });
});

describe('connections without a complete request within 15 seconds', () => {
  it('closes connections that send nothing within 15 seconds', async () => {
    await Promise.all(silent.map((wire) => wire.closed));
    expect(silent.every((wire) => wire.received === '')).toBe(true);
  });

  it('returns 408 when the headers of a request never end', async () => {
    await endless.closed;
    expect(statusesOf(endless)).toEqual([408]);
  });

  it('keeps a connection open for another request after a completed one', async () => {
    await Promise.all(silent.map((wire) => wire.closed));
    used.send(useAgain());
    await waitFor(() => statusesOf(used).length === 2);
    expect([statusesOf(used), used.isClosed]).toEqual([[200, 200], false]);
  });
});

describe('slow and aborted uploads', () => {
  /** Maximum concurrent transfers of the media service. */
  const places = 16;
  const boundary = '--b\r\nContent-Disposition: form-data; name="audio"; filename="slow.mp3"\r\n\r\n';
  const begin = (): Promise<Wire> => {
    const type = { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Length': 1_000_000 };
    return open(head('POST', `${conversation}/audio`, { Authorization: `Bearer ${user}`, ...type }) + boundary);
  };
  const countUploads = (): Promise<number> => readMetric(platform, 'media', 'coherence_media_uploads_running');
  const upload = async (): Promise<number> => {
    const body = new FormData();
    body.append('audio', new Blob(['talk']), 'talk.mp3');
    return (await platform.call('POST', `${conversation}/audio`, { token: user, body })).status;
  };

  it('ends slow uploads with 408 while they are forwarded, and releases their slots', async () => {
    const before = await countRefused(platform, 'body_too_slow');
    const slow = await Promise.all(Array.from({ length: places }, begin));
    const drip = setInterval(() => slow.forEach((wire) => wire.send('x'.repeat(20))), 500);
    try {
      await waitFor(async () => (await countUploads()) === places);
      expect(await upload()).toBe(503);
      await Promise.all(slow.map((wire) => wire.closed));
    } finally {
      clearInterval(drip);
    }
    expect(slow.map((wire) => statusesOf(wire))).toEqual(Array.from({ length: places }, () => [408]));
    expect(slow[0]?.received).toContain('{"detail":"The request body did not arrive in time"}');
    expect(await countRefused(platform, 'body_too_slow')).toBe(before + places);
    await waitFor(async () => (await upload()) === 201);
  });

  it('releases the slots of uploads whose clients disconnect at any time', async () => {
    for (let attempt = 0; attempt < 4 * places; attempt++) {
      const wire = await begin();
      await new Promise((resolve) => setTimeout(resolve, attempt % 16));
      wire.hangUp();
    }
    await waitFor(async () => (await countUploads()) === 0);
    expect(await upload()).toBe(201);
  });
});

describe('response headers (D73)', () => {
  const nosniff = 'nosniff';
  const cases: [
    string,
    string,
    { token?: string | null; method?: string; body?: string; headers?: Record<string, string> },
  ][] = [
    ['a read', 'CONVERSATION', {}],
    ['a read of what is known already', 'CONVERSATION', { headers: { 'if-none-match': '*' } }],
    ['a refused credential', 'CONVERSATION', { token: null }],
    ['an unknown path behind a credential', '/api/coherence/conversations/0', {}],
    ['a body that is none', 'CONVERSATION', { method: 'PATCH', body: '{' }],
    ['v1', '/api/v1/auth/whoami', { token: 'USER' }],
    ['v1 without rights', '/api/v1/auth/whoami', {}],
    ['a failed login', '/api/v1/auth/login', { method: 'POST', token: null, body: '{}' }],
    ['the audio of a conversation', 'CONVERSATION/audio', {}],
  ];
  const send = (path: string, { token, method = 'GET', body, headers = {} }: (typeof cases)[number][2]) =>
    platform.call(method, path.replace('CONVERSATION', conversation), {
      ...(token === undefined ? {} : { token: token === 'USER' ? user : token }),
      ...(body === undefined ? {} : { body }),
      headers,
    });

  it.each(cases)('prevents caching of %s', async (_name, path, call) => {
    const { headers } = await send(path, call);
    expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', nosniff]);
  });

  it('prevents caching of a login response', async () => {
    const { status, headers } = await platform.call('POST', '/api/v1/auth/login', {
      token: null,
      headers: { 'x-svc-api-key': platform.loginSecret },
      json: { email: 'ada-wires@example.org', password: 'secret-of-ada-wires' },
    });
    expect([status, headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
      200,
      'no-store',
      nosniff,
    ]);
  });

  it('allows clients to revalidate a conversation with its ETag', async () => {
    const etag = (await platform.call('GET', conversation)).headers.get('etag') ?? '';
    expect((await platform.call('GET', conversation, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  it.each([
    '/api/openapi.json',
    '/api/docs',
    '/api/docs/assets/start.js',
    '/media/none',
    '/nowhere',
    '/api/nowhere',
    '/api/v1/nowhere',
  ])('prevents type sniffing for %s, and allows caching only of successful responses', async (path) => {
    const { status, headers } = await platform.call('GET', path, { token: null });
    expect(headers.get('x-content-type-options')).toBe(nosniff);
    expect(headers.get('cache-control') === 'no-store').toBe(status >= 400);
  });

  it('sends X-Content-Type-Options with responses to malformed requests', async () => {
    const wire = await open('NO HTTP\r\n\r\n');
    await wire.closed;
    expect(wire.received).toMatch(/^HTTP\/1\.1 400 [\s\S]*X-Content-Type-Options: nosniff/i);
  });
});
