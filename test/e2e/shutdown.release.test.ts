/** Services that are stopped, replaced and killed under load (rules/operations#promises). Two replicas of each. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ServedPlatform, services, startServedPlatform, workingServices } from './shutdown/served-platform.ts';
import type { TestPlatform } from './test-platform.ts';

const testTimeoutMs = 240_000;
const feed = ['/api/v1/events?limit=10'];

let served: ServedPlatform;
let platform: TestPlatform;
beforeAll(async () => {
  served = await startServedPlatform(import.meta.url);
  ({ platform } = served);
}, testTimeoutMs);
afterAll(() => served.stop());

/**
 * Restarts one replica of every service in turn, then the other replica. The second replica is stopped only after the
 * first is ready.
 */
async function replaceAll(signal: NodeJS.Signals, rounds: readonly string[], expectedEnd: string): Promise<void> {
  for (const suffix of rounds) {
    const back: Promise<void>[] = [];
    for (const service of services) {
      const name = `${service}${suffix}`;
      const item = platform.runtime.processes.get(name);
      item?.kill(signal);
      expect([name, await item?.ended]).toEqual([name, expectedEnd]);
      back.push(platform.runtime.restart(name));
    }
    await Promise.all(back);
  }
}

describe('SIGTERM to each service under load, two replicas (rules/operations#promises)', () => {
  it(
    'fails no request, loses no webhook, upload or job, and runs each job once at SIGTERM',
    async () => {
      const load = served.startLoad('term', '2031-01-01T00:00:00Z', feed);
      try {
        await replaceAll('SIGTERM', ['', '#2'], 'ended with status 0');
      } finally {
        await load.stop();
      }
      const { ledger } = load;
      expect(ledger.failures).toEqual([]);
      await served.settle();
      await served.expectEverythingKept(ledger);
      await served.expectEverythingTold(ledger);
      const receipts = await platform.sql<{ outcome: string; count: number }>(
        `select outcome, count(*)::int as count from conversations.webhook_receipts group by outcome`,
      );
      expect(receipts).toEqual([{ outcome: 'applied', count: ledger.booked.length }]);
      for (const service of workingServices) {
        const repeated = await platform.sql(`select type, attempts, error from ${service}.jobs where attempts > 1`);
        expect([service, repeated]).toEqual([service, []]);
      }
    },
    testTimeoutMs,
  );
});

describe('kill -9 of each service under load, two replicas (rules/operations#promises)', () => {
  it(
    'loses no acknowledged work and completes every job after kill -9',
    async () => {
      const load = served.startLoad('kill', '2021-01-01T00:00:00Z', feed); // earlier than all conversations of the load in the other test
      try {
        await replaceAll('SIGKILL', [''], 'was ended by SIGKILL');
      } finally {
        await load.stop();
      }
      expect(load.ledger.requests - load.ledger.failures.length).toBeGreaterThan(load.ledger.failures.length);
      await served.settle();
      await served.expectEverythingKept(load.ledger);
      await served.expectEverythingTold(load.ledger);
    },
    testTimeoutMs,
  );
});
