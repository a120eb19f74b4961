/**
 * The release form of `npm run test:chaos` (rules/operations#promises; docs/chaos.md): every fault once. chaos.test.ts
 * has the smoke form.
 */
import { describe, expect, it } from '@jest/globals';
import { runChaos } from './program.ts';

const faults = [
  'kill-service',
  'freeze-service',
  'lose-leader',
  'lose-database',
  'fill-database-disk',
  'jump-clock',
  'cut-object-store',
];
/** Each wait has its own timeout; a run takes this long only after a failure. */
const runTimeoutMs = 900_000;

describe('npm run test:chaos with every fault', () => {
  it(
    'loses no acknowledged write and applies no write twice when any component fails under load',
    async () => {
      const { code, output } = await runChaos('--seed', '20260601', '--seconds', '0', '--faults', faults.join(','));
      expect(`${code}\n${output}`).toMatch(/^0\n/);
      const warning = /WARNING: .*/.exec(output)?.[0];
      if (warning !== undefined) process.stderr.write(`${warning}\n`);
      else expect(output).toMatch(/fill-database-disk of 127\.0\.0\.1/);
      for (const fault of faults) {
        const [, , times, requests, , lost, doubled] = (new RegExp(`^\\| ${fault} .*$`, 'm').exec(output)?.[0] ?? '')
          .split('|')
          .map(Number);
        expect([fault, times, Number(requests) > 0, lost, doubled]).toEqual([fault, 1, true, 0, 0]);
      }
    },
    runTimeoutMs,
  );
});
