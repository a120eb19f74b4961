/**
 * Bodies that arrive at the minimum rate and never end, over real connections. libs/infrastructure/http/incoming.test.ts tests the
 * same limits with a fake clock (OWASP API4:2023; D62, D77).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, createConversation, type TestPlatform } from '../e2e/test-platform.ts';
import { countRefused, head, openWire, startTarget, statusesOf, type Wire } from './attacker.ts';

const least = 29_000;
let platform: TestPlatform;
/** All requests run in parallel, because each may take half a minute. */
let unread: Wire;
let unreadMs: Promise<number>;
let read: Wire[];
let before: number[];
let drip: NodeJS.Timeout;
let startedAt: number;
const countLate = () => Promise.all(['body_too_late', 'body_too_slow'].map((reason) => countRefused(platform, reason)));
beforeAll(async () => {
  const services = ['api-gateway', 'conversations', 'directory', 'agents'];
  platform = await startTarget(import.meta.url, { ALLOW_UNSIGNED_WEBHOOKS: 'true' }, { services });
  const conversation = `/api/coherence/conversations/${(await createConversation(platform, await applyDemo(platform, 'bodies'))).id}`;
  const size = { 'Content-Length': 500_000 };
  before = await countLate();
  unread = await openWire(platform, `${head('POST', '/api/v1/people', size)}{`);
  startedAt = performance.now();
  unreadMs = unread.closed.then(() => performance.now() - startedAt);
  read = await Promise.all([
    openWire(
      platform,
      `${head('PATCH', conversation, { Authorization: `Bearer ${platform.sharedToken}`, ...size })}{"infos":{"a":"`,
    ),
    openWire(platform, `${head('POST', '/api/coherence/hook/booking/1', size)}{"a":"`),
    openWire(
      platform,
      `${head('POST', '/api/chat/guide/message/', { 'Transfer-Encoding': 'chunked' })}a\r\n{"body":"x\r\n`,
    ),
  ]);
  const part = 'x'.repeat(0x320);
  drip = setInterval(() => {
    for (const wire of [unread, ...read]) wire.socket.write(wire === read[2] ? `320\r\n${part}\r\n` : part);
  }, 200);
});
afterAll(async () => {
  clearInterval(drip);
  for (const wire of [unread, ...read]) wire.hangUp();
  await platform.stop();
});

describe('bodies that keep the minimum pace and never end', () => {
  it('returns 408 half a minute after the start of an endless body, and closes the connection (D62)', async () => {
    const tookMs = await Promise.all(read.map((wire) => wire.closed.then(() => performance.now() - startedAt)));
    expect(read.map((wire) => [statusesOf(wire), wire.received.includes('{"detail":')])).toEqual(
      read.map(() => [[408], true]),
    );
    expect(Math.min(...tookMs)).toBeGreaterThan(least);
    const [late = 0, slow = 0] = before;
    expect(await countLate()).toEqual([late + 3, slow]);
  });

  it('reads the rest of an endless body after the response for only half a minute (D77)', async () => {
    expect(await unreadMs).toBeGreaterThan(least);
    expect(statusesOf(unread)).toEqual([401]);
  });
});
