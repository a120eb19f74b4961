/** Starts one of the two measured platforms: a filled database and its services. */
import { createLogger } from '#libs/infrastructure/logger';
import pg from 'pg';
import { startBenchPlatform, type BenchPlatform } from '../bench/platform.ts';
import type { BenchServers } from '../bench/servers.ts';
import { migrateServices } from '#libs/infrastructure/migrations';
import type { Tokens } from './scenarios.ts';
import { fillDatabase, isFilled, type Seed } from './fill.ts';
import type { StreamTarget } from './stream.ts';

export interface Side {
  baseUrl: string;
  tokens: Tokens & { /** Tokens of an account that can read everything. */ superuser: string };
  settings: Readonly<Record<string, string>>;
  stream: StreamTarget;
  /** Connection pool of this platform's database. */
  pool: pg.Pool;
  stop(): Promise<void>;
}

const password = 'a password of the benchmark';
const reader = { email: 'reader@example.org', password };
const superuser = { email: 'root@example.org', password };

/** @param options.name name of the database; an existing filled database is reused */
export async function startSide(options: {
  servers: BenchServers;
  name: string;
  seed: Seed;
  /** Group of the calling account. */
  group?: string | undefined;
  log: (line: string) => void;
}): Promise<Side> {
  const { servers, name } = options;
  const log = (line: string): void => options.log(`${name}: ${line}`);
  const databaseUrl = await ensureDatabase(servers.postgres.url, name);
  await migrateServices({ url: databaseUrl, logger: createLogger({ service: 'bench', level: 'warn' }) });
  if (await isFilled(databaseUrl)) log('the database is filled already');
  else await fillDatabase({ url: databaseUrl, seed: options.seed, log });
  log('starting the services');
  const platform = await startBenchPlatform({ servers, databaseUrl, name });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const stop = async (): Promise<void> => {
    await platform.stop();
    await pool.end();
  };
  try {
    const tokens = {
      shared: platform.settings['API_TOKEN'] ?? '',
      user: await login(platform, pool, reader, ...(options.group === undefined ? [] : ['--group', options.group])),
      superuser: await login(platform, pool, superuser, '--superuser'),
    };
    const services = [...platform.processes].map(([service, item]) => ({
      name: service,
      pid: item.identity?.pid ?? 0,
    }));
    const processes = [...services, { name: 'nats-server', pid: servers.nats.identity.pid }];
    const { baseUrl, settings } = platform;
    return { baseUrl, settings, tokens, pool, stop, stream: { baseUrl, userToken: tokens.user, processes } };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function ensureDatabase(serverUrl: string, name: string): Promise<string> {
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  try {
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await admin.query(`create database ${pg.escapeIdentifier(name)}`);
  } finally {
    await admin.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/**
 * Returns a token of an account of the first person, created if missing; neither superuser nor editor unless options
 * say so.
 */
async function login(
  platform: BenchPlatform,
  pool: pg.Pool,
  account: { email: string; password: string },
  ...options: string[]
): Promise<string> {
  const { rowCount } = await pool.query('select from directory.accounts where email = $1', [account.email]);
  if (rowCount === 0)
    platform.cli(
      ['accounts', 'create', account.email, '--person', '1', '--password-env', 'READER_PASSWORD', ...options],
      {
        READER_PASSWORD: account.password,
      },
    );
  const answer = await fetch(`${platform.baseUrl}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-api-key': platform.settings['API_LOGIN_SECRET'] ?? '' },
    body: JSON.stringify(account),
  });
  if (answer.status !== 200) throw new Error(`login answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { token: string }).token;
}
