/**
 * The smoke form of upgrade.release.test.ts: services of the previous release run on the migrated database, and current
 * ones on the data they wrote.
 */
import { globSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import previous from './previous-release.json' with { type: 'json' };
import { layOutPreviousRelease } from './previous-release.ts';
import { applyDemo, createConversation, type Demo, startTestPlatform, type TestPlatform } from './test-platform.ts';

const services = ['directory', 'conversations', 'api-gateway'];

let platform: TestPlatform;
let demo: Demo;
beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    {},
    { services, processes: true, startedFrom: layOutPreviousRelease().dir },
  );
  demo = await applyDemo(platform, 'upgrade');
});
afterAll(() => platform.stop());

const pathOf = (id: number): string => `/api/coherence/conversations/${id}`;
const write = (id: number, count: number) =>
  platform.call('PATCH', pathOf(id), { json: { infos: { [`k${count}`]: count } } });
const read = async (id: number) => (await platform.call('GET', pathOf(id))).json.infos;

describe('services of the previous release beside the current ones (rules/operations#releases)', () => {
  it('write to the same database in any order of replacement', async () => {
    const { id } = await createConversation(platform, demo);
    expect((await write(id, 0)).status).toBe(200);
    for (const [index, name] of services.entries()) {
      const item = platform.runtime.processes.get(name);
      item?.kill('SIGTERM');
      expect([name, await item?.ended]).toEqual([name, 'ended with status 0']);
      await platform.runtime.restart(name);
      expect([name, (await write(id, index + 1)).status]).toEqual([name, 200]);
    }
    expect(await read(id)).toMatchObject({ k0: 0, k1: 1, k2: 2, k3: 3 });
  });
});

describe('record of the previous release', () => {
  it('contains the last migration of the previous release, after which the migration check starts', () => {
    const files = globSync('services/*/migrations/Migration*.ts', { cwd: layOutPreviousRelease().dir });
    const times = files.map((file) => /Migration(\d{14})_/.exec(file)?.[1] ?? file);
    expect(times.toSorted().at(-1)).toBe(previous.lastMigration);
  });
});
