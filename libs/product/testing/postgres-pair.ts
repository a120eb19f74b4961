/**
 * PostgreSQL with a standby, as in production: two real servers with replication. Tests can kill the primary, promote
 * the standby, and let the killed server rejoin as the new standby.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { findFreePort, type PostgresServer, startPostgres } from '#libs/product/servers';
import { waitFor } from './wait-for.ts';

export interface PostgresPairOptions {
  /** Existing folder for data and logs; the caller removes it after `stop`. */
  readonly dir: string;
  /** Separate data folders, if the servers must not share a disk. */
  readonly dataDirs?: readonly [string, string];
  /**
   * Whether commits wait until the standby has synced them, even while the standby is down, so that a commit on only
   * one disk is never acknowledged. Tests can change this later with `synchronous_standby_names` of the primary.
   */
  readonly synchronous: boolean;
  /** Whether writes are synced to disk; default true. Unsynced writes are lost only if the machine crashes. */
  readonly synced?: boolean;
  /** Name of the database; default `coherence`. */
  readonly database?: string;
}

export interface PostgresPair {
  /** The current primary. After `losePrimary`, the lost server until a promotion. */
  readonly primary: PostgresServer;
  /** The current standby. @throws Error after its promotion, until another server has joined */
  readonly standby: PostgresServer;
  /**
   * Administrator's URL with both servers, initially with the standby first. Clients connect to the server that accepts
   * writes.
   */
  readonly url: string;
  /** Returns the URL with other addresses (`host:port`), such as proxies. */
  urlThrough(hosts: readonly string[]): string;
  /** Ends the primary with `kill -9`, without notifying other components. */
  losePrimary(): Promise<void>;
  /**
   * Promotes the standby; the new primary has no standby until `rejoin`. The caller must ensure that the old primary no
   * longer accepts writes.
   */
  promote(): Promise<void>;
  /** Discards the data of the lost server and starts it as a standby of the new primary, from a new copy. */
  rejoin(): Promise<void>;
  stop(): Promise<void>;
}

type Name = 'one' | 'two';
const modulesDir = join(import.meta.dirname, '..', '..', '..', 'node_modules');
/** Amount of WAL that a primary retains for a standby that is being copied. */
const retainedLog = '512MB';

/** Starts both servers. */
export async function startPostgresPair(options: PostgresPairOptions): Promise<PostgresPair> {
  const { dir, dataDirs = [dir, dir], synchronous, synced = true, database = 'coherence' } = options;
  const ports: Record<Name, number> = { one: await findFreePort(), two: await findFreePort() };
  const servers = new Map<Name, PostgresServer>();
  const fileOf = (name: Name, suffix = ''): string =>
    join(dataDirs[name === 'one' ? 0 : 1], `postgres-${name}${suffix}`);
  const start = async (name: Name): Promise<void> => {
    const [dataDir, logFile] = [fileOf(name), join(dir, `postgres-${name}.log`)];
    servers.set(
      name,
      await startPostgres({ dataDir, logFile, modulesDir, database, durable: true, port: ports[name] }),
    );
  };
  let leading: Name = 'one';
  const following = (): Name => (leading === 'one' ? 'two' : 'one');
  const get = (name: Name): PostgresServer => {
    const server = servers.get(name);
    if (server === undefined) throw new Error('there is no standby now');
    return server;
  };

  const follow = async (): Promise<void> => {
    const [primary, name] = [get(leading), following()];
    const { username, password, port } = new URL(primary.url);
    await copyRunning(primary, fileOf(name));
    const address = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
    writeFileSync(join(fileOf(name), 'postgresql.auto.conf'), `primary_conninfo = '${address}'\n`);
    writeFileSync(join(fileOf(name), 'standby.signal'), '');
    await start(name);
    await waitForStandby(primary, "state = 'streaming'");
    if (!synchronous) return;
    await runStatements(primary.url, "alter system set synchronous_standby_names = '*'", 'select pg_reload_conf()');
    await waitForStandby(primary, "sync_state = 'sync'");
  };
  const urlThrough = (hosts: readonly string[]): string => {
    const { url } = get(leading);
    return `${url.replace(new URL(url).host, hosts.join(','))}?target_session_attrs=read-write`;
  };
  const stop = async (): Promise<void> => {
    // Stops the primary first, because it then waits until the standby has received all changes.
    await servers.get(leading)?.stop();
    await servers.get(following())?.stop();
  };
  try {
    await start('one');
    copyFileSync(fileOf('one', '.password'), fileOf('two', '.password'));
    appendFileSync(join(get('one').dataDir, 'pg_hba.conf'), 'host replication all 127.0.0.1/32 scram-sha-256\n');
    appendFileSync(
      join(get('one').dataDir, 'postgresql.conf'),
      `wal_keep_size = '${retainedLog}'\nfsync = ${synced ? 'on' : 'off'}\n`,
    );
    await runStatements(get('one').url, 'select pg_reload_conf()');
    await follow();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    get primary() {
      return get(leading);
    },
    get standby() {
      return get(following());
    },
    url: urlThrough([ports.two, ports.one].map((port) => `127.0.0.1:${port}`)),
    urlThrough,
    losePrimary: async () => {
      process.kill(get(leading).identity.pid, 'SIGKILL');
      await get(leading).ended;
    },
    promote: async () => {
      await runStatements(get(following()).url, 'select pg_promote()');
      leading = following();
    },
    rejoin: async () => {
      const lost = get(following());
      await lost.stop();
      rmSync(lost.dataDir, { recursive: true, force: true });
      servers.delete(following());
      await follow();
    },
    stop,
  };
}

/** Runs statements in sequence on one server. @returns the rows of the last one */
export async function runStatements(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // the running statement reports the failure
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const text of statements) ({ rows } = await client.query<Record<string, unknown>>(text));
    return rows;
  } finally {
    await client.end();
  }
}

async function waitForStandby(primary: PostgresServer, condition: string): Promise<void> {
  await waitFor(
    async () => (await runStatements(primary.url, `select 1 from pg_stat_replication where ${condition}`)).length === 1,
    {
      what: `a standby of which ${condition}`,
    },
  );
}

/**
 * Makes a base backup with the low-level API, because the package does not contain `pg_basebackup`. Files may change or
 * disappear during the copy; PostgreSQL corrects them from the WAL.
 */
export async function copyRunning(primary: PostgresServer, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: primary.url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('standby', true)");
    const { status, stderr } = spawnSync('cp', ['-a', primary.dataDir, to], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
    });
    const lines = stderr.split('\n').filter((line) => line !== '' && !line.endsWith('No such file or directory'));
    if (status !== 0 && lines.length > 0) throw new Error(`the copy of ${primary.dataDir} failed: ${lines.join('; ')}`);
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    writeFileSync(join(to, 'backup_label'), rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
  for (const file of ['postmaster.pid', 'postmaster.opts', 'standby.signal']) rmSync(join(to, file), { force: true });
}
