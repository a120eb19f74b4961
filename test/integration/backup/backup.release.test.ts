/**
 * Backups by the admin CLI: chronological order, interruptions, and restores afterwards; backup.drill.test.ts has the
 * smoke form.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/infrastructure/logger';
import { migrateServices, readAuditUrl, readServiceUrls } from '#libs/infrastructure/migrations';
import { type Installation, putObject } from './installation.ts';
import { type BackupPair, createPair, filesOf, listRestored, schemaOf, withoutJobs } from './pair.ts';

let pair: BackupPair;
let one: Installation;
let other: Installation;
let keys: BackupPair['keys'];
let identity: string;
let newPlace: () => string;

beforeAll(async () => {
  pair = await createPair(import.meta.url);
  ({ one, other, keys, identity, newPlace } = pair);
});
afterAll(() => pair.stop());

describe('backup create and restore (rules/operations#backups)', () => {
  it('copies each object once for all backups, and removes it with the last backup that references it', async () => {
    const place = newPlace();
    const settings = { BACKUP_URL: place, ...keys };
    await one.run(settings, 'backup', 'create', '--objects');
    const before = filesOf(join(place, 'objects')).map((name) => [
      name,
      statSync(join(place, 'objects', name)).mtimeMs,
    ]);
    await putObject(one.store, 'conversations/9/audio-new.mp3', Buffer.from('new'));
    await one.run(settings, 'backup', 'create', '--objects');
    const after = filesOf(join(place, 'objects')).map((name) => [name, statSync(join(place, 'objects', name)).mtimeMs]);
    expect(after.length).toBe(before.length + 1);
    expect(after).toEqual(expect.arrayContaining(before));
    await one.store.delete('conversations/9/audio-new.mp3');
    // An object that was deleted remains in the backup folder until the last backup that references it is removed.
    const third = await one.run(settings, 'backup', 'create', '--objects');
    const listed = await one.run(settings, 'backup', 'list');
    expect(listed.map((item: { state: string }) => item.state)).toEqual(['complete', 'complete', 'complete']);
    const soon = String(1 / 86_400_000);
    expect(await one.run(settings, 'backup', 'prune', '--keep-days', soon, '--dry-run')).toMatchObject({
      objects: 1,
      dry_run: true,
    });
    expect(await one.run(settings, 'backup', 'prune', '--keep-days', soon, '--yes')).toMatchObject({ objects: 1 });
    expect((await one.run(settings, 'backup', 'list')).map((item: { id: string }) => item.id)).toEqual([third.id]);
    expect(await one.run(settings, 'backup', 'verify')).toMatchObject({ ok: true });
  });

  it('creates and restores a backup in a bucket like in a folder', async () => {
    const settings = { BACKUP_URL: `s3://${one.settings['S3_BUCKET']}-kept/nightly/a`, ...keys };
    await expect(one.run(settings, 'backup', 'list')).rejects.toThrow();
    await putBucket(`${one.settings['S3_BUCKET']}-kept`);
    const [first, second] = [
      await one.run(settings, 'backup', 'create', '--objects'),
      await one.run(settings, 'backup', 'create'),
    ];
    expect((await one.run(settings, 'backup', 'list')).map((item: { id: string }) => item.id)).toEqual([
      second.id,
      first.id,
    ]);
    expect(await one.run(settings, 'backup', 'verify', first.id)).toMatchObject({ ok: true });
    await other.destroy();
    await other.run(
      { ...settings, BACKUP_IDENTITY: readFileSync(identity, 'utf8').split('\n')[1] ?? '' },
      'backup',
      'restore',
      first.id,
      '--yes',
    );
    expect(withoutJobs(await other.digests())).toEqual(withoutJobs(await one.digests()));
  });

  it('resumes a backup that was interrupted after the database dump', async () => {
    const place = newPlace();
    const settings = { BACKUP_URL: place };
    const made = await one.run(settings, 'backup', 'create', '--objects');
    const root = join(place, 'backups', made.id);
    // Simulates a process that died before it had copied all objects.
    writeFileSync(
      join(root, 'draft.json'),
      JSON.stringify({ ...JSON.parse(readFileSync(join(root, 'manifest.json'), 'utf8')), objects: null }),
    );
    for (const name of ['manifest.json', 'manifest.sha256']) rmSync(join(root, name));
    expect(await one.run(settings, 'backup', 'list')).toMatchObject([{ id: made.id, state: 'broken off' }]);
    await expect(one.run(settings, 'backup', 'verify')).rejects.toThrow('no complete backup');
    expect(await one.run(settings, 'backup', 'create', '--objects')).toMatchObject({
      id: made.id,
      resumed: true,
      objects: 5,
    });
    expect(await one.run(settings, 'backup', 'verify')).toMatchObject({ ok: true });
    expect(await one.run(settings, 'backup', 'create', '--objects', '--fresh')).toMatchObject({ resumed: false });
  });

  it('takes a consistent snapshot of the database while other sessions write', async () => {
    const place = newPlace();
    const writing = new AbortController();
    // Writes two rows of two schemas in one transaction: a backup has both or neither.
    const writer = (async () => {
      for (let n = 0; !writing.signal.aborted; n++) {
        await one.env.sql(
          `with a as (insert into directory.people (key, name) values ($1, 'Pair') returning 1)
          insert into transcripts.jobs (id, type, payload, key) select gen_random_uuid(), 'pair', '{}', $1 from a`,
          [`pair-${n}`],
        );
      }
    })();
    const made = await one.run({ BACKUP_URL: place }, 'backup', 'create');
    writing.abort();
    await writer;
    await other.destroy();
    await other.run({ BACKUP_URL: place }, 'backup', 'restore', made.id, '--yes');
    const [{ people, jobs }] = (await other.env
      .sql(`select (select count(*)::int from directory.people where name = 'Pair') as people,
      (select count(*)::int from transcripts.jobs where type = 'pair') as jobs`)) as [{ people: number; jobs: number }];
    expect(people).toBe(jobs);
    await one.env.sql(`delete from directory.people where name = 'Pair'`);
    await one.env.sql(`delete from transcripts.jobs where type = 'pair'`);
  });

  it('assigns after a restore no ids that were assigned after the backup', async () => {
    const place = newPlace();
    await one.run({ BACKUP_URL: place }, 'backup', 'create');
    const [later] = await one.env.sql<{ id: number }>(
      `insert into directory.people (name) values ('Later') returning id`,
    );
    await one.env.sql(`delete from directory.people where name = 'Later'`);
    await other.destroy();
    await other.run({ BACKUP_URL: place }, 'backup', 'restore', '--yes');
    const [next] = await other.env.sql<{ id: number }>(
      `insert into directory.people (name) values ('Next') returning id`,
    );
    expect(next?.id).toBeGreaterThan((later?.id ?? 0) + 1_000);
  });

  it('restores an empty installation completely or not at all', async () => {
    const place = newPlace();
    const made = await one.run({ BACKUP_URL: place }, 'backup', 'create', '--objects');
    const file = join(place, 'backups', made.id, 'database/transcripts/jobs.zst');
    const bytes = readFileSync(file);
    writeFileSync(file, Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])]));
    await other.destroy();
    await expect(other.run({ BACKUP_URL: place }, 'backup', 'restore', '--yes')).rejects.toThrow(/jobs.zst/);
    expect(await listRestored(other)).toEqual([]);
    writeFileSync(file, bytes);
    expect(await other.run({ BACKUP_URL: place }, 'backup', 'restore', '--yes')).toMatchObject({
      objects: { restored: 0, present: 5 },
    });
  });
});

describe('a restore that fails after loading the rows (rules/operations#backups)', () => {
  it('cannot be repeated, and reports the remaining steps (rights, queues), which complete it', async () => {
    const settings = { BACKUP_URL: newPlace() };
    await one.run(settings, 'backup', 'create', '--objects');
    await other.destroy();
    // Privileges are restored last. Here that step fails, because the address of one service, from which its role is
    // read, is invalid.
    const failing = other.run({ ...settings, DATABASE_URL_TRANSCRIPTS: 'no address' }, 'backup', 'restore', '--yes');
    await expect(failing).rejects.toThrow(
      /rows are restored, but .*DATABASE_URL_TRANSCRIPTS.*migrate\.ts, then `doctor --after-restore`, while no/,
    );
    await expect(other.run(settings, 'backup', 'restore', '--yes')).rejects.toThrow(
      /not empty.*`doctor --after-restore`/,
    );
    const url = other.settings['DATABASE_URL'] ?? '';
    const addresses = { serviceUrls: readServiceUrls(other.settings), auditUrl: readAuditUrl(other.settings) };
    await migrateServices({ url, logger: createLogger({ service: 'test', level: 'silent' }), ...addresses });
    expect(await other.run({}, 'doctor', '--after-restore')).toMatchObject({ queues: { jobs: 2, outbox: 0 } });
    expect(withoutJobs(await other.digests())).toEqual(withoutJobs(await one.digests()));
    expect(await schemaOf(other)).toEqual(await schemaOf(one));
  });
});

async function putBucket(bucket: string): Promise<void> {
  const { createObjectStore, storeConfigOf } = await import('#libs/infrastructure/object-store');
  const { loadConfig, s3Settings } = await import('#libs/infrastructure/config');
  const { Type } = await import('#libs/infrastructure/contract');
  const store = createObjectStore(
    storeConfigOf(loadConfig(Type.Object(s3Settings), { ...one.settings, S3_BUCKET: bucket })),
  );
  await store.ensureBucket();
  store.close();
}
