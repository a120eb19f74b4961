/** An installation without running services: a database and bucket to back up and restore, and the admin CLI. */
import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { loadConfig, s3Settings } from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';
import { createObjectStore, type ObjectStore, storeConfigOf } from '#libs/infrastructure/object-store';
import { listMigrations } from '#libs/infrastructure/release';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';
import { listDatabaseUrls } from '../../../libs/product/servers/service-accounts.ts';
import { askCli } from '../../ask-cli.ts';

export interface Installation {
  readonly env: TestEnvironment;
  readonly store: ObjectStore;
  readonly settings: Readonly<Record<string, string>>;
  /** Runs a command and returns its `--json` output. @throws the error of the command */
  run(settings: Readonly<Record<string, string>>, ...args: string[]): Promise<any>;
  /** Returns the row count and digest of every table that has rows. */
  digests(): Promise<Record<string, string>>;
  /** Removes the database and the bucket. */
  destroy(): Promise<void>;
}

export async function createInstallation(url: string): Promise<Installation> {
  const env = await createTestEnvironment(url);
  const { TEST_SERVICE_SECRET: secret = '' } = process.env;
  const settings = { ...env.settings, ...listDatabaseUrls(env.settings['DATABASE_URL'] ?? '', secret) };
  const store = createObjectStore(storeConfigOf(loadConfig(Type.Object(s3Settings), settings)));
  await store.ensureBucket();
  env.onStop(async () => store.close());
  return {
    env,
    store,
    settings,
    run: (more, ...args) => askCli({ ...settings, ...more }, ...args),
    digests: async () => {
      const tables = await env.sql<{ name: string }>(
        `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = any($1) order by 1`,
        [Object.keys(listMigrations())],
      );
      const found: Record<string, string> = {};
      for (const { name } of tables) {
        const [row] = await env.sql<{ count: number; digest: string }>(
          `select count(*)::int as count, md5(string_agg(md5(t::text), '' order by t::text collate "C")) as digest from ${name} t`,
        );
        if (row !== undefined && row.count > 0) found[name] = `${row.count} ${row.digest}`;
      }
      return found;
    },
    destroy: async () => {
      for (const schema of Object.keys(listMigrations())) await env.sql(`drop schema if exists ${schema} cascade`);
      for await (const { key } of store.list('')) await store.delete(key);
    },
  };
}

export async function putObject(store: ObjectStore, key: string, bytes: Uint8Array): Promise<void> {
  await store.putStream(key, Readable.from([bytes]), { contentType: 'application/octet-stream' });
}

/** Fills several schemas with values that are hard to copy, foreign keys, triggers, computed columns, and files. */
export async function fill({ env, store }: Installation): Promise<void> {
  const nasty = [
    '\\N',
    '\\.',
    'tab\there',
    'line\nbreak',
    'carriage\rreturn',
    '',
    'ÄÖ 😀 ‮rtl',
    'quote\'"',
    'x'.repeat(100_000),
  ];
  for (const [index, text] of nasty.entries()) {
    await env.sql(`insert into directory.people (name, description, contact) values ($1, $2, $3)`, [
      `Person ${index}`,
      text,
      JSON.stringify({ email: `p${index}@example.org`, text, big: '12345678901234567890.123' }),
    ]);
  }
  await env.sql(
    `insert into directory.accounts (email, person_id, password_hash) select 'p0@example.org', id, 'x' from directory.people where name = 'Person 0'`,
  );
  await env.sql(`insert into conversations.conversations (start_at, infos) select timestamptz '2026-01-01 10:00:00.123456+00' + n * interval '1 second',
    jsonb_build_object('n', n) from generate_series(1, 3000) n`);
  await env.sql(`insert into conversations.jobs (id, type, payload, state, sent_at, lease_until, lease, attempts) values
    ('${randomUUID()}', 'conversations.booking', '{}', 'queued', now(), null, 0, 0),
    ('${randomUUID()}', 'conversations.booking', '{}', 'running', null, now(), 1, 1)`);
  // Inserts one event of today and two of earlier days, for which a new installation has no partition.
  await env.sql(`insert into events.feed (position, occurred_at, service, number, id, type, subject_type, subject_id, data, farewell)
    select n, now() - n * interval '9 days', 'conversations', n, gen_random_uuid(), 'conversation.updated', 'conversation', n, '{}', false
    from generate_series(0, 2) n`);
  for (let index = 0; index < 5; index++) {
    const key = `conversations/${index + 1}/audio-${randomUUID()}.mp3`;
    await putObject(store, key, randomBytes(index === 0 ? 300_000 : 1_000 * index));
    await env.sql(
      `insert into media.blobs (kind, conversation_id, object_key, name, content_type, size_bytes, sha256, source) values
       ('audio', $1::int, $2, 'a.mp3', 'audio/mpeg', 1, repeat('0', 64), 'upload')`,
      [index + 1, key],
    );
  }
}
