/**
 * The backup drill (rules/operations#backups, rules/operations#after-a-restore): backs up under load, destroys
 * everything, restores from another location, and compares the result with the acknowledged data.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { generateKeys } from '#libs/product/backup';
import { loadConfig, s3Settings } from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';
import { createLogger } from '#libs/infrastructure/logger';
import { connectBus } from '#libs/infrastructure/nats';
import { createObjectStore, storeConfigOf } from '#libs/infrastructure/object-store';
import { listMigrations } from '#libs/infrastructure/release';
import { listDatabaseUrls } from '../../libs/product/servers/service-accounts.ts';
import { applyDemo, createConversation, startTestPlatform } from './test-platform.ts';
import type { Demo, TestPlatform } from './test-platform.ts';

/** A conversation as the client knows it. Times are measured in this process. */
interface Written {
  readonly id: number;
  readonly begunAt: number;
  ackedAt: number;
  /** The last acknowledged value and the last sent value. */
  value: number;
  sent: number;
  audio?: { readonly ackedAt: number; readonly sha256: string };
}

let platform: TestPlatform;
let demo: Demo;
let place: string;
let token: string;
const erased = 'Quintessa Vanderhoeven';
/** People are merged into the previous one, from last to first; the remaining person is erased. */
const merged = ['Barnabas Quillfeather', 'Barney Quillfeather', 'B. Quillfeather'];

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'coherence-drill-'));
  const { secret, recipient } = await generateKeys();
  platform = await startTestPlatform(
    import.meta.url,
    { BACKUP_URL: place, BACKUP_RECIPIENTS: recipient, BACKUP_IDENTITY: secret },
    { processes: true },
  );
  demo = await applyDemo(platform, 'drill');
  const people = merged.map((name, index) => ({ key: `merged-${index}`, name }));
  await platform.apply({
    people: [{ key: 'quintessa', name: erased, contact: { email: 'quintessa@example.org' } }, ...people],
  });
  // The merged person was created before the surviving one, so the surviving person gets the earlier date.
  for (const index of merged.keys())
    await platform.sql(
      `update directory.people set created_at = created_at - make_interval(days => $1) where key = $2`,
      [index, `merged-${index}`],
    );
  token = await platform.login('ada-drill@example.org', 'secret-of-ada-drill');
});
afterAll(async () => {
  await platform.stop();
  rmSync(place, { recursive: true, force: true });
});

