/**
 * PostgreSQL point-in-time recovery (rules/operations#after-a-restore, docs/guides/backup.md). Data acknowledged before
 * the target time exists; later data is removed and its ids are not reused. People erased after the target time are
 * erased again.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/infrastructure/logger';
import { copyRunning, runStatements, waitFor } from '#libs/product/testing';
import { migrateServices, readServiceUrls } from '#libs/infrastructure/migrations';
import { findFreePort } from '../../libs/product/servers/ports.ts';
import { type PostgresServer, startPostgres } from '../../libs/product/servers/postgres.ts';
import { listDatabaseUrls } from '../../libs/product/servers/service-accounts.ts';
import { applyDemo, createConversation, type Demo, startTestPlatform, type TestPlatform } from './test-platform.ts';

let dir: string;
let postgres: PostgresServer;
let port: number;
let platform: TestPlatform;
let demo: Demo;
let token: string;
const erased = 'Quintessa Vanderhoeven';

const start = (): Promise<PostgresServer> =>
  startPostgres({
    dataDir: join(dir, 'postgres'),
    logFile: join(dir, 'postgres.log'),
    modulesDir: join(import.meta.dirname, '..', '..', 'node_modules'),
    database: 'coherence',
    durable: true,
    port,
  });
const archive = (): string => join(dir, 'archive');

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'coherence-moment-'));
  mkdirSync(archive());
  for (const path of [dir, archive()]) chmodSync(path, 0o777); // PostgreSQL may run under another account
  port = await findFreePort();
  postgres = await start();
  appendFileSync(
    join(postgres.dataDir, 'postgresql.conf'),
    `archive_mode = on\narchive_command = 'cp %p ${archive()}/%f'\n`,
  );
  await postgres.stop();
  postgres = await start();
  const urls = listDatabaseUrls(postgres.url, process.env['TEST_SERVICE_SECRET'] ?? '');
  await migrateServices({
    url: postgres.url,
    logger: createLogger({ service: 'test', level: 'fatal' }),
    serviceUrls: readServiceUrls(urls),
    auditUrl: urls['DATABASE_URL_AUDIT'],
  });
  platform = await startTestPlatform(
    import.meta.url,
    {},
    { processes: true, prepare: async () => ({ DATABASE_URL: postgres.url }) },
  );
  demo = await applyDemo(platform, 'moment');
  await platform.apply({ people: [{ key: 'quintessa', name: erased, contact: { email: 'quintessa@example.org' } }] });
  token = await platform.login('ada-moment@example.org', 'secret-of-ada-moment');
});
afterAll(async () => {
  await platform.stop();
  await postgres.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function write(hour: number): Promise<number> {
  const start = new Date(Date.UTC(2026, 0, 1) - hour * 3_600_000).toISOString();
  return (await createConversation(platform, demo, start)).id;
}
const read = (id: number) => platform.call('GET', `/api/coherence/conversations/${id}`, { token });

/** Returns the event types of one conversation, oldest first, and the next cursor. */
async function readEvents(after: string | undefined, id: number): Promise<{ types: string[]; next: string }> {
  const query = new URLSearchParams({
    subject_type: 'conversation',
    subject_id: String(id),
    wait: '10',
    ...(after === undefined ? {} : { after }),
  });
  const { status, json } = await platform.call('GET', `/api/v1/events?${query.toString()}`, { token });
  expect(status).toBe(200);
  return { types: json.items.map(({ type }: { type: string }) => type), next: json.next };
}

/** Recovers as an operator does: an earlier base backup plus the log up to the target time. */
async function recover(copy: string, moment: string): Promise<void> {
  const data = postgres.dataDir;
  rmSync(data, { recursive: true });
  execFileSync('cp', ['-a', copy, data]);
  const settings = {
    restore_command: `cp ${archive()}/%f %p`,
    recovery_target_time: moment,
    recovery_target_action: 'promote',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  writeFileSync(join(data, 'postgresql.auto.conf'), lines.join(''));
  writeFileSync(join(data, 'recovery.signal'), '');
  postgres = await start();
  await waitFor(
    async () => (await runStatements(postgres.url, 'select pg_is_in_recovery() as is'))[0]?.['is'] === false,
    {
      what: 'the end of the recovery',
    },
  );
}

describe('database restored to a point in time by PostgreSQL', () => {
  it('contains all events published before the restored time and no later ones, and reuses no id or feed position', async () => {
    const copy = join(dir, 'copy');
    await copyRunning(postgres, copy);
    const before = [await write(1), await write(2)];
    const [row] = await runStatements(
      postgres.url,
      'select pg_sleep(0.05), clock_timestamp()::text as moment, pg_sleep(0.05)',
    );
    const momentAt = performance.now();
    const later = [await write(3), await write(4)];
    const { next: cursor } = await readEvents(undefined, later[1] ?? 0);
    expect((await platform.cli('people', 'erase', 'quintessa', '--yes')).code).toBe(0);

    const lostAt = performance.now();
    await platform.runtime.stop();
    await runStatements(postgres.url, 'select pg_switch_wal()');
    await waitFor(
      async () => {
        const [told] = await runStatements(postgres.url, 'select last_archived_wal as file from pg_stat_archiver');
        return typeof told?.['file'] === 'string' && existsSync(join(archive(), told['file']));
      },
      { what: 'the archive' },
    );
    await postgres.stop();
    const recoveringAt = performance.now();
    await recover(copy, String(row?.['moment']));
    const recoveredAt = performance.now();
    const stopped = await platform.cli('doctor', '--after-restore', '--json');
    expect([stopped.code, stopped.stderr]).toEqual([0, '']);
    expect(JSON.parse(stopped.stdout)).toMatchObject({ people: null, queues: { dropped: expect.any(Number) } });
    await Promise.all([...platform.runtime.processes.keys()].map((name) => platform.runtime.restart(name)));
    for (const id of before) expect((await read(id)).status).toBe(200);
    const readyAt = performance.now();
    const seconds = (from: number, to: number): string => `${((to - from) / 1_000).toFixed(1)} s`;
    const row2 = [
      seconds(momentAt, lostAt),
      seconds(recoveringAt, recoveredAt),
      seconds(recoveredAt, readyAt),
      seconds(recoveringAt, readyAt),
    ];
    process.stdout.write(
      `| chosen moment before the loss | recovery | queues and services | RTO |\n|---|---|---|---|\n| ${row2.join(' | ')} |\n`,
    );

    for (const id of later) expect((await read(id)).status).toBe(404);
    const made = await write(5);
    expect(made).toBeGreaterThan(Math.max(...later));
    // A reader whose cursor is beyond the recovery target misses no new event. The feed waits ten seconds for messages
    // of that time before it continues without them.
    await waitFor(async () => (await readEvents(cursor, made)).types.includes('conversation.created'), {
      what: 'the event',
    });
  });

  it('erases people again who were erased after the restored time (doctor --after-restore)', async () => {
    expect(await findPerson()).toBe(1);
    const found = await platform.cli('doctor', '--after-restore', '--json');
    expect([found.code, found.stderr]).toEqual([0, '']);
    expect(JSON.parse(found.stdout)).toMatchObject({
      queues: null,
      people: { erased: [expect.any(Number)] },
      objects: { missing: [] },
    });
    expect(await findPerson()).toBe(0);
    expect((await platform.cli('doctor')).stdout).toContain('All is well');
  });
});

async function findPerson(): Promise<number> {
  const rows = await runStatements(postgres.url, `select 1 from directory.people where name = '${erased}'`);
  return rows.length;
}
