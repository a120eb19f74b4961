/**
 * Sends requests that are large in one respect to every documented operation (OWASP API4:2023; D60). Rejections are
 * small, memory is released, and other clients are not affected. `LARGE_REQUESTS=all` tests each type of large value at
 * each position, which takes hours.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import type { DocumentedOperation } from '../e2e/contract/served-documents.ts';
import { applyDemo, createConversation, type Answer, type TestPlatform } from '../e2e/test-platform.ts';
import { sized } from '../drill.ts';
import { measureOther, readCost, startTarget } from './attacker.ts';
import { type LargeRequest, largeRequests } from './generator.ts';
import { attackedOperations } from './operations.ts';

const maxErrorBytes = 65_536;
const mebibyte = 1_048_576;
/** Maximum memory retained after a request. */
const maxHeapGrowth = 50 * mebibyte;
/** Maximum heap growth during a request, including garbage: the gateway's container has 512 MiB in total. */
const maxPeakGrowth = 256 * mebibyte;
/**
 * Maximum latency of another client. On a busy machine, a multiple of the time to parse 4 MiB, measured at the same
 * time.
 */
const maxOtherMs = 1_000;
const maxOtherParses = 8;
/** Minimum interval between heap readings, because each one renders all metrics. */
const heapEveryMs = 25;
/** A longer latency counts only if it occurs in several tries. */
const tries = 3;
const operations = attackedOperations;

interface Worst {
  answerBytes: number;
  heapBytes: number;
  peakBytes: number;
  otherMs: number;
  otherName: string;
}

let platform: TestPlatform;
let other: string;
let userToken: string;
let heapAtStart: number;
const worst = new Map<string, Worst>();
beforeAll(async () => {
  const services = ['api-gateway', 'conversations', 'directory', 'transcripts', 'media', 'agents', 'events'];
  const limits = {
    RATE_LIMIT_LOGIN_PER_MINUTE: '0',
    RATE_LIMIT_CHAT_PER_MINUTE: '0',
    RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE: '0',
  };
  platform = await startTarget(import.meta.url, { ALLOW_UNSIGNED_WEBHOOKS: 'true', ...limits }, { services });
  const demo = await applyDemo(platform, 'large');
  await platform.apply({ agents: [{ slug: 'x', name: 'X', prompt: 'You are X.' }] });
  // Ids in small requests are 1: a conversation, people and holons with that id exist.
  await createConversation(platform, demo);
  other = `/api/coherence/conversations/${(await createConversation(platform, demo, '2031-01-01T10:00:00Z')).id}`;
  userToken = await platform.login('root-large@example.org', 'secret-of-root-large');
  heapAtStart = (await readCost(platform)).heapBytes;
});
afterAll(async () => {
  console.log(describeWorst());
  await platform.stop();
});

function describeWorst(): string {
  const rows = [...worst].map(([id, { answerBytes, heapBytes, peakBytes, otherMs, otherName }]) =>
    [
      id.padEnd(28),
      String(answerBytes).padStart(8),
      (heapBytes / mebibyte).toFixed(1).padStart(8),
      (peakBytes / mebibyte).toFixed(1).padStart(8),
      otherMs.toFixed(0).padStart(8),
      otherName,
    ].join('  '),
  );
  const heads = ['operation'.padEnd(28), ' refusal', '    heap', '    peak', '   other', 'longest wait with'].join(
    '  ',
  );
  return [heads, `${''.padEnd(28)}     bytes       MiB       MiB        ms`, ...rows].join('\n');
}

function send({ method, id, security }: DocumentedOperation, { path, headers, body }: LargeRequest): Promise<Answer> {
  const schemes = new Set(security.flatMap((entry) => Object.keys(entry)));
  // A logout would end the shared session, so this session's token is not used for it.
  const token =
    schemes.has('userToken') && id !== 'logout' ? userToken : schemes.has('sharedToken') ? platform.sharedToken : null;
  const gate = schemes.has('loginGate') ? { 'x-svc-api-key': platform.loginSecret } : {};
  return platform.call(method, path, {
    token,
    headers: { ...headers, ...gate },
    ...(body === undefined ? {} : { body: body() }),
  });
}

