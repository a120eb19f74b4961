import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { provideFfmpeg, provideTimeoutMs } from '#libs/product/testing';
import { findFreePort } from '../../../libs/product/servers/ports.ts';
import { startServiceProcess, type ServiceProcess } from '../../../libs/product/servers/service-process.ts';
import { playNoise, startRecordingFixture, type RecordingFixture } from './recording-fixture.ts';

const mebibyte = 1024 * 1024;
/** `RECORDING_MIB=2048` tests the documented maximum size, which takes minutes. */
const sizeBytes = Number(process.env['RECORDING_MIB'] ?? 200) * mebibyte + 17;
const allowedGrowthBytes = 100 * mebibyte;
const repoDir = join(import.meta.dirname, '..', '..', '..');

let fixture: RecordingFixture;
let media: ServiceProcess;
beforeAll(async () => {
  fixture = await startRecordingFixture(import.meta.url, await provideFfmpeg());
  const env = { ...fixture.media.env.settings, ...fixture.settings, METRICS_PORT: String(await findFreePort()) };
  const logFile = join(repoDir, '.data', 'test-logs', fixture.media.env.id, 'media.log');
  media = await startServiceProcess({ repoDir, name: 'media', env, logFile });
}, provideTimeoutMs);
afterAll(async () => {
  await media.stop();
  await fixture.media.stop();
});

const readResident = (): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${media.identity?.pid}/status`, 'utf8'))?.[1]) * 1024;

describe('media.recording-import in constant memory (architecture#bytes)', () => {
  it('imports a recording of any size with less than 100 MB of additional memory', async () => {
    const small = await fixture.meet({ content: playNoise(11 * mebibyte), journey: 'plain' });
    await fixture.jobs.waitForState(small.id);
    const before = readResident();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, readResident())), 50);
    const { id } = await fixture.meet({ content: playNoise(sizeBytes), journey: 'plain' });
    const job = await fixture.jobs.waitForState(id, 'succeeded', 1_500_000);
    clearInterval(watch);
    process.stderr.write(
      `recording of ${sizeBytes} bytes: ${Math.round(before / mebibyte)} MiB before, ${Math.round(most / mebibyte)} at most\n`,
    );
    expect(job.result).toMatchObject({ size_bytes: sizeBytes });
    expect(most - before).toBeLessThan(allowedGrowthBytes);
  }, 1_600_000);
});
