/** Backups by the admin CLI over a real database and store: made, verified, restored, and what damages or attacks them. */
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/logger';
import { migrateServices, readAuditUrl, readServiceUrls } from '../../../tools/migrate.ts';
import { isRelease } from '../../drill.ts';
import { createInstallation, fill, type Installation, putObject } from './installation.ts';

let one: Installation;
let other: Installation;
let folder: string;
let keys: { BACKUP_RECIPIENTS: string };
let identity: string;

beforeAll(async () => {
  [one, other] = [await createInstallation(import.meta.url), await createInstallation(import.meta.url)];
  folder = mkdtempSync(join(tmpdir(), 'coherence-backup-'));
  await fill(one);
  identity = join(folder, 'key.txt');
  keys = { BACKUP_RECIPIENTS: (await one.run({}, 'backup', 'keygen', '--out', identity)).recipient };
});
afterAll(async () => {
  await one.env.stop();
  await other.env.stop();
  rmSync(folder, { recursive: true, force: true });
});

const filesOf = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(root, name)).isFile())
    .toSorted();
const newPlace = (): string => mkdtempSync(join(folder, 'place-'));
const objectsOf = async ({ store }: Installation): Promise<Record<string, string>> => {
  const found: Record<string, string> = {};
  for await (const { key } of store.list('')) {
    if (key.startsWith('platform/')) continue;
    const hash = createHash('sha256');
    for await (const chunk of (await store.get(key))?.body ?? []) hash.update(chunk as Buffer);
    found[key] = hash.digest('hex');
  }
  return found;
};
/** Jobs are sent again, migrations have run later, and positions of the feed go on further, as ids do: these rows differ on purpose. */
const withoutJobs = (digests: Record<string, string>) =>
  Object.fromEntries(Object.entries(digests).filter(([name]) => !/\.(jobs|migrations|feed_head)$/.test(name)));

const schemaOf = ({ env }: Installation): Promise<unknown[]> =>
  env.sql(`select conrelid::regclass::text as of, conname as name, pg_get_constraintdef(oid) as text from pg_constraint where connamespace::regnamespace::text not like 'pg%'
    union all select tablename, indexname, indexdef from pg_indexes where schemaname not like 'pg%'
    union all select tgrelid::regclass::text, tgname, tgenabled::text from pg_trigger where not tgisinternal
    union all select table_schema || '.' || table_name, grantee, privilege_type from information_schema.role_table_grants where grantee like 'coherence%' order by 1, 2, 3`);