/**
 * Tests one in this many dimensions of each operation, because a body has several megabytes. Neighbouring operations
 * test the other dimensions.
 */
const everyBody = sized({ smoke: 32, release: 2 });
const everyParameter = sized({ smoke: 8, release: 1 });

/** Returns one request per dimension, at different positions of the body. */
function choose(operation: DocumentedOperation): readonly LargeRequest[] {
  const all = [...largeRequests(operation)];
  if (process.env['LARGE_REQUESTS'] === 'all') return all;
  const turn = operations.indexOf(operation);
  const groups = [...Map.groupBy(all, ({ dimension }) => dimension).values()];
  return groups
    .flatMap((group, index) => group[index % group.length] ?? [])
    .filter(({ body }, index) => (turn + index) % (body === undefined ? everyParameter : everyBody) === 0);
}

/**
 * Returns the maximum latency of another client and the maximum heap of the gateway during an attack. The heap is read
 * right after a few milliseconds of gateway work, before garbage collection.
 */
async function watchOthers(attack: Promise<unknown>): Promise<{ otherMs: number; heapBytes: number }> {
  const state = { isOver: false };
  const end = (): boolean => (state.isOver = true);
  void attack.then(end, end);
  const most = { otherMs: 0, heapBytes: 0 };
  let lookedAt = 0;
  do {
    most.otherMs = Math.max(most.otherMs, await measureOther(platform, other));
    if (!state.isOver && performance.now() - lookedAt < heapEveryMs) continue;
    most.heapBytes = Math.max(most.heapBytes, (await readCost(platform)).heapBytes);
    lookedAt = performance.now();
  } while (!state.isOver);
  return most;
}

const manyFields = `{${Array.from({ length: 380_000 }, (_value, index) => `"k${index}":1`).join(',')}}`;

/** Returns the latency that another client may have now. */
function measureAllowance(): number {
  const startedAt = performance.now();
  JSON.parse(manyFields);
  return Math.max(maxOtherMs, maxOtherParses * (performance.now() - startedAt));
}

describe('large requests (D60)', () => {
  it.each(operations)(
    '$id answers large requests with few bytes and little memory, stores nothing, and does not delay other callers',
    async (operation) => {
      const { heapBytes: before } = await readCost(platform);
      const found: Worst = { answerBytes: 0, heapBytes: 0, peakBytes: 0, otherMs: 0, otherName: '' };
      worst.set(operation.id, found);
      for (const request of choose(operation)) {
        const name = `${request.dimension} at ${request.place}`;
        for (let left = tries; left > 0; left--) {
          const attack = send(operation, request);
          const [answer, { otherMs, heapBytes }] = await Promise.all([attack, watchOthers(attack)]);
          found.peakBytes = Math.max(found.peakBytes, heapBytes - before);
          const bytes = Buffer.byteLength(answer.text);
          expect([name, answer.status === 500]).toEqual([name, false]);
          expect([name, heapBytes - before <= maxPeakGrowth ? 'little' : heapBytes - before]).toEqual([name, 'little']);
          if (answer.status >= 400) {
            expect([name, bytes <= maxErrorBytes ? 'small' : bytes]).toEqual([name, 'small']);
            found.answerBytes = Math.max(found.answerBytes, bytes);
          }
          const isInTime = otherMs <= maxOtherMs || otherMs <= measureAllowance();
          if (!isInTime && left > 1) continue;
          if (otherMs > found.otherMs) Object.assign(found, { otherMs, otherName: name });
          expect([name, isInTime ? 'in time' : otherMs]).toEqual([name, 'in time']);
          break;
        }
        await waitFor(
          async () => {
            const grown = (await readCost(platform)).heapBytes - before;
            if (grown > maxHeapGrowth) return false;
            found.heapBytes = Math.max(found.heapBytes, grown);
            return true;
          },
          { what: `the heap to shrink after ${name}`, intervalMs: 200 },
        );
      }
    },
  );

  it('releases the memory of all large requests', async () => {
    await waitFor(async () => (await readCost(platform)).heapBytes - heapAtStart <= maxHeapGrowth);
  });
});
