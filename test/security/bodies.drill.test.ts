/**
 * Expensive bodies: small ones that expand, large ones that take long, and ones that never arrive (OWASP API4:2023;
 * D60, D61, D62, D77).
 */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { sized } from '../drill.ts';
import { applyDemo, createConversation, type Answer, type Demo, type TestPlatform } from '../e2e/test-platform.ts';
import {
  countRefused,
  head,
  measureOther,
  measureParsing,
  openWire,
  readCost,
  statusesOf,
  type Wire,
  startTarget,
} from './attacker.ts';

const maxErrorBytes = 65_536;
const mebibyte = 1_048_576;
const fourMebibytes = 4 * mebibyte;
const chat = '/api/chat/guide/message/';
const hook = '/api/coherence/hook/booking/1';

let platform: TestPlatform;
let demo: Demo;
let conversation: string;
let superuser: string;
const wires: Wire[] = [];
beforeAll(async () => {
  const services = ['api-gateway', 'conversations', 'directory', 'agents'];
  platform = await startTarget(import.meta.url, { ALLOW_UNSIGNED_WEBHOOKS: 'true' }, { services });
  demo = await applyDemo(platform, 'bodies');
  await platform.apply({ agents: [{ slug: 'guide', name: 'Guide', prompt: 'You are the guide.' }] });
  conversation = `/api/coherence/conversations/${(await createConversation(platform, demo)).id}`;
  superuser = await platform.login('root-bodies@example.org', 'secret-of-root-bodies');
  await measureOther(platform, conversation);
});
afterAll(async () => {
  for (const wire of wires) wire.hangUp();
  await platform.stop();
});

const open = async (text: string): Promise<Wire> => {
  const wire = await openWire(platform, text);
  wires.push(wire);
  return wire;
};
/**
 * Starts requests with bodies of 100 kB of which only `start` is sent. Resolves when the gateway processes all of them,
 * i.e. has sent `100 Continue`.
 */
const beginMany = async (
  count: number,
  path: string,
  headers: Record<string, string> = {},
  start = '{',
): Promise<Wire[]> => {
  const method = path === conversation ? 'PATCH' : 'POST';
  const text = head(method, path, { 'Content-Length': 100_000, Expect: '100-continue', ...headers });
  const begun = await Promise.all(Array.from({ length: count }, () => open(text)));
  await waitFor(() => begun.every((wire) => wire.received.startsWith('HTTP/1.1 100 ')));
  for (const wire of begun) wire.send(start);
  return begun;
};
/** Checks that no request has a final response and that all connections are open. */
const expectUnanswered = (begun: readonly Wire[]): void =>
  expect(begun.filter((wire) => wire.isClosed || statusesOf(wire).some((status) => status >= 200))).toEqual([]);
/** Returns a body of the maximum size: `start`, as many copies of `item` as fit, and `end`. */
const fill = (start: string, item: string, end: string): string => {
  const count = Math.floor((fourMebibytes - start.length - end.length) / (item.length + 1));
  return `${start}${Array.from({ length: count }, () => item).join(',')}${end}`;
};

/** Returns the response to an attack, after checking that the gateway survived and serves other clients as before. */
async function survive(attack: () => Promise<Answer>): Promise<Answer & { cpuMs: number }> {
  const before = await readCost(platform);
  const answer = await attack();
  const cpuMs = (await readCost(platform)).cpuMs - before.cpuMs;
  await measureOther(platform, conversation);
  await waitFor(async () => (await readCost(platform)).heapBytes - before.heapBytes < 50 * mebibyte, {
    what: 'the heap to shrink again',
  });
  if (answer.status >= 400) expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(maxErrorBytes);
  return { ...answer, cpuMs };
}

/** Maximum CPU time of the gateway per body, as a multiple of the parsing time here. One pass per item exceeds it. */
const maxTimesParsed = 200;

