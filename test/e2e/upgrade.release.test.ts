/**
 * An upgrade as operators do it: migrate the database, then replace processes one by one under load
 * (rules/operations#releases).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { releaseVersion } from '#libs/infrastructure/release';
import { waitFor } from '#libs/product/testing';
import { compileServices } from '../../tools/start/compile-cache.ts';
import { createConversation } from './test-platform.ts';
import { layOutPreviousRelease, type PreviousRelease } from './previous-release.ts';
import { type ServedPlatform, services, startServedPlatform, workingServices } from './shutdown/served-platform.ts';

const testTimeoutMs = 240_000;

let previous: PreviousRelease;
let served: ServedPlatform;
beforeAll(async () => {
  previous = layOutPreviousRelease();
  expect(await compileServices(previous.dir, process.env['NODE_COMPILE_CACHE'] ?? '')).toBe(true); // Compiles once, so that the fourteen processes use the cache.
  served = await startServedPlatform(import.meta.url, previous.dir);
}, testTimeoutMs);
afterAll(() => served.stop());

describe('the previous and the current release in parallel', () => {
  it(
    'serve one database, broker and bucket under load without failed requests, lost data or repeated jobs',
    async () => {
      const { platform } = served;
      const readRelease = async (): Promise<string> =>
        (await platform.call('GET', '/api/openapi.json', { token: null })).json.info.version;
      const before = await readRelease();
      expect(before).not.toBe(releaseVersion);
      let releases = new Set<string>();
      const load = served.startLoad('upgrade', '2031-01-01T00:00:00Z');
      try {
        // First one replica of every service: old and new call each other, run each other's jobs and read each other's
        // rows. Then the other replicas.
        for (const suffix of ['', '#2']) {
          const back = services.map(async (service) => {
            const name = `${service}${suffix}`;
            const item = platform.runtime.processes.get(name);
            item?.kill('SIGTERM');
            const isNew = !existsSync(join(previous.dir, 'services', service));
            expect([name, await item?.ended]).toEqual([name, isNew ? undefined : 'ended with status 0']);
            await platform.runtime.restart(name);
          });
          await Promise.all(back);
          if (suffix === '') releases = new Set(await Promise.all(Array.from({ length: 20 }, readRelease)));
        }
      } finally {
        await load.stop();
      }
      const { ledger } = load;
      expect(ledger.failures).toEqual([]);
      expect(
        Math.min(
          ledger.patched.size,
          ledger.found.length,
          ledger.uploaded.size,
          ledger.booked.length,
          ledger.asked.length,
        ),
      ).toBeGreaterThan(0);
      await served.settle();
      await served.expectEverythingKept(ledger);
      for (const service of workingServices) {
        // Only jobs that called a new operation before any service answered it may have been retried.
        const again = await platform.sql(
          `select type, state, attempts, error from ${service}.jobs where state in ('dead', 'cancelled') or attempts > 1 and attempts - 1 <>
             (select count(*) from ${service}.job_attempts where job_id = id and error like 'No service answers %')`,
        );
        expect([service, again]).toEqual([service, []]);
      }
      expect([...releases].toSorted()).toEqual([before, releaseVersion].toSorted()); // replicas of both releases respond through the load balancer
      expect(await readRelease()).toBe(releaseVersion);
      const logs = await platform.readLogs();
      for (const service of services) {
        const lines = logs.split('\n').filter((line) => line.includes(`"service":"${service}"`));
        // Log lines of 0.1.0 do not contain a version.
        const versions = new Set(lines.map((line) => /"version":"([^"]+)"/.exec(line)?.[1] ?? '0.1.0'));
        const isNew = !existsSync(join(previous.dir, 'services', service));
        expect([service, [...versions].toSorted()]).toEqual([
          service,
          isNew ? [releaseVersion] : [previous.version, releaseVersion].toSorted(),
        ]);
      }
      const { id } = await createConversation(platform, served.demo);
      await waitFor(
        async () =>
          (await platform.sql(`select from events.feed where type = 'conversation.created' and subject_id = $1`, [id]))
            .length === 1,
        { what: 'the feed tells of what is made after the upgrade' },
      );
    },
    testTimeoutMs,
  );
});
