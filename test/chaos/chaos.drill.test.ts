/** The short forms of `npm run test:chaos` (rules/operations#promises; docs/chaos.md): every fault once in full, one fault in the smoke form. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { sized } from '../drill.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const faults = sized({
  smoke: ['kill-service'],
  release: ['kill-service', 'freeze-service', 'lose-leader', 'lose-database', 'fill-database-disk', 'jump-clock', 'cut-object-store'],
});
/** Every wait has a bound of its own; only a failure takes so long. */
const runTimeoutMs = 900_000;
/** Those of the run of tests, which has servers for all of them. */
const foreign = /^(TEST_|DATABASE_URL|NATS_URL|S3_)/;

function runChaos(...args: string[]): Promise<{ code: number; output: string }> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  return new Promise((resolve) => {
    const options = { cwd: repoDir, env: { ...env, NODE_OPTIONS: '' }, maxBuffer: 16 * 1024 * 1024 };
    execFile(process.execPath, [join('lab', 'chaos', 'main.ts'), ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, output: `${stdout}${stderr}` });
    });
  });
}

describe('npm run test:chaos', () => {
  it(
    'loses nothing that was acknowledged and does nothing twice, whatever goes away under load',
    async () => {
      const { code, output } = await runChaos('--seed', '20260601', '--seconds', '0', '--faults', faults.join(','));
      expect(`${code}\n${output}`).toMatch(/^0\n/);
      const warning = /WARNING: .*/.exec(output)?.[0];
      if (warning !== undefined) process.stderr.write(`${warning}\n`);
      else if (faults.includes('fill-database-disk')) expect(output).toMatch(/fill-database-disk of 127\.0\.0\.1/);
      for (const fault of faults) {
        const [, , times, requests, , lost, doubled] = (new RegExp(`^\\| ${fault} .*$`, 'm').exec(output)?.[0] ?? '')
          .split('|')
          .map(Number);
        expect([fault, times, Number(requests) > 0, lost, doubled]).toEqual([fault, 1, true, 0, 0]);
      }
    },
    runTimeoutMs,
  );

  it('says what it knows when it is asked for what it does not', async () => {
    const { code, output } = await runChaos('--faults', 'earthquake');
    expect([code, output]).toEqual([2, expect.stringContaining('There is no fault earthquake; there are kill-service')]);
  });
});