describe('small bodies that cause large responses', () => {
  /** A body with many invalid values below a long key; an error message per value would repeat the key. */
  const bomb = `{"${'k'.repeat(50_000)}":[${Array.from({ length: 50_000 }, () => String.raw`"\u0000"`).join(',')}]}`;

  it('returns 415 for an anonymous gzipped body of a few hundred bytes without reading it', async () => {
    const body = gzipSync(bomb, { level: 9 });
    expect(body.length).toBeLessThan(1_000);
    const before = await countRefused(platform, 'content_encoding');
    const answer = await survive(() =>
      platform.call('POST', chat, { token: null, body, headers: { 'content-encoding': 'gzip' } }),
    );
    expect([answer.status, answer.json]).toEqual([415, { detail: expect.any(String) }]);
    expect(await countRefused(platform, 'content_encoding')).toBe(before + 1);
  });

  it('returns two problems with shortened names for the same body of a few hundred bytes, uncompressed', async () => {
    const answer = await survive(() => platform.call('POST', chat, { token: null, body: bomb }));
    expect([answer.status, answer.json.detail.length]).toEqual([422, 2]);
    expect(answer.json.detail[1].loc).toEqual(['body', 'payload', 'k'.repeat(120), 0]);
  });

  it('returns fifty problems for 400,000 invalid participants', async () => {
    const body = `{"participants":[${Array.from({ length: 400_000 }, () => 1).join(',')}]}`;
    const answer = await survive(() => platform.call('POST', `${conversation}/enter-coherence`, { body }));
    expect([answer.status, answer.json.detail.length]).toEqual([422, 50]);
  });

  it('does not repeat a slug of 4 MiB in the responses for 500 items', async () => {
    const memberships = Array.from({ length: 500 }, () => ({ person_id: demo.ada }));
    const path = `/api/v1/holons/${demo.event}/memberships:bulk-add`;
    const json = { memberships, journey_slug: 's'.repeat(fourMebibytes - 50_000) };
    expect((await survive(() => platform.call('POST', path, { token: superuser, json }))).status).toBe(422);
  });

  it('truncates a slug of 3 MiB in the error message that quotes it', async () => {
    const json = { name: 'x', membership: { holon_id: demo.event, journey_slug: 's'.repeat(3_000_000) } };
    const answer = await survive(() => platform.call('POST', '/api/v1/people', { token: superuser, json }));
    expect(answer.status).toBe(400);
    expect(answer.text.length).toBeLessThan(1_000);
  });
});

describe('bodies that are expensive to process', () => {
  const room = async (body: string): Promise<Answer> => {
    const answer = await survive(() => platform.call('POST', `${conversation}/enter-coherence`, { body }));
    expect(answer.cpuMs).toBeLessThan(maxTimesParsed * measureParsing(body));
    return answer;
  };

  it('rejects 3,000 invalid participants quickly', async () => {
    const participants = Array.from({ length: 3_000 }, () => ({
      customParticipantId: 1,
      personId: 'x',
      displayName: 2,
      assignedAt: 'y',
    }));
    const answer = await room(JSON.stringify({ participants }));
    expect([answer.status, answer.json.detail.length]).toEqual([422, 50]);
  });

  it.each([
    ['digits, nearly enough of them to be looked at', fill('{"body":"","x":[', '1'.repeat(499), ']}')],
    ['small objects behind one long number', fill('{"body":"","x":[1e400,', '{}', ']}')],
    ['long numbers', fill('{"body":"","x":[', '1e9', ']}')],
    ['empty lists', fill('{"body":"","x":[', '[]', ']}')],
    [
      'undeclared fields',
      `{"body":"",${Array.from({ length: 300_000 }, (_value, index) => `"x${index}":1`).join(',')}}`,
    ],
  ])('does not block the gateway with an anonymous body of %s', async (_name, body) => {
    expect(body.length).toBeLessThanOrEqual(fourMebibytes);
    const answer = await survive(() => platform.call('POST', chat, { token: null, body }));
    // The body contains an empty message.
    expect(answer.status).toBe(400);
    expect(answer.cpuMs).toBeLessThan(maxTimesParsed * measureParsing(body));
  });

  it('merges 100,000 participants in one pass, and rejects them because the conversation becomes too large', async () => {
    const given = Array.from({ length: 100_000 }, (_value, index) => `{"customParticipantId":"p${index}"}`);
    const answer = await room(`{"participants":[${given.join(',')}]}`);
    expect([answer.status, answer.json]).toEqual([
      413,
      expect.objectContaining({ error: 'conversation_data_too_large' }),
    ]);
  });

  it('reads numbers with a fraction of zero in a single pass', async () => {
    const participant = (index: number): string => `{"customParticipantId":"p${index}","personId":1.0,"displayName":7}`;
    const answer = await room(
      `{"participants":[${Array.from({ length: 50_000 }, (_value, index) => participant(index)).join(',')}]}`,
    );
    expect([answer.status, answer.json.detail.length]).toEqual([422, 50]);
  });

  it('uses memory in proportion to the body when megabytes are sent in chunks of one byte', async () => {
    const megabytes = sized({ smoke: 1, release: 4 });
    const before = await readCost(platform);
    const wire = await open(head('POST', chat, { 'Transfer-Encoding': 'chunked' }));
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(100_000));
    for (let part = 0; part < 10 * megabytes && !wire.socket.destroyed; part++) {
      if (!wire.socket.write(chunks))
        await Promise.race([new Promise((resolve) => wire.socket.once('drain', resolve)), wire.closed]);
    }
    expect((await readCost(platform)).heapBytes - before.heapBytes).toBeLessThan(
      50 * mebibyte + megabytes * 25 * mebibyte,
    );
    if (!wire.socket.destroyed) wire.send('0\r\n\r\n');
    // A slow machine does not read four million chunks within half a minute and returns 408.
    await waitFor(() => [400, 408].includes(statusesOf(wire)[0] ?? 0));
  });
});