describe('backup create and restore (rules/operations#backups)', () => {
  it.each(['plain', 'encrypted'] as const)('brings back every row and every object, %s', async (kind) => {
    const place = newPlace();
    const settings = { BACKUP_URL: place, ...(kind === 'plain' ? {} : keys) };
    const made = await one.run(settings, 'backup', 'create', '--objects');
    expect(made).toMatchObject({ encrypted: kind === 'encrypted', resumed: false, objects: 5 });
    expect(await one.run(settings, 'backup', 'verify')).toMatchObject({ id: made.id, digest: made.digest, ok: true, problems: [] });
    await other.destroy();
    const restore = ['backup', 'restore', '--yes', '--identity-file', identity, '--digest', made.digest];
    if (kind === 'plain') {
      await expect(other.run(settings, ...restore)).rejects.toThrow('is not encrypted, although a secret key is given');
      expect(await other.env.sql(`select from pg_namespace where nspname = 'conversations'`)).toEqual([]);
    }
    const restored = await other.run(settings, ...restore, ...(kind === 'plain' ? ['--allow-plain'] : []));
    expect(restored).toMatchObject({ id: made.id, objects: { restored: 5, present: 0 }, queues: { jobs: 2, outbox: 0 } });
    expect(withoutJobs(await other.digests())).toEqual(withoutJobs(await one.digests()));
    expect(await objectsOf(other)).toEqual(await objectsOf(one));
    const [positions] = await one.env.sql<{ next: string }>('select last_position + 100000 as next from events.feed_head');
    expect(await other.env.sql('select last_position as next from events.feed_head')).toEqual([positions]);
    // The schema is whole again: keys, indexes, triggers, rights of the services.
    expect(await schemaOf(other)).toEqual(await schemaOf(one));
  });

  it('copies objects once for all backups, and takes none for the same that is another', async () => {
    const place = newPlace();
    const settings = { BACKUP_URL: place, ...keys };
    await one.run(settings, 'backup', 'create', '--objects');
    const before = filesOf(join(place, 'objects')).map((name) => [name, statSync(join(place, 'objects', name)).mtimeMs]);
    await putObject(one.store, 'conversations/9/audio-new.mp3', Buffer.from('new'));
    await one.run(settings, 'backup', 'create', '--objects');
    const after = filesOf(join(place, 'objects')).map((name) => [name, statSync(join(place, 'objects', name)).mtimeMs]);
    expect(after.length).toBe(before.length + 1);
    expect(after).toEqual(expect.arrayContaining(before));
    await one.store.delete('conversations/9/audio-new.mp3');
    // What no backup names any more goes with the backups that named it.
    const third = await one.run(settings, 'backup', 'create', '--objects');
    const listed = await one.run(settings, 'backup', 'list');
    expect(listed.map((item: { state: string }) => item.state)).toEqual(['complete', 'complete', 'complete']);
    const soon = String(1 / 86_400_000);
    expect(await one.run(settings, 'backup', 'prune', '--keep-days', soon, '--dry-run')).toMatchObject({ objects: 1, dry_run: true });
    expect(await one.run(settings, 'backup', 'prune', '--keep-days', soon, '--yes')).toMatchObject({ objects: 1 });
    expect((await one.run(settings, 'backup', 'list')).map((item: { id: string }) => item.id)).toEqual([third.id]);
    expect(await one.run(settings, 'backup', 'verify')).toMatchObject({ ok: true });
  });

  it('is kept in a bucket as in a folder', async () => {
    const settings = { BACKUP_URL: `s3://${one.settings['S3_BUCKET']}-kept/nightly/a`, ...keys };
    await expect(one.run(settings, 'backup', 'list')).rejects.toThrow();
    await putBucket(`${one.settings['S3_BUCKET']}-kept`);
    const [first, second] = [await one.run(settings, 'backup', 'create', '--objects'), await one.run(settings, 'backup', 'create')];
    expect((await one.run(settings, 'backup', 'list')).map((item: { id: string }) => item.id)).toEqual([second.id, first.id]);
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

  it('goes on with a backup that was broken off behind its database', async () => {
    const place = newPlace();
    const settings = { BACKUP_URL: place };
    const made = await one.run(settings, 'backup', 'create', '--objects');
    const root = join(place, 'backups', made.id);
    // As if the process had died before the end of the objects.
    writeFileSync(
      join(root, 'draft.json'),
      JSON.stringify({ ...JSON.parse(readFileSync(join(root, 'manifest.json'), 'utf8')), objects: null }),
    );
    for (const name of ['manifest.json', 'manifest.sha256']) rmSync(join(root, name));
    expect(await one.run(settings, 'backup', 'list')).toMatchObject([{ id: made.id, state: 'broken off' }]);
    await expect(one.run(settings, 'backup', 'verify')).rejects.toThrow('no complete backup');
    expect(await one.run(settings, 'backup', 'create', '--objects')).toMatchObject({ id: made.id, resumed: true, objects: 5 });
    expect(await one.run(settings, 'backup', 'verify')).toMatchObject({ ok: true });
    expect(await one.run(settings, 'backup', 'create', '--objects', '--fresh')).toMatchObject({ resumed: false });
  });

  it('sees one moment of the database while others write', async () => {
    const place = newPlace();
    const writing = new AbortController();
    // Two rows of two schemas in one transaction: a backup has both or none.
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
    const [{ people, jobs }] = (await other.env.sql(`select (select count(*)::int from directory.people where name = 'Pair') as people,
      (select count(*)::int from transcripts.jobs where type = 'pair') as jobs`)) as [{ people: number; jobs: number }];
    expect(people).toBe(jobs);
    await one.env.sql(`delete from directory.people where name = 'Pair'`);
    await one.env.sql(`delete from transcripts.jobs where type = 'pair'`);
  });

  it('gives no id again that was given after the backup', async () => {
    const place = newPlace();
    await one.run({ BACKUP_URL: place }, 'backup', 'create');
    const [later] = await one.env.sql<{ id: number }>(`insert into directory.people (name) values ('Later') returning id`);
    await one.env.sql(`delete from directory.people where name = 'Later'`);
    await other.destroy();
    await other.run({ BACKUP_URL: place }, 'backup', 'restore', '--yes');
    const [next] = await other.env.sql<{ id: number }>(`insert into directory.people (name) values ('Next') returning id`);
    expect(next?.id).toBeGreaterThan((later?.id ?? 0) + 1_000);
  });

  it('goes into an empty installation alone, as a whole or not at all', async () => {
    const place = newPlace();
    const made = await one.run({ BACKUP_URL: place }, 'backup', 'create', '--objects');
    const before = await one.digests();
    await expect(one.run({ BACKUP_URL: place }, 'backup', 'restore', '--yes')).rejects.toThrow(/not empty/);
    expect(await one.digests()).toEqual(before);
    const file = join(place, 'backups', made.id, 'database/transcripts/jobs.zst');
    const bytes = readFileSync(file);
    writeFileSync(file, Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])]));
    await other.destroy();
    await expect(other.run({ BACKUP_URL: place }, 'backup', 'restore', '--yes')).rejects.toThrow(/jobs.zst/);
    expect(Object.keys(await other.digests()).filter((name) => !/audit_head|feed_head|migrations/.test(name))).toEqual([]);
    writeFileSync(file, bytes);
    expect(await other.run({ BACKUP_URL: place }, 'backup', 'restore', '--yes')).toMatchObject({ objects: { restored: 0, present: 5 } });
  });
});

