/**
 * The smoke form of `npm run test:chaos`: the program and its checker, on histories of earlier runs (docs/chaos.md).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHistory, type Entry } from '../../lab/chaos/history.ts';
import { runChaos } from './program.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coherence-chaos-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Asked = readonly [kind: string, object: string, input: Entry['input'], output?: unknown];

/** Writes a history file like a run does: sequential requests, each answered with 200. */
function writeHistory(name: string, ...asked: readonly Asked[]): string {
  const file = join(folder, name);
  const history = createHistory(file);
  for (const [index, [kind, object, input, output]] of asked.entries()) {
    const from = index * 10;
    history.add({ kind, object, input, output, outcome: 'done', from, to: from + 5, answer: '200' });
  }
  return file;
}

describe('npm run test:chaos', () => {
  const first: Asked = ['PATCH conversation', 'register time of conversation 7', { do: 'write', value: 'first' }];
  const second: Asked = ['PATCH conversation', 'register time of conversation 7', { do: 'write', value: 'second' }];
  const read = (value: string): Asked => ['GET conversation', 'register time of conversation 7', { do: 'read' }, value];

  it('accepts a history in which every acknowledged write is read back', async () => {
    const { code, output } = await runChaos('--history', writeHistory('whole.jsonl', first, second, read('second')));
    expect([code, output]).toEqual([0, expect.stringContaining('0 problems')]);
  });

  it('reports a lost acknowledged write with the requests that prove the loss', async () => {
    const { code, output } = await runChaos(
      '--history',
      writeHistory('lost.jsonl', first, read('first'), second, read('first')),
    );
    expect(code).toBe(1);
    expect(output).toMatch(/^1 problems/m);
    expect(output).toMatch(/GET conversation[^]*first/);
  });

  it('lists the known faults when the requested fault is unknown', async () => {
    const { code, output } = await runChaos('--faults', 'earthquake');
    expect([code, output]).toEqual([
      2,
      expect.stringContaining('There is no fault earthquake; there are kill-service'),
    ]);
  });
});
