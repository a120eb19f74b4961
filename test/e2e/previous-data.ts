/**
 * Creates a database of the previous release with rows, like that of an installation that has been used for some time.
 */
import { spawn } from 'node:child_process';
import pg from 'pg';
import type { TestEnvironment } from '#libs/product/testing';
import { listDatabaseUrls } from '../../libs/product/servers/service-accounts.ts';

/** Runs `node tools/migrate.ts` of a release. */
export interface MigrationProcess {
  output(): string;
  kill(): void;
  readonly status: Promise<number | null>;
}

/** Starts the migration of the release in `dir` as a set-up job does, with the database addresses of the services. */
export function startMigration(dir: string, { settings }: Pick<TestEnvironment, 'settings'>): MigrationProcess {
  const { DATABASE_URL: url = '' } = settings;
  const urls = listDatabaseUrls(url, process.env['TEST_SERVICE_SECRET'] ?? '');
  const child = spawn(process.execPath, ['tools/migrate.ts'], {
    cwd: dir,
    env: { ...process.env, ...urls, NODE_OPTIONS: '', DATABASE_URL: url, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  return {
    output: () => text,
    kill: () => void child.kill('SIGTERM'),
    status: new Promise((resolve) => child.once('close', resolve)),
  };
}

/**
 * Recreates the schemas of the environment in the state of the previous release and fills their large tables with
 * `rows` rows each.
 */
export async function makePreviousDatabase(env: TestEnvironment, dir: string, rows: number): Promise<void> {
  const schemas = await env.sql<{ name: string }>(
    `select nspname as name from pg_namespace where nspname in ('agents', 'conversations', 'directory', 'events', 'media', 'transcripts')`,
  );
  for (const { name } of schemas) await env.sql(`drop schema ${name} cascade`);
  const migration = startMigration(dir, env);
  const status = await migration.status;
  if (status !== 0)
    throw new Error(`the migration of the previous release ended with ${status}: ${migration.output()}`);
  const client = new pg.Client({ connectionString: env.settings['DATABASE_URL'], application_name: 'fill' });
  await client.connect();
  for (const fill of fills) await client.query(fill, [1, rows]);
  await client.query(fillPeople, [1, peopleOf(rows)]);
  await client.end();
}

/** Returns the number of people: a tenth of the other rows, because each insert also updates the search index. */
export const peopleOf = (rows: number): number => Math.ceil(rows / 10);

const jobsOf = (
  schema: string,
): string => `insert into ${schema}.jobs (id, type, key, payload, state, attempts, finished_at)
  select gen_random_uuid(), '${schema}.filled', 'key-' || n, jsonb_build_object('conversation_id', n, 'note', repeat('x', 200)), 'succeeded', 1,
    now() - n * interval '1 second'
  from generate_series($1::integer, $2::integer) n`;

const fillPeople = `insert into directory.people (id, key, name, description, contact)
   select 1000000 + n, 'filled-' || n, case n % 10 when 0 then 'Łukasz ß' else 'Person' end || ' ' || n, 'filled',
     jsonb_build_object('email', 'p' || n || '@example.org', 'phone', '+49 30 ' || n)
   from generate_series($1::integer, $2::integer) n`;

const fills = [
  `insert into conversations.all_conversations (id, start_at, participant_ids, infos)
   select 1000000 + n, now() - n * interval '1 minute', array[1000000 + n], jsonb_build_object('note', repeat('x', 300))
   from generate_series($1::integer, $2::integer) n`,
  `insert into conversations.bookings (id, conversation_id, attendee_key, last_event_at)
   select 1000000 + n, 1000000 + n, 'filled-' || n, now() from generate_series($1::integer, $2::integer) n`,
  `insert into conversations.booking_identifiers (identifier, booking_id)
   select 'number:' || n, 1000000 + n from generate_series($1::integer, $2::integer) n`,
  `insert into conversations.webhook_receipts (dedupe_key, delivery_id, received_at, person_id, headers, body, trigger_event, outcome, conversation_id, processed_at)
   select 'filled-' || n, 'delivery-' || n, now() - n * interval '1 second', n::text, '{}', convert_to('{"uid":"' || md5(n::text) || '","note":"' || repeat('y', 300) || '"}', 'UTF8'),
     'BOOKING_CREATED', 'created', 1000000 + n, now()
   from generate_series($1::integer, $2::integer) n`,
  `insert into conversations.pipeline_entries (conversation_id, step_id, pipeline_job, cause)
   select 1000000 + n, 1, 'filled', 'test' from generate_series($1::integer, $2::integer) n`,
  `insert into conversations.question_changes (conversation_id, question_id, occurred_at, key)
   select 1000000 + n, 1, now(), 'filled-' || n from generate_series($1::integer, $2::integer) n`,
  jobsOf('conversations'),
  jobsOf('agents'),
];