describe('bodies that are never sent', () => {
  const large = { infos: { text: 'x'.repeat(100_000) } };
  const patchLarge = () => platform.call('PATCH', conversation, { json: large });
  const postHook = (size: number) =>
    platform.call('POST', hook, { token: null, body: JSON.stringify({ text: 'x'.repeat(size) }) });

  it('does not delay a large write of another caller while 70 anonymous clients never send their bodies', async () => {
    const slow = await beginMany(70, chat);
    expect((await patchLarge()).status).toBe(200);
    expectUnanswered(slow);
    for (const wire of slow) wire.hangUp();
  });

  it('does not delay another caller while 70 callers never send their bodies', async () => {
    const slow = await beginMany(
      70,
      conversation,
      { Authorization: `Bearer ${platform.sharedToken}` },
      'x'.repeat(70_000),
    );
    expect((await patchLarge()).status).toBe(200);
    expectUnanswered(slow);
    for (const wire of slow) wire.hangUp();
  });

  it('does not delay another webhook while 70 webhook bodies are never sent', async () => {
    const slow = await beginMany(70, hook);
    expect((await postHook(100_000)).status).toBe(200);
    expectUnanswered(slow);
    for (const wire of slow) wire.hangUp();
  });

  it('accepts large webhooks after 140 clients of unsent webhook bodies disconnect', async () => {
    const first = await beginMany(70, hook);
    const later = await beginMany(70, hook);
    // Clients that wait for a slot disconnect first, before a slot is free.
    for (const begun of [later, first]) {
      for (const wire of begun) wire.hangUp();
      await Promise.all(begun.map((wire) => wire.closed));
      await measureOther(platform, conversation);
    }
    expect((await postHook(100_000)).status).toBe(200);
  });

  it('keeps slots for other callers, including anonymous ones, during 1,100 requests whose bodies are never sent', async () => {
    const begun = await beginMany(1_100, chat, { 'Content-Length': '100' });
    await measureOther(platform, conversation);
    expect((await patchLarge()).status).toBe(200);
    expect((await platform.call('POST', chat, { token: null, json: { body: '' } })).status).toBe(400);
    expect((await postHook(10)).status).toBe(200);
    for (const wire of begun) wire.hangUp();
  });

  it('reads the rest of a body after the response, even if the connection then ends', async () => {
    const piece = 'x'.repeat(262_144);
    const size = { 'Content-Length': 2 * fourMebibytes };
    for (const connection of ['close', 'keep-alive']) {
      const wire = await open(head('POST', '/api/v1/people', { ...size, Connection: connection }));
      await waitFor(() => statusesOf(wire).length > 0);
      for (let sent = 0; sent < 2 * fourMebibytes; sent += piece.length) {
        expect([connection, wire.isClosed]).toEqual([connection, false]);
        await new Promise<void>((resolve, reject) => {
          wire.socket.write(piece, (error) => (error ? reject(error) : resolve()));
        });
      }
      expect([statusesOf(wire), wire.received.includes('"code":')]).toEqual([[401], true]);
      if (connection === 'close') await wire.closed;
      else wire.hangUp();
    }
  });
});

/** Bodies at the minimum rate have half a minute: slow-bodies.release.test.ts. */
describe('bodies that are sent too slowly', () => {
  let before: number;
  let slow: Wire[];
  let unread: Wire;
  let steady: Wire;
  let drip: NodeJS.Timeout;
  beforeAll(async () => {
    before = await countRefused(platform, 'body_too_slow');
    const authorization = { Authorization: `Bearer ${platform.sharedToken}`, 'Content-Length': 60_000 };
    slow = await Promise.all([
      open(`${head('PATCH', conversation, authorization)}{`),
      open(`${head('POST', hook, { 'Content-Length': 60_000 })}{`),
      open(`${head('POST', chat, { 'Transfer-Encoding': 'chunked' })}1\r\n{\r\n`),
    ]);
    unread = await open(`${head('POST', '/api/v1/people', { 'Content-Length': fourMebibytes })}{`);
    steady = await open(`${head('PATCH', conversation, authorization)}{"infos":{"a":"`);
    drip = setInterval(() => {
      for (const wire of [unread, ...slow]) wire.socket.write(wire === slow[2] ? '1\r\n \r\n' : ' ');
      steady.socket.write('x'.repeat(400));
    }, 200);
  });
  afterAll(() => clearInterval(drip));

  it('returns 408 for a body that is sent too slowly, and closes the connection', async () => {
    await Promise.all(slow.map((wire) => wire.closed));
    expect(slow.map((wire) => [statusesOf(wire), wire.received.includes('{"detail":')])).toEqual(
      slow.map(() => [[408], true]),
    );
    expect([steady.isClosed, steady.received]).toEqual([false, '']);
    expect(await countRefused(platform, 'body_too_slow')).toBe(before + 3);
  });

  it('reads the rest of a slow body after the response for a limited time', async () => {
    await unread.closed;
    expect(statusesOf(unread)).toEqual([401]);
  });
});
