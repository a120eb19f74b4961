/** `node tools/audit.ts` as a scheduled job, and the output that monitoring reads. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { measureAudit, recordAudit } from '#libs/infrastructure/audit';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { createMetrics } from '#libs/infrastructure/telemetry';
import { createTestEnvironment, type TestEnvironment, waitFor } from '#libs/product/testing';
import { listDatabaseUrls } from '../../../libs/product/servers/service-accounts.ts';

const program = join(import.meta.dirname, '..', '..', '..', 'tools', 'audit.ts');

let env: TestEnvironment;
let db: Database;
let audit: NodeJS.ProcessEnv;
const children: ChildProcess[] = [];

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  const urls = listDatabaseUrls(env.settings['DATABASE_URL'] ?? '', process.env['TEST_SERVICE_SECRET'] ?? '');
  const { DATABASE_URL_AUDIT = '', DATABASE_URL_MEDIA = '' } = urls;
  audit = { PATH: process.env['PATH'], NODE_ENV: 'production', DATABASE_URL: DATABASE_URL_AUDIT };
  db = await createDatabase({
    url: DATABASE_URL_MEDIA,
    schema: 'media',
    poolSize: 2,
    logger: env.logger,
    applicationName: 'test',
  });
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await db.close();
  await env.stop();
});

interface Ended {
  status: number;
  lines: Record<string, unknown>[];
  stderr: string;
}

const runOnce = (variables: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(process.execPath, [program], { env: { ...audit, ...variables } }, (error, stdout, stderr) => {
      const lines = stdout
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
      resolve({ status: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, lines, stderr });
    });
  });
const append = (): Promise<void> =>
  db.transaction(async (tx) =>
    recordAudit(tx, { subject: 'admin.media.things.change', audit: 'thing.change', requestId: 'r' }, {}),
  );

describe('tools/audit.ts (A2; rules/audit#chain-and-retention)', () => {
  it('verifies the log of every service, and exits with 0, or with 1 if any chain is broken', async () => {
    await append();
    const whole = await runOnce();
    expect(whole.lines.map(({ service, broken }) => [service, broken])).toEqual(
      ['agents', 'conversations', 'directory', 'events', 'media', 'transcripts'].map((service) => [service, undefined]),
    );
    expect([whole.status, whole.lines[4]?.['entries'], whole.stderr]).toEqual([0, 1, '']);
    await env.sql(`update media.audit_log set action = 'nothing' where id = 1`);
    const broken = await runOnce();
    expect(broken).toMatchObject({
      status: 1,
      lines: [{}, {}, {}, {}, { service: 'media', level: 'error', broken: { id: 1 } }, {}],
    });
    await env.sql(`update media.audit_log set action = 'thing.change' where id = 1`);
    expect(await runOnce()).toMatchObject({ status: 0 });
  });

  it('removes entries older than AUDIT_RETENTION_DAYS, and rejects an invalid number', async () => {
    expect(await runOnce({ AUDIT_RETENTION_DAYS: '0' })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('AUDIT_RETENTION_DAYS'),
    });
    const kept = await runOnce({ AUDIT_RETENTION_DAYS: '1' });
    expect(kept).toMatchObject({ status: 0, lines: [{}, {}, {}, {}, { service: 'media', removed: 0 }, {}] });
  });

  it('runs with --daily until it is stopped, even while the database is unavailable', async () => {
    const start = (DATABASE_URL = audit['DATABASE_URL'] ?? ''): { child: ChildProcess; text: () => string } => {
      const child = spawn(process.execPath, [program, '--daily'], {
        env: { ...audit, DATABASE_URL },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
      children.push(child);
      return { child, text: () => output };
    };
    const wrong = new URL(audit['DATABASE_URL'] ?? '');
    wrong.password = 'another-password';
    const [well, refused] = [start(), start(wrong.href)];
    await waitFor(() => well.text().split('audit log verified').length === 7, { what: 'six verified logs' });
    await waitFor(() => refused.text().includes('could not be verified'), { what: 'a failed verification' });
    expect(refused.text()).not.toContain('another-password');
    for (const { child } of [well, refused]) {
      expect(child.exitCode).toBeNull();
      const ended = new Promise((resolve) => child.once('exit', (status) => resolve(status)));
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
    }
  });
});

describe('audit log metrics (rules/operations#metrics)', () => {
  it('reports whether the last verification failed, and its age, or the age of the first entry before any verification', async () => {
    const metrics = createMetrics('media');
    measureAudit(metrics, db);
    const read = async (): Promise<Record<string, number>> =>
      Object.fromEntries(
        [...(await metrics.render()).text.matchAll(/^(coherence_audit_log_\w+)\S* (\S+)$/gm)].map(
          ([, name = '', value]) => [name, Number(value)],
        ),
      );
    const now = await read();
    expect([now['coherence_audit_log_broken'], (now['coherence_audit_log_verified_seconds'] ?? 1e9) < 600]).toEqual([
      0,
      true,
    ]);
    await env.sql(`update media.audit_head set broken_id = 1, verified_at = clock_timestamp() - interval '3 days'`);
    const later = await read();
    expect([
      later['coherence_audit_log_broken'],
      Math.round((later['coherence_audit_log_verified_seconds'] ?? 0) / 86_400),
    ]).toEqual([1, 3]);
    await env.sql(`update media.audit_head set verified_at = null`);
    await env.sql(`update media.audit_log set at = at - interval '5 days' where id = 1`);
    expect(Math.round(((await read())['coherence_audit_log_verified_seconds'] ?? 0) / 86_400)).toBe(5);
  });
});
