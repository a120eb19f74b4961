/**
 * Backups by the admin CLI with a real database and object store: create, verify, restore, and damaged or tampered
 * backups.
 */
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isRelease, sized } from '../../drill.ts';
import type { Installation } from './installation.ts';
import { type BackupPair, createPair, filesOf, listRestored, objectsOf, schemaOf, withoutJobs } from './pair.ts';

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
  it.each(sized<('plain' | 'encrypted')[]>({ smoke: ['encrypted'], release: ['plain', 'encrypted'] }))(
    'restores every row and every object of the backup, %s',
    async (kind) => {
      const place = newPlace();
      const settings = { BACKUP_URL: place, ...(kind === 'plain' ? {} : keys) };
      const made = await one.run(settings, 'backup', 'create', '--objects');
      expect(made).toMatchObject({ encrypted: kind === 'encrypted', resumed: false, objects: 5 });
      expect(await one.run(settings, 'backup', 'verify')).toMatchObject({
        id: made.id,
        digest: made.digest,
        ok: true,
        problems: [],
      });
      await other.destroy();
      const restore = ['backup', 'restore', '--yes', '--identity-file', identity, '--digest', made.digest];
      if (kind === 'plain') {
        await expect(other.run(settings, ...restore)).rejects.toThrow('is not encrypted although a secret key is set');
        expect(await other.env.sql(`select from pg_namespace where nspname = 'conversations'`)).toEqual([]);
      }
      const restored = await other.run(settings, ...restore, ...(kind === 'plain' ? ['--allow-plain'] : []));
      expect(restored).toMatchObject({
        id: made.id,
        objects: { restored: 5, present: 0 },
        queues: { jobs: 2, outbox: 0 },
      });
      expect(withoutJobs(await other.digests())).toEqual(withoutJobs(await one.digests()));
      expect(await objectsOf(other)).toEqual(await objectsOf(one));
      const [positions] = await one.env.sql<{ next: string }>(
        'select last_position + 100000 as next from events.feed_head',
      );
      expect(await other.env.sql('select last_position as next from events.feed_head')).toEqual([positions]);
      // The schema is complete again: keys, indexes, triggers, service privileges.
      expect(await schemaOf(other)).toEqual(await schemaOf(one));
    },
  );

  it('rejects a restore into an installation with data', async () => {
    const settings = { BACKUP_URL: newPlace() };
    await one.run(settings, 'backup', 'create');
    const before = await one.digests();
    await expect(one.run(settings, 'backup', 'restore', '--yes')).rejects.toThrow(/not empty/);
    expect(await one.digests()).toEqual(before);
  });
});

