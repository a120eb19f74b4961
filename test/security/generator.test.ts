/**
 * Every documented operation under requests that are large in every dimension (OWASP API4:2023; D60): whatever it answers is small when it
 * refuses, nothing stays behind, and others do not notice. `GENERATOR_REQUESTS=Infinity` sends all of them, hours of it.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/testing';
import { buildDocuments } from '../../services/api-gateway/documents.ts';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { type DocumentedOperation, listOperations } from '../e2e/contract/served-documents.ts';
import { applyDemo, createConversation, startWorld, type Answer, type World } from '../e2e/world.ts';
import { measureOther, readCost } from './attacker.ts';
import { type LargeRequest, largeRequests } from './generator.ts';

/** Requests for each operation. */
const maxRequests = Number(process.env['GENERATOR_REQUESTS'] ?? 16);
const maxErrorBytes = 65_536;
const maxHeapGrowth = 50 * 1_048_576;
/** Time of another client's request, and the same as a multiple of what it takes when nothing else happens. */
const maxOtherMs = 1_000;
const maxOtherRatio = 50;
const operations = listOperations(Object.values(buildDocuments(routes)));

let world: World;
let other: string;
let userToken: string;
let quietMs: number;
const worst = { answer: { bytes: 0, name: '' }, other: { ms: 0, name: '' }, heap: { bytes: 0, name: '' } };
beforeAll(async () => {
  const services = ['api-gateway', 'conversations', 'directory', 'transcripts', 'media', 'agents'];
  world = await startWorld(
    import.meta.url,
    { ALLOW_UNSIGNED_WEBHOOKS: 'true', RATE_LIMIT_LOGIN_PER_MINUTE: '0' },
    { services, examples: false },
  );
  const demo = await applyDemo(world, 'large');
  await world.apply({ agents: [{ slug: 'x', name: 'X', prompt: 'You are X.' }] });
  // Parameters of small requests are 1: the conversation, people and holons with that id are there.
  other = `/api/coherence/conversations/${(await createConversation(world, demo)).id}`;
  userToken = await world.login('root-large@example.org', 'pw-root-large');
  const quiet: number[] = [];
  for (let turn = 0; turn < 10; turn++) quiet.push(await measureOther(world, other));
  quietMs = quiet.toSorted((left, right) => left - right)[5] ?? 0;
});
afterAll(async () => {
  console.log(JSON.stringify({ quietMs: Math.round(quietMs), ...worst }));
  await world.stop();
});

function send({ method, id, security }: DocumentedOperation, { path, headers, body }: LargeRequest): Promise<Answer> {
  const schemes = new Set(security.flatMap((entry) => Object.keys(entry)));
  const token = schemes.has('userToken') && id !== 'logout' ? userToken : schemes.has('sharedToken') ? world.sharedToken : null;
  const gate = schemes.has('loginGate') ? { 'x-svc-api-key': world.loginSecret } : {};
  return world.call(method, path, { token, headers: { ...headers, ...gate }, ...(body === undefined ? {} : { body: body() }) });
}

/** Some of them, from everywhere in the list, the same in each run. */
function choose(all: readonly LargeRequest[]): readonly LargeRequest[] {
  const step = Math.max(1, all.length / maxRequests);
  return Array.from(
    { length: Math.min(all.length, Math.ceil(all.length / step)) },
    (_value, index) => all[Math.trunc(index * step)],
  ).filter((request) => request !== undefined);
}

/** The longest that another client waited while an attack was under way. */
async function watchOthers(attack: Promise<unknown>): Promise<number> {
  const state = { isOver: false };
  void attack.finally(() => (state.isOver = true)).catch(() => undefined);
  let longest = 0;
  do longest = Math.max(longest, await measureOther(world, other));
  while (!state.isOver);
  return longest;
}

describe('large requests (D60)', () => {
  it.each(operations)('$id answers them in few bytes, keeps nothing of them, and others do not notice', async (operation) => {
    const before = await readCost(world);
    for (const request of choose([...largeRequests(operation)])) {
      const attack = send(operation, request);
      const [answer, otherMs] = await Promise.all([attack, watchOthers(attack)]);
      const bytes = Buffer.byteLength(answer.text);
      const name = `${operation.id}: ${request.name}`;
      expect([name, answer.status === 500]).toEqual([name, false]);
      if (answer.status >= 400) expect([name, bytes <= maxErrorBytes ? 'small' : bytes]).toEqual([name, 'small']);
      expect([name, otherMs < Math.max(maxOtherMs, maxOtherRatio * quietMs) ? 'in time' : otherMs]).toEqual([name, 'in time']);
      if (answer.status >= 400 && bytes > worst.answer.bytes) worst.answer = { bytes, name };
      if (otherMs > worst.other.ms) worst.other = { ms: Math.round(otherMs), name };
      await waitFor(
        async () => {
          const grown = (await readCost(world)).heapBytes - before.heapBytes;
          if (grown > worst.heap.bytes && grown <= maxHeapGrowth) worst.heap = { bytes: grown, name };
          return grown <= maxHeapGrowth;
        },
        { what: `the heap to shrink after ${name}`, intervalMs: 200 },
      );
    }
  });
});