describe('a restore that fails behind its rows (rules/operations#backups)', () => {
  it('cannot begin again, says how to go on, and is whole then: rights, queues', async () => {
    const settings = { BACKUP_URL: newPlace() };
    await one.run(settings, 'backup', 'create', '--objects');
    await other.destroy();
    // Rights come last, and one of the services has no address to read its role from.
    const failing = other.run({ ...settings, DATABASE_URL_TRANSCRIPTS: 'no address' }, 'backup', 'restore', '--yes');
    await expect(failing).rejects.toThrow(
      /rows are restored, but .*DATABASE_URL_TRANSCRIPTS.*migrate\.ts, then `doctor --after-restore`, while no/,
    );
    await expect(other.run(settings, 'backup', 'restore', '--yes')).rejects.toThrow(/not empty.*`doctor --after-restore`/);
    const url = other.settings['DATABASE_URL'] ?? '';
    const addresses = { serviceUrls: readServiceUrls(other.settings), auditUrl: readAuditUrl(other.settings) };
    await migrateServices({ url, logger: createLogger({ service: 'test', level: 'silent' }), ...addresses });
    expect(await other.run({}, 'doctor', '--after-restore')).toMatchObject({ queues: { jobs: 2, outbox: 0 } });
    expect(withoutJobs(await other.digests())).toEqual(withoutJobs(await one.digests()));
    expect(await schemaOf(other)).toEqual(await schemaOf(one));
  });
});

