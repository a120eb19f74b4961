/**
 * `npm start`: runs the whole platform on this machine: servers, migrations, the seven services as processes, and the
 * demo workspace. Restarts processes that end, until Ctrl-C. All data is in `.data` (or COHERENCE_DATA_DIR). `--
 * --times` prints the time of each step, and `-- --servers-only` does not start the services.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildNatsUrl } from '#libs/infrastructure/config';
import { createLogger } from '#libs/infrastructure/logger';
import { identifyProcess } from '#libs/infrastructure/process-identity';
import { makeStreams, readStreamLimits, readStreamReplicas } from '../streams.ts';
import { scheduleAuditLogs } from './audit-logs.ts';
import { applyDemoWorkspace } from './demo-workspace.ts';
import {
  createReplacement,
  type DemoAccount,
  findDemoAccounts,
  findLocalProfile,
  listNewDemoAccounts,
  withDemoPassword,
} from './demo-accounts.ts';
import { checkBroughtServers } from './brought-servers.ts';
import { checkSettings } from './check-settings.ts';
import { warmCompileCache } from './compile-cache.ts';
import { startDemoModel } from './demo-model.ts';
import { checkDiskSpace, chooseSettings, listKnownVariables, readGatewayAddress, urlOf } from './environment.ts';
import { findMigrations, type Migrations } from './migrations.ts';
import { findMisspellings } from './misspellings.ts';
import { describeFolderProblem, makePrivateDir } from './private-dir.ts';
import { Screen } from './screen.ts';
import { isOpen, readOwnDemoPassword, secretsFileOf } from './secrets.ts';
import { startServers } from './servers.ts';
import { startServices } from './services.ts';
import { ProcessRecord, takeStartLock } from './start-lock.ts';
import { describePlatform } from './welcome.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const dataDir = resolve(process.env['COHERENCE_DATA_DIR'] || join(repoDir, '.data'));
const lockFile = join(dataDir, 'start.lock');
/** File from which other npm commands read the settings of the running platform. */
const environmentFile = join(dataDir, 'environment.json');
/** Signals within this time belong to one Ctrl-C, since the terminal, npm and the bootstrap each send one. */
const sameSignalMs = 2_000;

const screen = new Screen();
const stops: (() => Promise<void>)[] = [];
let stopping: Promise<void> | undefined;