describe('backup verify (rules/operations#backups)', () => {
  it('detects one flipped bit in any backup file', async () => {
    const place = newPlace();
    const settings = { BACKUP_URL: place, ...keys };
    await one.run(settings, 'backup', 'create', '--objects');
    const files = filesOf(place).filter((name) => !name.startsWith('erasures'));
    expect(files.length).toBeGreaterThan(40);
    const damagedFiles = isRelease ? files : files.filter((_name, index) => index % 16 === files.length % 16);
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

  it('reports missing, truncated and swapped backup files', async () => {
    const place = newPlace();
    const made = await one.run({ BACKUP_URL: place }, 'backup', 'create', '--objects');
    const at = (name: string): string => join(place, 'backups', made.id, 'database', name);
    const [people, conversations] = [
      readFileSync(at('directory/people.zst')),
      readFileSync(at('conversations/all_conversations.zst')),
    ];
    const problems = async (): Promise<string[]> => {
      const failure = await one.run({ BACKUP_URL: place }, 'backup', 'verify').catch((error: unknown) => error);
      return (failure as { answer: { problems: string[] } }).answer.problems;
    };
    writeFileSync(at('directory/people.zst'), conversations);
    writeFileSync(at('conversations/all_conversations.zst'), people);
    expect(await problems()).toEqual([
      expect.stringContaining('all_conversations.zst'),
      expect.stringContaining('people.zst'),
    ]);
    writeFileSync(at('directory/people.zst'), people.subarray(0, 100));
    rmSync(at('conversations/all_conversations.zst'));
    expect(await problems()).toEqual([
      expect.stringMatching(/conversations.zst is missing/),
      expect.stringMatching(/people.zst ends after 100 of/),
    ]);
    // A symbolic link is rejected as a backup file, whatever its target.
    rmSync(at('directory/people.zst'));
    symlinkSync('/etc/passwd', at('directory/people.zst'));
    expect(await problems()).toContainEqual(expect.stringMatching(/people.zst is not a file/));
  });
});

describe('a forged backup (rules/operations#backups)', () => {
  let real: { place: string; id: string };
  beforeAll(async () => {
    const place = newPlace();
    real = { place, id: (await one.run({ BACKUP_URL: place }, 'backup', 'create', '--objects')).id };
  });
  /** Copies a real backup, changes its manifest, and writes the correct digest. */
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
  const peopleOf = (manifest: any) =>
    manifest.schemas.directory.tables.find(({ name }: { name: string }) => name === 'people');

  type Forgery = readonly [what: string, change: (manifest: any) => void, message: RegExp];
  const forgeries: readonly Forgery[] = [
    ['a table that leads out of its folder', (m) => (peopleOf(m).name = '../../../../etc/passwd'), /not valid/],
    ['a column that is SQL', (m) => (peopleOf(m).columns[0] = "id) from program 'id' --"), /not valid/],
    ['a schema of the server', (m) => (m.schemas['pg_catalog'] = m.schemas.directory), /does not know/],
    [
      'a migration of a later release',
      (m) => m.schemas.media.migrations.push('Migration20990101000000_later'),
      /newer release/,
    ],
    ['a later format', (m) => (m.format = 2), /newer release/],
    ['fewer rows than there are', (m) => (peopleOf(m).rows -= 1), /manifest says/],
    ['the id of another backup', (m) => (m.id = '20200101T000000Z-000000'), /another backup/],
    [
      'a sequence that is SQL',
      (m) => m.schemas.directory.sequences.push({ name: 'x', value: '1); drop schema directory; --' }),
      /not valid/,
    ],
  ];
  const more: readonly Forgery[] = [
    [
      'a column that the table does not have',
      (m) => peopleOf(m).columns.push('superuser'),
      /not those that its migrations make/,
    ],
    ['a table that no migration makes', (m) => (peopleOf(m).name = 'pg_authid'), /not those that its migrations make/],
    ['fewer bytes than it unpacks to', (m) => (peopleOf(m).bytes -= 1), /unpacks to more/],
  ];
  it.each(sized({ smoke: forgeries, release: [...forgeries, ...more] }))(
    'rejects a forged backup with %s',
    async (_what, change, message) => {
      await other.destroy();
      await expect(restoring(forge(change))).rejects.toThrow(message);
      expect(await listRestored(other)).toEqual([]);
    },
  );

  it('detects a forged backup when the digest of the original is specified', async () => {
    const place = newPlace();
    const { digest } = await one.run({ BACKUP_URL: place }, 'backup', 'create');
    const forged = forge((manifest) => (manifest.version = '9.9.9'));
    await expect(one.run({ BACKUP_URL: forged }, 'backup', 'verify', '--digest', digest)).rejects.toThrow(
      /another backup/,
    );
  });

  it('rejects objects with an invalid key or a key of the platform itself', async () => {
    const own = 'platform/erasures/1-00000000000000000000000000000000.json';
    for (const key of sized({ smoke: [own, '../escape'], release: [own, '../escape', 'a//b', '/etc/passwd'] })) {
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

  it('rejects decryption with other keys, without the key in the error message', async () => {
    const place = newPlace();
    await one.run({ BACKUP_URL: place, ...keys }, 'backup', 'create');
    const wrong = join(place, 'wrong.txt');
    await one.run({}, 'backup', 'keygen', '--out', wrong);
    await other.destroy();
    const secret = readFileSync(wrong, 'utf8').split('\n')[1] ?? '-';
    for (const settings of [{}, { BACKUP_IDENTITY: secret }, { BACKUP_IDENTITY: `${secret}x` }] as Record<
      string,
      string
    >[]) {
      const failure = await other
        .run({ BACKUP_URL: place, ...settings }, 'backup', 'restore', '--yes')
        .then(() => '', String);
      expect(failure).toMatch(/secret key/);
      expect(failure).not.toContain(secret.slice(15, 40));
    }
    await expect(one.run({ BACKUP_URL: place, BACKUP_RECIPIENTS: secret }, 'backup', 'create')).rejects.toThrow(
      /A secret key was given/,
    );
    // Stored bytes do not reveal row contents.
    const stored = filesOf(place).map((name) => readFileSync(join(place, name)).toString('latin1'));
    expect(stored.some((text) => text.includes('Person 0') || text.includes('example.org'))).toBe(false);
    expect(statSync(wrong).mode & 0o777).toBe(0o600);
  });
});
