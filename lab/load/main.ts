/**
 * `npm run load:smoke` and `node lab/load/main.ts average|spike|soak`: builds k6, seeds the platform that `npm start`
 * runs in this folder, or a dedicated one if none runs (`--own`: always), runs the suite and writes the summary to
 * `.data/load`. For other platforms see test/load/README.md.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { listSecretValues } from '#libs/infrastructure/config';
import { reachableAddress } from '#libs/infrastructure/lifecycle';
import { startLlm, type LlmServer } from '../../libs/product/testing/llm.ts';
import { readSettings } from '../../cli/settings.ts';
import { provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { k6Tool } from '../../libs/product/servers/go-tools.ts';
import { type OwnPlatform, startOwnPlatform } from './own-platform.ts';
import { seedPlatform } from './seed-platform.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const suites = ['smoke', 'average', 'spike', 'soak'];
const log = (line: string): void => void process.stdout.write(`${line}\n`);

/** @returns the exit status of k6, which is 99 if a threshold is exceeded */
async function run(args: readonly string[]): Promise<number> {
  const suite = args.find((arg) => !arg.startsWith('--')) ?? 'smoke';
  if (!suites.includes(suite)) throw new Error(`There is no suite "${suite}"; there are ${suites.join(', ')}.`);
  const k6 = await provideGoTool(k6Tool, log);
  const dataDir = process.env['COHERENCE_DATA_DIR'] || join(repoDir, '.data');
  const running = !args.includes('--own') && readRunning(dataDir) !== undefined;
  const seedFile = join(repoDir, '.data', 'load', `seed-${process.pid}.json`);
  let own: OwnPlatform | undefined;
  let model: LlmServer | undefined;
  try {
    if (!running) {
      log('No platform runs in this folder; starting one for this run.');
      own = await startOwnPlatform();
    }
    const settings = readRunning(own?.dataDir ?? dataDir);
    if (settings === undefined) throw new Error('The platform has stopped.');
    model = await playModel(settings);
    const { prefix } = await seedPlatform(seedFile, { ...process.env, COHERENCE_DATA_DIR: own?.dataDir ?? dataDir });
    const baseUrl = `http://${reachableAddress(settings['HOST'] ?? '127.0.0.1', settings['PORT'] ?? '8080')}`;
    log(`${suite} on ${baseUrl}, seeded as ${prefix}`);
    const firstOf = (name: string): string | undefined => listSecretValues(settings[name] ?? '')[0];
    return await runK6(k6, suite, {
      BASE_URL: baseUrl,
      API_TOKEN: firstOf('API_TOKEN'),
      API_LOGIN_SECRET: firstOf('API_LOGIN_SECRET'),
      BOOKING_WEBHOOK_SECRET: firstOf('BOOKING_WEBHOOK_SECRET') ?? process.env['BOOKING_WEBHOOK_SECRET'],
      SEED_FILE: seedFile,
      RELEASE: process.env['RELEASE'] ?? readVersion(),
      RESULT_DIR: process.env['RESULT_DIR'] ?? join(repoDir, '.data', 'load'),
    });
  } finally {
    rmSync(seedFile, { force: true });
    await model?.stop();
    await own?.stop();
  }
}

/** Returns the name of the run in the summary, used unless RELEASE is set. */
function readVersion(): string {
  return (JSON.parse(readFileSync(join(repoDir, 'package.json'), 'utf8')) as { version: string }).version;
}

type Settings = Readonly<Record<string, string | undefined>>;

/** Returns the settings of the platform that runs with this data folder; returns undefined if none runs. */
function readRunning(dataDir: string): Settings | undefined {
  const settings = readSettings({}, join(dataDir, 'environment.json'));
  return settings['API_TOKEN'] === undefined ? undefined : settings;
}

/** Simulates a language model like the demo if none is configured: visitors need answers. */
async function playModel(settings: Settings): Promise<LlmServer | undefined> {
  const { DEMO_MODEL_PORT: port, LLM_API_KEY: apiKey } = settings;
  if (port === undefined) return undefined;
  try {
    return await startLlm({ port: Number(port), apiKey: apiKey ?? '' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined; // the port is used by the simulated model of a running demo
    throw error;
  }
}

function runK6(program: string, suite: string, env: NodeJS.ProcessEnv): Promise<number> {
  const script = join(repoDir, 'test', 'load', `${suite}.js`);
  if (!existsSync(script)) throw new Error(`${script} is missing.`);
  const child = spawn(program, ['run', '--quiet', '--no-usage-report', script], {
    cwd: repoDir,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void child.kill(signal));
  return new Promise((resolve) => {
    child.once('error', (error) => {
      log(error.message);
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
