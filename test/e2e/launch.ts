/** `npm start` as a child process of a test, with separate folder and ports. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { findFreePort, findFreeRow, withOwnPorts } from '../../libs/product/servers/ports.ts';
import { endProcess, isRunning, type ProcessIdentity } from '#libs/infrastructure/process-identity';

export const repoDir = join(import.meta.dirname, '..', '..');
const readyTimeoutMs = 180_000;

export interface Launch {
  readonly child: ChildProcess;
  /** Returns the output so far, stdout and stderr. */
  output(): string;
  readonly status: Promise<number | null>;
}

interface Recorded {
  name: string;
  identity: ProcessIdentity;
}

export interface Launchpad {
  readonly dataDir: string;
  /** Port of the gateway. */
  readonly port: number;
  launch(env?: Readonly<Record<string, string>>, args?: readonly string[]): Launch;
  /** Waits until the platform is ready. Rejects with the output if the process exits before. */
  waitUntilReady(item: Launch): Promise<void>;
  /** Returns every process that was started. */
  readRecord(): Recorded[];
  /** @throws Error when no process with that name runs */
  findIdentity(name: string): ProcessIdentity;
  /** Ends the running processes and removes the folder. */
  clear(): Promise<void>;
}

export async function createLaunchpad(): Promise<Launchpad> {
  const dataDir = mkdtempSync(join(tmpdir(), 'coherence-start-'));
  const [port, mediaPort, internalPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  // The metrics port of the first service; the other services use the ports that follow.
  const metricsPort = await findFreeRow();
  const launches: Launch[] = [];
  const readRecord = (): Recorded[] => JSON.parse(readFileSync(join(dataDir, 'processes.json'), 'utf8')) as Recorded[];

  function launch(env: Readonly<Record<string, string>> = {}, args: readonly string[] = []): Launch {
    const own = {
      ...withOwnPorts(),
      NODE_OPTIONS: '',
      CHECK_REPLIES: 'true',
      COHERENCE_DATA_DIR: dataDir,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      MEDIA_PORT: String(mediaPort),
      MEDIA_INTERNAL_PORT: String(internalPort),
    };
    const child = spawn(process.execPath, [join('tools', 'bootstrap.mjs'), 'start', ...args], {
      cwd: repoDir,
      env: { ...process.env, ...own, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => (text += part));
    const item = {
      child,
      output: () => text,
      status: new Promise<number | null>((resolve) => child.once('close', resolve)),
    };
    launches.push(item);
    return item;
  }

  return {
    dataDir,
    port,
    launch,
    readRecord,
    waitUntilReady: async (item) => {
      const state = await waitFor(
        () => (/Coherence is ready/.test(item.output()) ? 'ready' : item.child.exitCode !== null && 'ended'),
        {
          timeoutMs: readyTimeoutMs,
          what: 'a ready platform',
        },
      );
      expect(`${state}\n${item.output()}`).toMatch(/^ready/);
    },
    findIdentity: (name) => {
      const found = readRecord().find((item) => item.name === name && isRunning(item.identity));
      if (found === undefined) throw new Error(`${name} does not run`);
      return found.identity;
    },
    clear: async () => {
      for (const item of launches) item.child.kill('SIGTERM');
      await Promise.all(launches.map((item) => item.status));
      for (const { identity } of existsSync(join(dataDir, 'processes.json')) ? readRecord() : [])
        await endProcess(identity, 'SIGKILL', 1_000);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
