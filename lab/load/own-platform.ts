/** A dedicated platform for one load run: `npm start` with its own folder and ports, removed afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort, withOwnPorts } from '../../libs/product/servers/ports.ts';

export interface OwnPlatform {
  /** Value of COHERENCE_DATA_DIR for the run. */
  readonly dataDir: string;
  stop(): Promise<void>;
}

const repoDir = join(import.meta.dirname, '..', '..');
const startTimeoutMs = 300_000;
/** Maximum time to stop, which is longer than the services need. */
const stopTimeoutMs = 60_000;
/** Variables that would make the platform use external servers. */
const foreign = /^(DATABASE_URL|NATS_URL|S3_ENDPOINT)/;

/**
 * Starts a platform and resolves when it is ready.
 * @param variables environment of the run, e.g. of the simulated language model
 * @throws Error with the output of `npm start`
 */
export async function startOwnPlatform(variables: Readonly<Record<string, string>> = {}): Promise<OwnPlatform> {
  const parent = join(repoDir, '.data', 'load');
  mkdirSync(parent, { recursive: true });
  const dataDir = mkdtempSync(join(parent, 'platform-'));
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  const child = spawn(process.execPath, [join('tools', 'start', 'main.ts')], {
    cwd: repoDir,
    // Disables the chat limits, since all visitors share one IP address and one agent.
    env: {
      RATE_LIMIT_CHAT_PER_MINUTE: '0',
      RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE: '0',
      LLM_DAILY_TOKENS: '0',
      ...env,
      ...variables,
      NODE_OPTIONS: '',
      ...withOwnPorts(),
      COHERENCE_DATA_DIR: dataDir,
      PORT: String(await findFreePort()),
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const stop = async (): Promise<void> => {
    await end(child);
    rmSync(dataDir, { recursive: true, force: true });
  };
  const giveUpAtMs = Date.now() + startTimeoutMs;
  while (!output.includes('Coherence is ready') || !existsSync(join(dataDir, 'environment.json'))) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > giveUpAtMs) {
      await stop();
      throw new Error(`The platform for the load run did not start:\n${output}`);
    }
    await sleep(200);
  }
  return { dataDir, stop };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  await ended;
  clearTimeout(timer);
}
