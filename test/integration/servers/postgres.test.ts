import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/infrastructure/logger';
import { createDatabase } from '#libs/infrastructure/orm';
import { type PostgresServer, startPostgres } from '../../../libs/product/servers/postgres.ts';
import { isRunning } from '#libs/infrastructure/process-identity';

const modulesDir = join(import.meta.dirname, '..', '..', '..', 'node_modules');
const searchPath = process.env['PATH'] ?? '';
let folder: string;

function start(name: string): Promise<PostgresServer> {
  const dataDir = join(folder, name);
  return startPostgres({
    dataDir,
    logFile: join(folder, `${name}.log`),
    modulesDir,
    database: 'coherence',
    durable: false,
  });
}

async function query(server: PostgresServer, text: string): Promise<unknown[]> {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const database = await createDatabase({
    url: server.url,
    schema: 'public',
    poolSize: 1,
    logger,
    applicationName: 'test',
  });
  try {
    return await database.query({ name: 'test', text });
  } finally {
    await database.close();
  }
}

describe('embedded PostgreSQL (architecture#running-it)', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'coherence-postgres-'));
  });
  afterAll(() => {
    process.env['PATH'] = searchPath;
    rmSync(folder, { recursive: true, force: true });
  });

  it('creates a database with Unicode case rules and retains its data across a restart', async () => {
    const first = await start('kept');
    await query(first, 'create table kept (value text)');
    await query(first, "insert into kept values ('Ärger')");
    await first.stop();
    expect(isRunning(first.identity)).toBe(false);
    const second = await start('kept');
    await expect(query(second, 'select lower(value) as value from kept')).resolves.toEqual([{ value: 'ärger' }]);
    await second.stop();
  });

  it('rejects connections without the generated password', async () => {
    const server = await start('kept');
    const url = new URL(server.url);
    url.password = 'guessed';
    await expect(query({ ...server, url: url.href }, 'select 1')).rejects.toMatchObject({
      code: 'unavailable',
      cause: { message: expect.stringMatching(/password authentication failed/) },
    });
    await server.stop();
  });

  it('restarts after a kill -9 that left its pid file', async () => {
    const server = await start('kept');
    process.kill(server.identity.pid, 'SIGKILL');
    await server.ended;
    const again = await start('kept');
    await expect(query(again, 'select count(*)::int as n from kept')).resolves.toEqual([{ n: 1 }]);
    await again.stop();
  });

  it('stops a server that outlived its launcher', async () => {
    const orphan = await start('kept');
    const heir = await start('kept');
    expect(isRunning(orphan.identity)).toBe(false);
    await heir.stop();
  });

  it('starts with a new data directory after an interrupted first start', async () => {
    mkdirSync(join(folder, 'cut.new'));
    writeFileSync(join(folder, 'cut.new', 'PG_VERSION'), '18\n');
    const server = await start('cut');
    await expect(query(server, 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
    await server.stop();
  });

  it('rejects data of another PostgreSQL version, with the required action', async () => {
    mkdirSync(join(folder, 'old'));
    writeFileSync(join(folder, 'old', 'PG_VERSION'), '9.6\n');
    await expect(start('old')).rejects.toThrow(
      /was written by PostgreSQL 9.6, this is PostgreSQL 18. Set DATABASE_URL/,
    );
  });

  it('includes the server log in the error of a failed start', async () => {
    const server = await start('broken');
    await server.stop();
    writeFileSync(join(server.dataDir, 'postgresql.conf'), 'no_such_setting = 1\n');
    await expect(start('broken')).rejects.toThrow(/unrecognized configuration parameter "no_such_setting"/);
  });
});

/** Adds a failing `unshare` program to the path, as in a container in which namespaces are forbidden. */
function forbidNamespaces(): void {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'unshare'), '#!/bin/sh\nexit 1\n');
  chmodSync(join(bin, 'unshare'), 0o755);
  process.env['PATH'] = `${bin}:${searchPath}`;
}

describe('embedded PostgreSQL where user namespaces are forbidden', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'coherence-postgres-'));
    forbidNamespaces();
  });
  afterAll(() => {
    process.env['PATH'] = searchPath;
    rmSync(folder, { recursive: true, force: true });
  });

  it('runs PostgreSQL without root: as the caller, or as another account that can access the data', async () => {
    const server = await start('elsewhere');
    const owner = Number(execFileSync('ps', ['-o', 'uid=', '-p', String(server.identity.pid)], { encoding: 'utf8' }));
    expect(owner).not.toBe(0);
    expect(owner === process.getuid?.() || process.getuid?.() === 0).toBe(true);
    expect(statSync(server.dataDir).uid).toBe(owner);
    await expect(query(server, 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
    await server.stop();
    if (!server.dataDir.startsWith(folder)) rmSync(dirname(server.dataDir), { recursive: true, force: true });
  });

  it('uses data that was created while namespaces were allowed', async () => {
    process.env['PATH'] = searchPath;
    chmodSync(folder, 0o755);
    const before = await start('handed-over');
    await before.stop();
    forbidNamespaces();
    const after = await start('handed-over');
    await expect(query(after, 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
    await after.stop();
    rmSync(after.dataDir, { recursive: true, force: true });
  });
});
