/**
 * Backups of many objects, and of tables that several connections read: calls to the store, and the cost of an
 * interruption.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type BackupTarget,
  createBackup,
  createSeal,
  restoreBackup,
  createUnseal,
  openBackup,
} from '#libs/product/backup';
import type { ObjectStore } from '#libs/infrastructure/object-store';
import { listMigrations } from '#libs/infrastructure/release';
import { createFolderTarget } from '../../../libs/product/backup/folder-target.ts';
import { createStoreTarget } from '../../../libs/product/backup/store-target.ts';
import { migrateServices } from '#libs/infrastructure/migrations';
import { isRelease, sized } from '../../drill.ts';
import { createInstallation, type Installation, putObject } from './installation.ts';

/** The smoke form tests what is stored; counting store calls needs more than one page of a thousand. */
const objects = sized({ smoke: 60, release: 100_000 });
const schemas = Object.keys(listMigrations());
let one: Installation;
let folder: string;

beforeAll(async () => {
  one = await createInstallation(import.meta.url);
  folder = mkdtempSync(join(tmpdir(), 'coherence-large-'));
  const keyOf = (n: number): string => `conversations/${n % 40}/audio-${String(n).padStart(7, '0')}.mp3`;
  for (let first = 0; first < objects; first += 50)
    await Promise.all(
      Array.from({ length: Math.min(50, objects - first) }, (_, n) =>
        putObject(one.store, keyOf(first + n), Buffer.from('x')),
      ),
    );
}, 1_800_000);
afterAll(async () => {
  await one.env.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Calls = Record<string, number>;

/** Wraps an object and counts its calls by method name. */
function counted<Counted extends object>(inner: Counted): { outer: Counted; calls: Calls } {
  const calls: Calls = {};
  const outer = new Proxy(inner, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      calls[String(name)] ??= 0;
      return (...args: unknown[]) => {
        calls[String(name)] = (calls[String(name)] ?? 0) + 1;
        return value.apply(target, args) as unknown;
      };
    },
  });
  return { outer, calls };
}

async function backUp(
  target: BackupTarget,
  store: ObjectStore,
  more: { url?: string | undefined; fewer?: number[] } = {},
) {
  return createBackup({
    url: more.url ?? one.settings['DATABASE_URL'] ?? '',
    schemas,
    target,
    store,
    seal: createSeal([]),
    version: '0.0.0',
    withObjects: more.url === undefined,
    fresh: false,
    connections: 4,
    onFewer: (connections) => more.fewer?.push(connections),
    onProgress: () => {},
  });
}

const sum = ({ manifest }: Awaited<ReturnType<typeof backUp>>): number =>
  (manifest.objects ?? []).reduce((all, { count }) => all + count, 0);

/** Makes every object write after the first `last` writes fail. */
function failing(target: BackupTarget, last: number, what = /^objects\//): BackupTarget {
  let writes = 0;
  return {
    ...target,
    write: (path, body) => {
      if (what.test(path) && ++writes > last) throw new Error('the disk is full');
      return target.write(path, body);
    },
  };
}

