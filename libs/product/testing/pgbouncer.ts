/** A real PgBouncer in transaction mode in front of the test run's PostgreSQL. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, type ServerProcess, startServerProcess } from '#libs/product/servers';
import { providePgBouncer } from './system-programs.ts';

export interface PgBouncer {
  /** Returns the URL with the address of the pooler. */
  through(url: string): string;
  /** Stops the pooler, which closes all its connections. The returned `return` starts it again on the same port. */
  disconnect(): Promise<void>;
  return(): Promise<void>;
  stop(): Promise<void>;
}

export interface PgBouncerOptions {
  /** URLs of the roles that may connect, all for one server. */
  readonly urls: readonly string[];
  /** Maximum connections to the server for each combination of role and database. */
  readonly poolSize: number;
  /** Additional settings, e.g. `ignore_startup_parameters`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** PgBouncer does not run as root, so another account must be able to read its configuration. */
const readable = { mode: 0o644 };
const unprivileged = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];

export async function startPgBouncer({ urls, poolSize, settings = {} }: PgBouncerOptions): Promise<PgBouncer> {
  const program = await providePgBouncer();
  const target = new URL(urls[0] ?? '');
  const port = await findFreePort();
  const dir = await mkdtemp(join(tmpdir(), 'coherence-pgbouncer-'));
  const users = new Map(
    urls.map((url) => [decodeURIComponent(new URL(url).username), decodeURIComponent(new URL(url).password)]),
  );
  const config = join(dir, 'pgbouncer.ini');
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(dir, 'users.txt'),
    pool_mode: 'transaction',
    default_pool_size: String(poolSize),
    max_client_conn: '1000',
    // With the default value, retries would be delayed by fifteen seconds.
    server_login_retry: '1',
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  await writeFile(
    config,
    `[databases]\n* = host=${target.hostname} port=${target.port}\n\n[pgbouncer]\n${lines.join('\n')}\n`,
    readable,
  );
  await writeFile(
    all.auth_file,
    [...users].map(([user, password]) => `${quote(user)} ${quote(password)}\n`).join(''),
    readable,
  );
  const prefix = process.getuid?.() === 0 ? unprivileged : [];
  let server: ServerProcess | undefined;
  const start = async (): Promise<void> => {
    server = await startServerProcess({
      name: 'PgBouncer',
      prefix,
      command: program,
      args: [config],
      logFile: join(dir, 'pgbouncer.log'),
      stopSignal: 'SIGTERM', // stops PgBouncer immediately, even with open connections
      isReady: () => accepts(port),
    });
  };
  const disconnect = async (): Promise<void> => server?.stop();
  await chmod(dir, 0o755);
  await start();
  return {
    through: (url) => {
      const changed = new URL(url);
      changed.hostname = '127.0.0.1';
      changed.port = String(port);
      return changed.href;
    },
    disconnect: disconnect,
    return: start,
    stop: async () => {
      await disconnect();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