/** Checks the exit code; progress output on stderr is not a failure. */
function succeeded({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }): void {
  if (code !== 0) throw new Error(stdout + stderr);
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const pathOf = (id: number): string => `/api/coherence/conversations/${id}`;

async function write(count: number): Promise<Written> {
  const begunAt = Date.now();
  const start = new Date(Date.UTC(2026, 0, 1) - count * 3_600_000).toISOString();
  const { id } = await createConversation(platform, demo, start);
  return { id, begunAt, ackedAt: Date.now(), value: -1, sent: -1 };
}

async function change(item: Written, value: number): Promise<void> {
  item.sent = value;
  const answer = await platform.call('PATCH', pathOf(item.id), {
    token,
    json: { infos: { coherence: { count: value } } },
  });
  if (answer.status !== 200) throw new Error(`PATCH: ${answer.status} ${answer.text}`);
  item.value = value;
  item.ackedAt = Date.now();
}

async function upload(item: Written): Promise<void> {
  const bytes = randomBytes(20_000);
  const form = new FormData();
  form.append('audio', new Blob([bytes]), 'talk.mp3');
  const answer = await platform.call('POST', `${pathOf(item.id)}/audio`, { token, body: form });
  if (answer.status !== 201) throw new Error(`audio: ${answer.status} ${answer.text}`);
  item.audio = { ackedAt: Date.now(), sha256: hashOf(bytes) };
}

async function destroyEverything(): Promise<void> {
  await platform.runtime.stop();
  for (const schema of Object.keys(listMigrations())) await platform.sql(`drop schema ${schema} cascade`);
  const store = createObjectStore(storeConfigOf(loadConfig(Type.Object(s3Settings), platform.runtime.settings)));
  for await (const { key } of store.list('')) await store.delete(key);
  store.close();
}

/** Adds a job message with its full payload to the broker. The restored database does not know this job. */
async function leaveOldMessage(): Promise<void> {
  const { NATS_URL: url = '', NATS_SUBJECT_PREFIX: prefix } = platform.runtime.settings;
  const bus = await connectBus({
    url,
    prefix,
    name: 'drill',
    logger: createLogger({ service: 'drill', level: 'silent' }),
  });
  const body = JSON.stringify({ id: '01980000-0000-7000-8000-000000000001', payload: { conversation_id: 1 } });
  await bus.publishDurable('jobs.media.videohost-publish', body, { msgId: 'old-message' });
  await bus.close();
}

/**
 * Prints the measured objectives for docs/guides/backup.md. At most the writes since the start of the backup are lost.
 */
function tellObjectives({
  lostMs,
  restoreMs,
  startMs,
}: Readonly<Record<'lostMs' | 'restoreMs' | 'startMs', number>>): void {
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const row = [seconds(lostMs), seconds(restoreMs), seconds(startMs), seconds(restoreMs + startMs)].join(' | ');
  process.stdout.write(`| RPO (age of the backup) | restore | services | RTO |\n|---|---|---|---|\n| ${row} |\n`);
}

describe('recovery from the loss of all data', () => {
  const written: Written[] = [];
  const afterwards: Written[] = [];
  let begunAt = 0;
  let snapshotAt = 0;
  let backup: { id: string; digest: string };

  it('creates a backup under load, which verifies until one byte is changed', async () => {
    for (let count = 0; count < 6; count++) {
      const item = await write(count);
      await change(item, 1);
      await upload(item);
      written.push(item);
    }
    const ended = new AbortController();
    const load = Promise.all(
      [0, 1].map(async (part) => {
        for (let value = 2; !ended.signal.aborted; value++) {
          if (value % 4 === 0) written.push(await write(100 * (part + 1) + value));
          const item = written.filter((_item, index) => index % 2 === part)[value % 3];
          if (item !== undefined) await change(item, value);
        }
      }),
    );
    begunAt = Date.now();
    snapshotAt = performance.now();
    const made = await platform.cli('backup', 'create', '--objects', '--json');
    ended.abort();
    await load;
    succeeded(made);
    backup = JSON.parse(made.stdout) as typeof backup;
    expect(await platform.ask('backup', 'verify', '--digest', backup.digest)).toMatchObject({ ok: true });
    const files = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) =>
      statSync(join(place, name)).isFile(),
    );
    const file = join(place, files[Date.now() % files.length] ?? '');
    const bytes = readFileSync(file);
    writeFileSync(file, Buffer.concat([Buffer.from([(bytes[0] ?? 0) ^ 4]), bytes.subarray(1)]));
    await expect(platform.ask('backup', 'verify')).rejects.toThrow(/differs|cannot be trusted/);
    writeFileSync(file, bytes);
  });

  it('restores everything written before the backup, and nothing that was written later', async () => {
    afterwards.push(await write(1_000));
    expect((await platform.cli('people', 'erase', 'quintessa', '--yes')).code).toBe(0);
    succeeded(await platform.cli('people', 'merge', 'merged-1', 'merged-2', '--yes'));
    succeeded(await platform.cli('people', 'merge', 'merged-0', 'merged-1', '--yes'));
    succeeded(await platform.cli('people', 'erase', 'merged-0', '--yes'));
    for (const name of merged) expect(await platform.findInDatabase(name)).toEqual([]);
    await leaveOldMessage();
    const lostAt = performance.now();
    await destroyEverything();
    const destroyedAt = performance.now();
    // The set-up job also passes these URLs, so that the roles of the services receive their rights.
    const urls = listDatabaseUrls(
      platform.runtime.cliSettings['DATABASE_URL'] ?? '',
      process.env['TEST_SERVICE_SECRET'] ?? '',
    );
    Object.assign(process.env, urls);
    const restored = await platform.cli('backup', 'restore', '--yes', '--digest', backup.digest, '--json');
    for (const name of Object.keys(urls)) delete process.env[name];
    succeeded(restored);
    const restoredAt = performance.now();
    expect(JSON.parse(restored.stdout)).toMatchObject({ id: backup.id, erasures: 6 });
    expect(JSON.parse(restored.stdout).queues.dropped).toBeGreaterThanOrEqual(1);
    expect((await platform.cli('doctor', '--after-restore', '--json')).code).toBe(0); // The check may be repeated while no service runs.
    await Promise.all([...platform.runtime.processes.keys()].map((name) => platform.runtime.restart(name)));
    expect((await platform.call('GET', pathOf(written[0]?.id ?? 0), { token })).status).toBe(200);
    tellObjectives({
      lostMs: lostAt - snapshotAt,
      restoreMs: restoredAt - destroyedAt,
      startMs: performance.now() - restoredAt,
    });

    for (const item of written.filter(({ begunAt: at }) => at < begunAt)) {
      const { status, json } = await platform.call('GET', pathOf(item.id), { token });
      expect([item.id, status]).toEqual([item.id, 200]);
      // The value is at least the last one acknowledged before the backup, and at most the last one sent.
      const value = json.infos.coherence?.count ?? -1;
      expect(value).toBeGreaterThanOrEqual(item.ackedAt < begunAt ? item.value : 1);
      expect(value).toBeLessThanOrEqual(item.sent);
      const audio = await fetch(`${platform.baseUrl}${pathOf(item.id)}/audio`, {
        headers: { authorization: `Bearer ${platform.sharedToken}` },
      });
      expect([item.id, hashOf(new Uint8Array(await audio.arrayBuffer()))]).toEqual([item.id, item.audio?.sha256]);
    }
    for (const { id } of afterwards) expect((await platform.call('GET', pathOf(id), { token })).status).toBe(404);
    expect((await write(2_000)).id).toBeGreaterThan(afterwards[0]?.id ?? 0); // the id is not reused
  });

  it('erases people again whose erasure the backup does not contain, and loses no file (doctor --after-restore)', async () => {
    expect(await platform.findInDatabase(erased)).toEqual(['directory.history', 'directory.people']);
    const found = await platform.cli('doctor', '--after-restore', '--json');
    succeeded(found);
    const { queues, people, objects } = JSON.parse(found.stdout) as {
      queues: null;
      people: { erased: number[]; others: number };
      objects: { missing: []; orphans: [] };
    };
    expect([queues, people.erased.length, people.others, objects.missing]).toEqual([null, 1 + merged.length, 0, []]);
    for (const name of [erased, ...merged]) expect(await platform.findInDatabase(name)).toEqual([]);
    expect(await platform.findInDatabase('quintessa@example.org')).toEqual([]);
    const again = JSON.parse((await platform.cli('doctor', '--after-restore', '--json')).stdout) as {
      people: { erased: number[]; gone: number };
    };
    expect(again.people).toMatchObject({ erased: [], gone: 1 + merged.length });
    expect((await platform.cli('doctor')).stdout).toContain('All is well');
  });

  it('does not change a person with the same id as an erased person', async () => {
    const { ids } = await platform.apply({ people: [{ key: 'newcomer', name: 'Newcomer' }] });
    const id = ids['people']?.['newcomer'] ?? 0;
    const store = createObjectStore(storeConfigOf(loadConfig(Type.Object(s3Settings), platform.runtime.settings)));
    const entry = JSON.stringify({ person_id: id, digest: 'a'.repeat(64), visitor_ids: [], telegram_user_ids: [] });
    for (const [name, text] of [
      [`platform/erasures/${id}-${'0'.repeat(32)}.json`, entry],
      [`platform/erasures/${id}-${'1'.repeat(32)}.json`, '{"person_id":"all"}'],
    ] as const) {
      await store.putStream(
        name,
        (async function* once() {
          yield Buffer.from(text);
        })(),
        { contentType: 'application/json' },
      );
    }
    store.close();
    const found = await platform.cli('doctor', '--after-restore', '--json');
    const { people } = JSON.parse(found.stdout) as { people: { others: number; damaged: string[] } };
    expect([people.others, people.damaged.length, found.code]).toEqual([1, 1, 1]);
    expect((await platform.sql('select 1 from directory.people where id = $1', [id])).length).toBe(1);
    expect((await platform.ask('media', 'orphans')).orphans).toEqual([]);
  });
});