describe('backup create of many objects (rules/operations#backups)', () => {
  it('lists store and backup in pages, resumes after an interruption, and takes little longer than the listing', async () => {
    const bucket = `${one.settings['S3_BUCKET']}`;
    const inBucket = createStoreTarget(one.store, 'platform/kept/', `s3://${bucket}/platform/kept`);
    for (const target of [createFolderTarget(join(folder, 'kept')), ...(isRelease ? [inBucket] : [])]) {
      const last = Math.floor(objects * 0.95);
      await expect(backUp(failing(target, last), one.store)).rejects.toThrow('the disk is full');
      const resumed = counted(target);
      const first = await backUp(resumed.outer, one.store);
      expect([first.resumed, sum(first)]).toEqual([true, objects]);
      // Objects that were not yet listed are copied again: at most a thousand.
      expect(resumed.calls['write']).toBeLessThan(objects - last + 1_100);

      const [ownTarget, ownStore] = [counted(target), counted(one.store)];
      const startedMs = performance.now();
      const second = await backUp(ownTarget.outer, ownStore.outer);
      const tookMs = performance.now() - startedMs;
      expect(sum(second)).toBe(objects);
      const { sizeOf = 0, read = 0, list } = ownTarget.calls;
      expect([list, ownStore.calls['list'], ownStore.calls['head'] ?? 0, ownStore.calls['get'] ?? 0]).toEqual([
        expect.any(Number),
        expect.any(Number),
        0,
        0,
      ]);
      expect(sizeOf + read).toBeLessThan(20 + (3 * objects) / 1_000);
      const listingMs = performance.now();
      let listed = 0;
      for await (const { sizeBytes } of one.store.list('conversations/')) listed += sizeBytes;
      for await (const { sizeBytes } of target.list('objects/plain')) listed += sizeBytes;
      const plainMs = performance.now() - listingMs;
      expect(listed).toBe(2 * objects);
      process.stderr.write(
        `${target.location.startsWith('s3:') ? 'bucket' : 'folder'}: second backup of ${objects} objects in ${Math.round(tookMs)} ms, listing both sides ${Math.round(plainMs)} ms: ${(tookMs / plainMs).toFixed(1)} times\n`,
      );
    }
  }, 3_600_000);

  it('reuses objects that an abandoned backup copied', async () => {
    const target = createFolderTarget(join(folder, 'given-up'));
    const last = sized({ smoke: 50, release: 1_050 });
    const listed = Math.floor(last / 1_000) * 1_000;
    await expect(backUp(failing(target, last), one.store)).rejects.toThrow('the disk is full');
    const again = counted(target);
    const made = await createBackup({
      url: one.settings['DATABASE_URL'] ?? '',
      schemas,
      target: again.outer,
      store: one.store,
      seal: createSeal([]),
      version: '0.0.0',
      withObjects: true,
      fresh: true,
      connections: 1,
      onFewer: () => {},
      onProgress: () => {},
    });
    expect([made.resumed, sum(made)]).toEqual([false, objects]);
    const tables = Object.values(made.manifest.schemas).flatMap((schema) => schema.tables).length;
    expect(again.calls['write']).toBeLessThan(objects - listed + tables + 10 + objects / 1_000);
  }, 3_600_000);

  it('restores with a listing of the store, without a request per object', async () => {
    const target = createFolderTarget(join(folder, 'kept'));
    const { manifest } = await openBackup(target, undefined);
    const store = counted(one.store);
    const other = await createInstallation(import.meta.url);
    try {
      await other.destroy();
      const url = other.settings['DATABASE_URL'] ?? '';
      const restored = await restoreBackup({
        url,
        target,
        manifest,
        unseal: createUnseal([], []),
        store: store.outer,
        known: listMigrations(),
        migrate: async (only) => void (await migrateServices({ url, logger: other.env.logger, only })),
        onProgress: () => {},
      });
      expect(restored.objects).toEqual({ restored: 0, present: objects });
      expect(store.calls['head'] ?? 0).toBe(0);
    } finally {
      await other.env.stop();
    }
  }, 600_000);
});

describe('backup create with several connections (rules/operations#backups)', () => {
  const sessions = (): Promise<{ n: number }[]> =>
    one.env.sql(
      `select count(*)::integer as n from pg_stat_activity where application_name = 'backup' and datname = current_database()`,
    );

  it('stops all connections when one of them fails', async () => {
    const target = failing(createFolderTarget(join(folder, 'failing')), 3, /\/database\//);
    await expect(backUp(target, one.store)).rejects.toThrow('the disk is full');
    expect(await sessions()).toEqual([{ n: 0 }]);
  });

  it('locks no table while it reads other tables', async () => {
    const kept = createFolderTarget(join(folder, 'locks'));
    const locked: unknown[] = [];
    const target: BackupTarget = {
      ...kept,
      write: async (path, body) => {
        const stored = await kept.write(path, body);
        if (path.includes('/database/'))
          locked.push(
            ...(await one.env.sql(
              `select count(distinct l.relation)::integer as n from pg_locks l join pg_stat_activity a using (pid) join pg_class c on c.oid = l.relation
               join pg_namespace n on n.oid = c.relnamespace
               where a.application_name = 'backup' and a.datname = current_database() and n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'migrations'`,
              [schemas],
            )),
          );
        return stored;
      },
    };
    await backUp(target, one.store, { url: one.settings['DATABASE_URL'] });
    expect(Math.max(...locked.map((row) => (row as { n: number }).n))).toBeLessThanOrEqual(4);
  });

  it.each([
    [2, 1],
    [1, 1],
  ])('uses at most the number of connections that the server allows: %i', async (limit, readers) => {
    const role = `backup_${one.env.id}_${limit}`;
    await one.env.sql(`create role ${role} login password 'backup' connection limit ${limit} in role pg_read_all_data`);
    try {
      const url = new URL(one.settings['DATABASE_URL'] ?? '');
      url.username = role;
      url.password = 'backup';
      const fewer: number[] = [];
      const target = createFolderTarget(join(folder, `limited-${limit}`));
      const made = await backUp(target, one.store, { url: url.href, fewer });
      expect(fewer).toEqual([readers]);
      expect(Object.keys(made.manifest.schemas).toSorted()).toEqual(schemas.toSorted());
    } finally {
      await one.env.sql(`drop role ${role}`);
    }
  });
});