describe('backup verify (rules/operations#backups)', () => {
  it('fails for one flipped bit in any file of a backup', async () => {
    const place = newPlace();
    const settings = { BACKUP_URL: place, ...keys };
    await one.run(settings, 'backup', 'create', '--objects');
    const files = filesOf(place).filter((name) => !name.startsWith('erasures'));
    expect(files.length).toBeGreaterThan(40);
    const damagedFiles = isRelease ? files : files.filter((_name, index) => index % 8 === files.length % 8);
    for (const name of damagedFiles) {
      const file = join(place, name);
      const bytes = readFileSync(file);
      const at = bytes.length === 1 ? 0 : randomBytes(4).readUInt32BE() % bytes.length;
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(file, damaged);
      const failure = await one.run(settings, 'backup', 'verify').then(() => undefined, String);
      expect([name, at, failure]).toEqual([name, at, expect.stringMatching(/differs|cannot be trusted/)]);
      writeFileSync(file, bytes);
    }
    expect(await one.run(settings, 'backup', 'verify')).toMatchObject({ ok: true });
  });

  it('names what is missing, cut off, or swapped', async () => {
    const place = newPlace();
    const made = await one.run({ BACKUP_URL: place }, 'backup', 'create', '--objects');
    const at = (name: string): string => join(place, 'backups', made.id, 'database', name);
    const [people, conversations] = [readFileSync(at('directory/people.zst')), readFileSync(at('conversations/all_conversations.zst'))];
    const problems = async (): Promise<string[]> => {
      const failure = await one.run({ BACKUP_URL: place }, 'backup', 'verify').catch((error: unknown) => error);
      return (failure as { answer: { problems: string[] } }).answer.problems;
    };
    writeFileSync(at('directory/people.zst'), conversations);
    writeFileSync(at('conversations/all_conversations.zst'), people);
    expect(await problems()).toEqual([expect.stringContaining('all_conversations.zst'), expect.stringContaining('people.zst')]);
    writeFileSync(at('directory/people.zst'), people.subarray(0, 100));
    rmSync(at('conversations/all_conversations.zst'));
    expect(await problems()).toEqual([
      expect.stringMatching(/conversations.zst is missing/),
      expect.stringMatching(/people.zst ends after 100 of/),
    ]);
    // A link is no file of a backup, wherever it leads.
    rmSync(at('directory/people.zst'));
    symlinkSync('/etc/passwd', at('directory/people.zst'));
    expect(await problems()).toContainEqual(expect.stringMatching(/people.zst is not a file/));
  });
});

