/** The short form of `npm run load:smoke`, part of every test run: the real command, k6, and a separate platform. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LoadSummary } from '../../lab/load/comparison.ts';

const repoDir = join(import.meta.dirname, '..', '..');
/** k6 may have to be built first. */
const runTimeoutMs = 420_000;

interface Summary extends LoadSummary {
  requests: number;
  visits: number;
  thresholds: { metric: string; expression: string; ok: boolean }[];
}

let folder: string;
let run: { code: number; output: string };
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'load-smoke-'));
  run = await runNode(['lab/load/main.ts', 'smoke', '--own'], {
    DURATION: '25s',
    RESULT_DIR: folder,
    RELEASE: 'this-one',
    SLACK: '10',
  });
}, runTimeoutMs);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function runNode(args: readonly string[], env: Record<string, string> = {}): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const options = { cwd: repoDir, env: { ...process.env, NODE_OPTIONS: '', ...env }, maxBuffer: 16 * 1024 * 1024 };
    execFile(process.execPath, [...args], options, (error, stdout, stderr) => {
      resolve({
        code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1,
        output: `${stdout}${stderr}`,
      });
    });
  });
}
const readSummary = (): Summary => JSON.parse(readFileSync(join(folder, 'smoke.json'), 'utf8')) as Summary;

describe('npm run load:smoke (rules/operations#load)', () => {
  it('seeds a platform, runs every persona and meets the thresholds', () => {
    expect(`${run.code}\n${run.output}`).toMatch(/^0\n/);
    const summary = readSummary();
    expect(summary).toMatchObject({ format: 1, suite: 'smoke', release: 'this-one', passed: true, failed_share: 0 });
    expect(summary.thresholds.filter(({ ok }) => !ok)).toEqual([]);
    expect(summary.thresholds.map(({ metric }) => metric)).toEqual(
      expect.arrayContaining(['http_req_failed', 'checks', 'http_req_duration{operation:upload}']),
    );
    expect(Object.keys(summary.operations).toSorted()).toEqual([
      'agent update',
      'booking webhook',
      'chat message',
      'chat page',
      'download',
      'find or create',
      'patch conversation',
      'read conversation',
      'read steps',
      'search',
      'upload',
      'whoami',
    ]);
    for (const [name, { count }] of Object.entries(summary.operations)) expect([name, count > 0]).toEqual([name, true]);
  });

  it('writes the summary as Markdown', () => {
    const markdown = readFileSync(join(folder, 'smoke.md'), 'utf8');
    expect(markdown).toMatch(/^# smoke: passed\n/);
    expect(markdown).toContain('| operation | count | p50 ms | p95 ms | p99 ms | max ms |');
  });

  it('writes a summary that can be compared with another run', async () => {
    const file = join(folder, 'smoke.json');
    const same = await runNode(['lab/load/compare.ts', file, file]);
    expect([same.code, same.output]).toEqual([0, expect.stringContaining('# smoke: this-one → this-one')]);
    expect((await runNode(['lab/load/compare.ts', file])).code).toBe(2);
  });
});