async function start(): Promise<void> {
  const isFirst = !existsSync(join(dataDir, 'postgres', 'PG_VERSION'));
  makePrivateDir(dataDir);
  takeStartLock(lockFile, urlOf(process.env['HOST'] || '127.0.0.1', process.env['PORT'] || 8080));
  stops.push(async () => rmSync(lockFile, { force: true }));
  checkDiskSpace(dataDir, isFirst);
  const record = new ProcessRecord(join(dataDir, 'processes.json'));
  const leftovers = await record.endLeftovers();
  if (leftovers.length > 0) screen.log(`Stopped processes of an earlier run that was killed: ${leftovers.join(', ')}.`);
  const address = await readGatewayAddress(process.env);
  screen.log(isFirst ? 'Coherence starts for the first time in this folder.' : 'Coherence starts.');

  const location = { repoDir, dataDir, screen, record };
  const demoModel = process.env['LLM_BASE_URL'] ? undefined : await startDemoModel();
  if (demoModel !== undefined) stops.push(() => demoModel.stop());
  const chosen = await screen.quietStep('settings', async () => {
    const settings = { ...(await chooseSettings(process.env, address, dataDir)), ...demoModel?.settings };
    await checkSettings(settings);
    await checkBroughtServers(settings);
    return settings;
  });
  for (const line of findMisspellings(Object.keys(process.env), await listKnownVariables())) screen.log(line);
  let isEmpty = false;
  let migrations: Migrations | undefined;
  const migrate = async (given: Readonly<Record<string, string>>): Promise<void> => {
    if (stopping !== undefined) return;
    const found = findMigrations(repoDir, dataDir, !process.env['DATABASE_URL']);
    migrations = found;
    if (found.arePending) ({ isEmpty } = await screen.step('migrations', () => found.run({ ...chosen, ...given })));
  };
  const warmed = screen.quietStep('compiling the services', () =>
    warmCompileCache(repoDir, chosen['NODE_COMPILE_CACHE'] ?? ''),
  );
  const servers = await startServers(process.env, location, migrate);
  stops.push(servers.stop);
  const settings = { ...chosen, ...servers.settings };
  if (stopping !== undefined) return;
  const streams = {
    url: buildNatsUrl(settings),
    prefix: settings['NATS_SUBJECT_PREFIX'] ?? '',
    logger: createLogger({ service: 'start', level: 'error' }),
    limits: readStreamLimits(process.env),
    replicas: readStreamReplicas(process.env),
  };
  await screen.quietStep('streams', () => makeStreams(streams));
  await warmed;
  if (stopping !== undefined) return;
  // For restoring a backup, which requires that no service runs (docs/guides/backup.md).
  const serversOnly = process.argv.includes('--servers-only');
  let demoAccounts: readonly DemoAccount[] = [];
  if (!serversOnly) {
    demoAccounts = isEmpty ? [] : await screen.quietStep('demo accounts', () => findOwnDemoAccounts(settings));
    const isReached = isOpen(settings['HOST'] ?? '', settings);
    const replacement = isReached ? createReplacement(demoAccounts, settings) : undefined;
    const services = await screen.step('seven services', () => startServices(settings, location, replacement?.run));
    stops.push(services.stop);
    if (replacement !== undefined) {
      screen.log(`    ${replacement.describe(secretsFileOf(dataDir))}`);
      demoAccounts = replacement.accounts;
    }
  }
  const { ACTOR_SIGNING_KEY: _gatewayAlone, ...told } = withDemoPassword(settings, demoAccounts);
  const url = urlOf(settings['HOST'] ?? '', settings['PORT'] ?? '');
  const profile = findLocalProfile(repoDir, url, isEmpty ? listNewDemoAccounts(repoDir, settings) : demoAccounts);
  const content = { holder: identifyProcess(process.pid), settings: told, profile };
  writeFileSync(environmentFile, JSON.stringify(content, null, 2), { mode: 0o600 });
  stops.push(async () => rmSync(environmentFile, { force: true }));
  if (serversOnly) {
    screen.log('PostgreSQL, NATS and the object store are running, without services. Stop them with Ctrl-C.');
    return;
  }
  if (isEmpty) {
    await screen.step('demo workspace', () => applyDemoWorkspace(repoDir, dataDir, settings));
    demoAccounts = listNewDemoAccounts(repoDir, settings);
  }
  migrations?.markDone();
  if (stopping !== undefined) return;
  stops.push(scheduleAuditLogs(settings, location));
  screen.log(describePlatform({ repoDir, dataDir, settings, demoAccounts, elapsed: screen.elapsed }));
  if (process.argv.includes('--times')) screen.log(`\n${screen.describeTimes()}`);
}

function findOwnDemoAccounts(settings: Readonly<Record<string, string>>): Promise<DemoAccount[]> {
  return findDemoAccounts(repoDir, settings, [settings['DEMO_PASSWORD'], readOwnDemoPassword(dataDir)]);
}

/** Stops services, then servers, then releases the lock. */
function stop(status: number): Promise<void> {
  stopping ??= (async () => {
    for (const work of stops.toReversed()) {
      await work().catch((error: unknown) => screen.log(`stop failed: ${String(error)}`));
    }
    process.exit(status);
  })();
  return stopping;
}

function stopOnSignals(): void {
  let firstAt = 0;
  const onSignal = (): void => {
    if (firstAt === 0) {
      firstAt = Date.now();
      screen.log(`\nStopping. The data is kept in ${dataDir}.`);
      void stop(0);
    } else if (Date.now() - firstAt > sameSignalMs) {
      screen.log('Stopping immediately.');
      process.exit(130);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  if (process.channel !== undefined) {
    process.on('disconnect', onSignal); // npm has ended, so the platform stops too
    process.channel.unref();
  }
}

process.umask(0o077); // all processes inherit this mask, so that only this user can read their files
stopOnSignals();
process.stdout.on('error', () => {}); // the pipe is closed: continue without output
try {
  await start();
} catch (error) {
  if (stopping === undefined) {
    const problem = error as NodeJS.ErrnoException;
    process.stderr.write(`\n${describeFolderProblem(dataDir, problem) ?? problem.message}\n`);
    await stop(1);
  }
}
