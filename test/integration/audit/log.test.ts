/** The audit log in the real database, written with the role of a service. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  auditHandlers,
  type AuditContext,
  recordAudit,
  removeOldEntries,
  verifyChain,
} from '#libs/infrastructure/audit';
import type { AuditLink } from '#libs/infrastructure/contract';
import { parseJson } from '#libs/infrastructure/json';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';
import { listDatabaseUrls } from '../../../libs/product/servers/service-accounts.ts';
import { keepAuditLogs } from '../../../tools/audit.ts';

const admin: AuditContext = { subject: 'admin.media.things.change', audit: 'thing.change', requestId: 'r-1' };

let env: TestEnvironment;
let urls: Record<string, string>;
let db: Database;
let retention: Database;

const open = (url = '', poolSize = 8): Promise<Database> =>
  createDatabase({ url, schema: 'media', poolSize, logger: env.logger, applicationName: 'test' });

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  urls = listDatabaseUrls(env.settings['DATABASE_URL'] ?? '', process.env['TEST_SERVICE_SECRET'] ?? '');
  db = await open(urls['DATABASE_URL_MEDIA']);
  retention = await open(urls['DATABASE_URL_AUDIT'], 1);
});
afterAll(async () => {
  await Promise.all([db.close(), retention.close()]);
  await env.stop();
});

const run = (on: Database, text: string): Promise<unknown[]> =>
  on.query({ name: `q${text.length}_${Date.now() % 100_000}`, text });
const append = (changes: Record<string, unknown> = {}): Promise<void> =>
  db.transaction(async (tx) => recordAudit(tx, admin, { target: { type: 'thing', id: 7 }, changes }));

interface Page {
  items: AuditLink[];
  anchor: { id: number; hash: string };
  head: { id: number; hash: string };
}

async function readPage(after: number): Promise<Page> {
  const { bytes } = await auditHandlers(db).readAudit({ after, limit: 100 });
  return parseJson(Buffer.from(bytes).toString('utf8')) as Page;
}

const verify = () => verifyChain(readPage);

describe('recordAudit (A1, A2; rules/audit#what-is-written)', () => {
  it('writes entries of concurrent transactions in sequence without gaps, with ordered instants and the hashes that verifyChain computes', async () => {
    await Promise.all(
      Array.from({ length: 120 }, (_, index) => append({ index, text: 'Ünïcode "quoted" \\ \n\t\u0001\u007f 💚' })),
    );
    expect(await verify()).toMatchObject({ checked: 120, broken: undefined, anchor: { id: 0 }, head: { id: 120 } });
  });

  it('writes no entry of a failed transaction, and both entries of a transaction with two', async () => {
    const before = (await verify()).head.id;
    const failing = db.transaction(async (tx) => {
      recordAudit(tx, admin, {});
      await tx.query({ name: 'fails', text: 'select 1 / 0' });
    });
    await expect(failing).rejects.toThrow();
    expect((await verify()).head.id).toBe(before);
    await db.transaction(async (tx) => {
      recordAudit(tx, admin, {});
      recordAudit(tx, admin, { outcome: 'refused' });
    });
    expect(await verify()).toMatchObject({ broken: undefined, head: { id: before + 2 } });
  });

  it('does not wait for open transactions that have not yet written an entry', async () => {
    let finish: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => (finish = resolve));
    const slow = db.transaction(async (tx) => {
      recordAudit(tx, admin, {});
      await waiting;
    });
    await append();
    finish();
    await slow;
    expect((await verify()).broken).toBeUndefined();
  });

  it('limits the size of stored values, and removes characters that PostgreSQL cannot store', async () => {
    await db.transaction(async (tx) =>
      recordAudit(
        tx,
        { ...admin, requestId: `evil\nline\0${'x'.repeat(10_000)}`, clientIp: '192.0.2.1' },
        {
          target: { type: 'thing', id: 'i'.repeat(10_000) },
          changes: { paths: Array(5_000).fill('a.b.c'), half: '\ud800', count: 3 },
        },
      ),
    );
    const { items } = await readPage((await verify()).head.id - 1);
    expect(items[0]).toMatchObject({ changes: { paths: 'too long to be stored', count: 3 }, ip: '192.0.2.1' });
    expect(items[0]?.request_id).toHaveLength(199);
    expect(items[0]?.target?.id).toHaveLength(200);
    expect((await verify()).broken).toBeUndefined();
  });

  it('records the actor (account, key, CLI or shared token) and rejects a call without an actor', async () => {
    const user = {
      kind: 'user',
      accountId: 7,
      personId: 8,
      superuser: false,
      globalEditor: false,
      coherenceAccess: false,
    } as const;
    const actors: [AuditContext, object][] = [
      [
        { ...admin, subject: 'media.x.y', actor: user },
        { kind: 'account', account_id: 7, key_id: null },
      ],
      [
        { ...admin, subject: 'media.x.y', actor: { ...user, key: { id: 'k1' } } as never },
        { kind: 'key', account_id: 7, key_id: 'k1' },
      ],
      [
        { ...admin, subject: 'media.x.y', actor: { kind: 'shared' } },
        { kind: 'shared', account_id: null, key_id: null },
      ],
      [admin, { kind: 'cli', account_id: null, key_id: null }],
    ];
    for (const [context, actor] of actors) {
      await db.transaction(async (tx) => recordAudit(tx, context, {}));
      expect((await readPage((await verify()).head.id - 1)).items[0]?.actor).toEqual(actor);
    }
    const nobody = db.transaction(async (tx) => recordAudit(tx, { ...admin, subject: 'media.x.y' }, {}));
    await expect(nobody).rejects.toThrow('the caller cannot be determined for the audit log');
    const undeclared = db.transaction(async (tx) => recordAudit(tx, { ...admin, audit: undefined }, {}));
    await expect(undeclared).rejects.toThrow('does not declare an action');
  });
});

describe('permissions on the audit log (A2)', () => {
  it.each([
    `update audit_log set action = 'nothing'`,
    'delete from audit_log',
    'truncate audit_log',
    'drop table audit_log',
    'alter table audit_log disable trigger all',
    'update audit_head set anchor_id = 1',
    'update audit_head set broken_id = null',
    'delete from audit_head',
    'insert into audit_head default values',
  ])('denies the service role: %s', async (text) => {
    await expect(run(db, text)).rejects.toThrow(/permission denied|must be owner/);
  });

  it.each([
    `update audit_log set action = 'nothing'`,
    `insert into audit_log select * from audit_log`,
    'update audit_head set last_id = 1',
    'truncate audit_log',
    'select * from uploads',
    'select * from directory.accounts',
    'create table media.mine (id int)',
  ])('denies the retention role: %s', async (text) => {
    await expect(run(retention, text)).rejects.toThrow(/permission denied|must be owner/);
  });

  it('denies a service access to the audit log of another service', async () => {
    await expect(run(db, 'select * from directory.audit_log')).rejects.toThrow(
      'permission denied for schema directory',
    );
  });
});

describe('retention and verification (A2; rules/audit#chain-and-retention)', () => {
  const keep = (days: number) =>
    keepAuditLogs({ url: urls['DATABASE_URL_AUDIT'] ?? '', days, services: ['media'], logger: env.logger });

  it('removes old entries in batches, and anchors the chain at the last removed entry', async () => {
    const { head } = await verify();
    // The database clock cannot be advanced, so the test moves the entries into the past and recomputes their hashes.
    const old = head.id - 10;
    await env.sql(`update media.audit_log set at = at - interval '500 days' where id <= $1`, [old]);
    await rehash();
    expect(await keep(400)).toEqual([{ service: 'media', entries: head.id, removed: old, broken: undefined }]);
    expect(await verify()).toMatchObject({
      checked: 10,
      broken: undefined,
      anchor: { id: old },
      head: { id: head.id },
    });
    await append();
    expect(await verify()).toMatchObject({ checked: 11, broken: undefined, anchor: { id: old } });
    expect(await keep(400)).toEqual([{ service: 'media', entries: 11, removed: 0, broken: undefined }]);
  });

  it('continues the chain after retention removed all entries', async () => {
    await env.sql(`update media.audit_log set at = at - interval '500 days'`);
    await rehash();
    expect(await keep(400)).toMatchObject([{ removed: 11, broken: undefined }]);
    await append();
    expect(await verify()).toMatchObject({ checked: 1, broken: undefined });
  });

  it('removes nothing from a broken chain, and reports the chain to monitoring', async () => {
    await append();
    const { head } = await verify();
    await env.sql(`update media.audit_log set at = at - interval '500 days' where id = $1`, [head.id - 1]);
    expect(await keep(400)).toEqual([
      {
        service: 'media',
        entries: 1,
        removed: 0,
        broken: { id: head.id - 1, problem: 'was changed after it was written' },
      },
    ]);
    expect(await env.sql('select broken_id, verified_at is not null as verified from media.audit_head')).toEqual([
      { broken_id: head.id - 1, verified: true },
    ]);
    await env.sql(`update media.audit_log set at = at + interval '500 days' where id = $1`, [head.id - 1]);
    expect(await keep(400)).toMatchObject([{ removed: 0, broken: undefined }]);
    expect(await env.sql('select broken_id from media.audit_head')).toEqual([{ broken_id: null }]);
  });

  it('retains old entries that follow a recent entry', async () => {
    const { head } = await verify();
    await env.sql(`update media.audit_log set at = at - interval '500 days' where id = $1`, [head.id]);
    expect(await removeOldEntries(retention, { days: 400, limit: 100 })).toEqual({ removed: 0 });
    await env.sql(`update media.audit_log set at = at + interval '500 days' where id = $1`, [head.id]);
  });

  /** Recomputes every hash, which only the table owner can do. */
  async function rehash(): Promise<void> {
    await env.sql(`do $$
      declare last bytea; r record;
      begin
        select anchor_hash into last from media.audit_head;
        for r in select id from media.audit_log order by id loop
          update media.audit_log set previous_hash = last, hash = sha256(convert_to(json_build_array(encode(last, 'hex'), id, media.iso_utc(at),
            actor_kind, account_id, key_id, action, target_type, target_id, changes::text, request_id, ip, outcome)::text, 'UTF8'))
          where id = r.id returning hash into last;
        end loop;
        update media.audit_head set last_hash = last, last_at = (select max(at) from media.audit_log);
      end $$`);
  }
});