describe('a backup that somebody made up (rules/operations#backups)', () => {
  let real: { place: string; id: string };
  beforeAll(async () => {
    const place = newPlace();
    real = { place, id: (await one.run({ BACKUP_URL: place }, 'backup', 'create', '--objects')).id };
  });
  /** A real backup with another manifest, whose digest is right. */
  function forge(change: (manifest: any) => void): string {
    const place = newPlace();
    const { id } = real;
    cpSync(real.place, place, { recursive: true });
    const root = join(place, 'backups', id);
    const manifest = JSON.parse(readFileSync(join(root, 'manifest.json'), 'utf8'));
    change(manifest);
    const text = JSON.stringify(manifest);
    writeFileSync(join(root, 'manifest.json'), text);
    writeFileSync(join(root, 'manifest.sha256'), `${createHash('sha256').update(text).digest('hex')}\n`);
    return place;
  }
  const restoring = (place: string): Promise<unknown> => other.run({ BACKUP_URL: place }, 'backup', 'restore', '--yes');
  const peopleOf = (manifest: any) => manifest.schemas.directory.tables.find(({ name }: { name: string }) => name === 'people');

  it.each<[string, (manifest: any) => void, RegExp]>([
    ['a table that leads out of its folder', (m) => (peopleOf(m).name = '../../../../etc/passwd'), /not valid/],
    ['a column that is SQL', (m) => (peopleOf(m).columns[0] = "id) from program 'id' --"), /not valid/],
    ['a schema of the server', (m) => (m.schemas['pg_catalog'] = m.schemas.directory), /does not know/],
    ['a table that no migration makes', (m) => (peopleOf(m).name = 'pg_authid'), /not those that its migrations make/],
    ['a column that the table does not have', (m) => peopleOf(m).columns.push('superuser'), /not those that its migrations make/],
    ['a migration of a later release', (m) => m.schemas.media.migrations.push('Migration20990101000000_later'), /newer release/],
    ['a later format', (m) => (m.format = 2), /newer release/],
    ['fewer rows than there are', (m) => (peopleOf(m).rows -= 1), /manifest says/],
    ['fewer bytes than it unpacks to', (m) => (peopleOf(m).bytes -= 1), /unpacks to more/],
    ['the id of another backup', (m) => (m.id = '20200101T000000Z-000000'), /another backup/],
    [
      'a sequence that is SQL',
      (m) => m.schemas.directory.sequences.push({ name: 'x', value: '1); drop schema directory; --' }),
      /not valid/,
    ],
  ])('is refused with %s', async (_what, change, message) => {
    await other.destroy();
    await expect(restoring(forge(change))).rejects.toThrow(message);
    const filled = Object.keys(await other.digests()).filter((name) => !/audit_head|feed_head|migrations/.test(name));
    expect(filled).toEqual([]);
  });

  it('is told by the digest that was noted when the true one was made', async () => {
    const place = newPlace();
    const { digest } = await one.run({ BACKUP_URL: place }, 'backup', 'create');
    const forged = forge((manifest) => (manifest.version = '9.9.9'));
    await expect(one.run({ BACKUP_URL: forged }, 'backup', 'verify', '--digest', digest)).rejects.toThrow(/another backup/);
  });

  it('writes no object where the platform keeps its own, and none under a name that is no key', async () => {
    for (const key of ['platform/erasures/1-00000000000000000000000000000000.json', '../escape', 'a//b', '/etc/passwd']) {
      const place = forge((manifest) => {
        const line = `${JSON.stringify({ key, bytes: 1, stored_bytes: 1, sha256: '0'.repeat(64) })}\n`;
        manifest.objects = [{ count: 1, bytes: line.length, sha256: createHash('sha256').update(line).digest('hex') }];
        forgedLine = line;
      });
      const [id = ''] = readdirSync(join(place, 'backups'));
      writeFileSync(join(place, 'backups', id, 'objects/000000.jsonl'), forgedLine);
      await other.destroy();
      await expect(restoring(place)).rejects.toThrow(/names what no backup has|not valid/);
      expect(await objectsOf(other)).toEqual({});
    }
  });
  let forgedLine = '';

  it('is not opened by other keys, and no key is told', async () => {
    const place = newPlace();
    await one.run({ BACKUP_URL: place, ...keys }, 'backup', 'create');
    const wrong = join(place, 'wrong.txt');
    await one.run({}, 'backup', 'keygen', '--out', wrong);
    await other.destroy();
    const secret = readFileSync(wrong, 'utf8').split('\n')[1] ?? '-';
    for (const settings of [{}, { BACKUP_IDENTITY: secret }, { BACKUP_IDENTITY: `${secret}x` }] as Record<string, string>[]) {
      const failure = await other.run({ BACKUP_URL: place, ...settings }, 'backup', 'restore', '--yes').then(() => '', String);
      expect(failure).toMatch(/secret key/);
      expect(failure).not.toContain(secret.slice(15, 40));
    }
    await expect(one.run({ BACKUP_URL: place, BACKUP_RECIPIENTS: secret }, 'backup', 'create')).rejects.toThrow(/A secret key was given/);
    // What is stored says nothing of the rows.
    const stored = filesOf(place).map((name) => readFileSync(join(place, name)).toString('latin1'));
    expect(stored.some((text) => text.includes('Person 0') || text.includes('example.org'))).toBe(false);
    expect(statSync(wrong).mode & 0o777).toBe(0o600);
  });
});

async function putBucket(bucket: string): Promise<void> {
  const { createObjectStore, storeConfigOf } = await import('#libs/object-store');
  const { loadConfig, s3Settings } = await import('#libs/config');
  const { Type } = await import('#libs/contract');
  const store = createObjectStore(storeConfigOf(loadConfig(Type.Object(s3Settings), { ...one.settings, S3_BUCKET: bucket })));
  await store.ensureBucket();
  store.close();
}
