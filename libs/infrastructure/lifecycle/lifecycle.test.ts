import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const lifecycle = pathToFileURL(join(import.meta.dirname, 'index.ts')).href;
let folder: string;

interface Run {
  child: ChildProcess;
  output: () => string;
  end: Promise<number | null>;
  /** Resolves when the output contains the text. */
  said(text: string): Promise<void>;
}

/** Runs a process with a service that the JavaScript expression `source` creates. */
function run(name: string, source: string, options: { ipc?: boolean } = {}): Run {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(
    file,
    `import { runService } from '${lifecycle}';\nawait runService('${name}', async () => (${source}));\n`,
  );
  const child = spawn(process.execPath, [file], {
    stdio: ['ignore', 'pipe', 'pipe', ...(options.ipc === true ? (['ipc'] as const) : [])],
  });
  let text = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      for (const listener of listeners) listener();
    });
  }
  return {
    child,
    output: () => text,
    end: new Promise((resolve) => {
      child.once('close', (code) => resolve(code));
    }),
    said: (wanted) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (text.includes(wanted)) resolve();
        };
        listeners.add(look);
        look();
      }),
  };
}

const service = `{
  async start() { this.timer = setInterval(() => {}, 1000); console.log('started'); },
  async stop() { console.log('drained'); clearInterval(this.timer); },
}`;

describe('runService', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'coherence-lifecycle-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('drains the service and exits with status 0 on %s', async (signal) => {
    const item = run(`on-${signal.toLowerCase()}`, service);
    await item.said('started');
    item.child.kill(signal);
    await expect(item.end).resolves.toBe(0);
    expect(item.output()).toContain('drained');
  });

  it('drains the service once, regardless of the number of signals', async () => {
    const slow = service.replace(
      "console.log('drained');",
      "console.log('drained'); await new Promise((resolve) => setTimeout(resolve, 200));",
    );
    const item = run('twice', slow);
    await item.said('started');
    item.child.kill('SIGTERM');
    await item.said('drained');
    item.child.kill('SIGTERM');
    await expect(item.end).resolves.toBe(0);
    expect(item.output().match(/drained/g)).toHaveLength(1);
  });

  it('stops the service when the parent process ends', async () => {
    const item = run('orphan', service, { ipc: true });
    await item.said('started');
    const exit = new Promise((resolve) => {
      item.child.once('exit', resolve); // 'close' is not emitted after a disconnect
    });
    item.child.disconnect();
    await item.said('drained');
    await expect(exit).resolves.toBe(0);
  });

  it('prints a configuration error as text and exits with status 1', async () => {
    const config = pathToFileURL(join(import.meta.dirname, '..', 'config', 'index.ts')).href;
    const item = run(
      'misconfigured',
      `(() => { throw new ConfigError(['PORT is missing']); })()`
        .replace('ConfigError', `(await import('${config}')).ConfigError`)
        .replace('(() =>', 'await (async () =>'),
    );
    await expect(item.end).resolves.toBe(1);
    expect(item.output()).toBe('misconfigured: The configuration is not usable:\n  - PORT is missing\n');
  });

  it('exits with status 1 when the start fails', async () => {
    const item = run('broken', `{ async start() { throw new Error('no database'); }, async stop() {} }`);
    await expect(item.end).resolves.toBe(1);
    expect(item.output()).toContain('broken: could not start: Error: no database');
  });

  it('drains the service and exits with status 1 after an uncaught error', async () => {
    const item = run(
      'faulty',
      service.replace("console.log('started')", "setTimeout(() => { throw new Error('a fault'); }, 10)"),
    );
    await expect(item.end).resolves.toBe(1);
    expect(item.output()).toMatch(/faulty: uncaught error: Error: a fault[^]*drained/);
  });
});
