import type { BackfillWork } from '#libs/infrastructure/orm/migrations';
import { redactText } from '#libs/infrastructure/redaction';

/**
 * Tables of the job library in a service's schema. `jobs` is the source of truth for the jobs of the service. `outbox`
 * contains events and jobs for other services until the broker has stored them.
 *
 * There are few indexes on purpose, because each job updates its row three times. Ids are UUIDs of version 7, so they
 * sort by creation time.
 */

/** Returns the SQL that creates the tables, for the first migration of each service. */
export function jobTables(schema: string): string {
  const busy =
    'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0';
  return `
    create table ${schema}.jobs (
      id uuid primary key,
      type text not null,
      key text,
      payload jsonb not null,
      state text not null default 'queued' constraint jobs__state__check check (state in ('queued', 'running', 'succeeded', 'dead', 'cancelled')),
      attempts integer not null default 0 constraint jobs__attempts__check check (attempts >= 0),
      generation integer not null default 0,
      run_at timestamptz not null default now(),
      sent_at timestamptz,
      lease integer not null default 0,
      lease_until timestamptz,
      worker text,
      percent smallint not null default 0 constraint jobs__percent__check check (percent between 0 and 100),
      phase text,
      error text,
      result jsonb,
      request_id text,
      traceparent text,
      created_at timestamptz not null default now(),
      alive_since timestamptz not null default now(),
      started_at timestamptz,
      finished_at timestamptz,
      constraint jobs__lease_until__check check ((state = 'running') = (lease_until is not null)),
      constraint jobs__finished_at__check check ((state in ('succeeded', 'dead', 'cancelled')) = (finished_at is not null))
    ) with (fillfactor = 70, ${busy});
    create index jobs__state_type_id__index on ${schema}.jobs (state, type, id) where state <> 'succeeded';
    create index jobs__run_at__index on ${schema}.jobs (run_at) where state = 'queued' and sent_at is null;
    create unique index jobs__type_key__unique on ${schema}.jobs (type, key)
      where key is not null and state = 'queued' and generation = 0;
    comment on column ${schema}.jobs.attempts is 'attempts begun in this life; one that did not count is taken back';
    comment on column ${schema}.jobs.generation is 'times the job was queued again; part of the broker''s message id';
    comment on column ${schema}.jobs.sent_at is 'when a queued job was handed to the broker; null = the relay sends it at run_at';
    comment on column ${schema}.jobs.lease is 'fencing token: grows with every change of hands';
    comment on column ${schema}.jobs.alive_since is 'creation or last redrive; the age that ends a job is counted from here';
    create table ${schema}.outbox (
      id bigint generated always as identity primary key,
      message_id uuid not null,
      kind text not null constraint outbox__kind__check check (kind in ('job', 'event')),
      subject text not null,
      body text not null,
      request_id text,
      traceparent text,
      send_after timestamptz not null default now(),
      backlog boolean not null default true,
      created_at timestamptz not null default now()
    ) with (${busy});
    comment on column ${schema}.outbox.send_after is 'in the future while a process sends the row; due again when that process is gone';
    comment on column ${schema}.outbox.backlog is 'false only while the process that committed the row sends it at once';
  `;
}

/**
 * Returns SQL for storing the attempts of a job and for finding jobs among millions (P2), for a migration of each
 * service. A successful attempt is recorded in the row of the job, at no extra cost.
 * @param how `concurrently` in an online migration, when jobs may exist already
 */
export function jobAttempts(schema: string, how: '' | 'concurrently' = ''): string[] {
  return [
    'create extension if not exists pg_trgm with schema public',
    `create table ${schema}.job_attempts (
      job_id uuid not null constraint job_attempts__job_id__foreign references ${schema}.jobs on delete cascade,
      number bigint generated always as identity,
      started_at timestamptz not null,
      duration_ms bigint not null,
      worker text,
      error text,
      waits boolean not null default false,
      constraint job_attempts__job_id_number__primary primary key (job_id, number)
    )`,
    `comment on table ${schema}.job_attempts is 'attempts that did not succeed'`,
    `comment on column ${schema}.job_attempts.waits is 'it found that what it needs is not there yet, and counts as none'`,
    // The previous release needs one of the two indexes at any time.
    `alter index ${schema}.jobs__state_type_id__index rename to jobs__state_type_id__former`,
    `create index ${how} jobs__state_type_id__index on ${schema}.jobs (state, type, id)`,
    `drop index ${how} ${schema}.jobs__state_type_id__former`,
    `create index ${how} jobs__key_id__index on ${schema}.jobs (key, id) where key is not null`,
    `create index ${how} jobs__request_id_id__index on ${schema}.jobs (request_id, id) where request_id is not null`,
    `create index ${how} jobs__conversation_id_id__index on ${schema}.jobs ((payload ->> 'conversation_id'), id) where payload ? 'conversation_id'`,
    `create index ${how} jobs__error__index on ${schema}.jobs using gin (error public.gin_trgm_ops) where error is not null`,
  ];
}

/**
 * Returns SQL for recording jobs that the broker has stored for other services, for a migration of each service. Until
 * its first delivery only the broker has such a job, so restoring the database without the broker would lose it.
 */
export function sentRemoteJobs(schema: string): string[] {
  return [
    `create table ${schema}.handed_over (
      message_id uuid constraint handed_over__message_id__primary primary key,
      subject text not null,
      body text not null,
      request_id text,
      traceparent text,
      handed_at timestamptz not null default now()
    )`,
    `create index handed_over__handed_at__index on ${schema}.handed_over (handed_at)`,
    `comment on table ${schema}.handed_over is 'jobs of other services that the broker has stored, kept for a day: a restore sends them again'`,
  ];
}

/**
 * Returns SQL for finding the newest jobs of a frequent error (P7), for a migration of each service. `how` as in
 * `jobAttempts`.
 */
export function failedJobs(schema: string, how: '' | 'concurrently' = ''): string[] {
  return [`create index ${how} jobs__id__failed__index on ${schema}.jobs (id) where error is not null`];
}

const batch = 1_000;

/**
 * Redacts stored errors, in a migration of each service. The database searches these errors, so with redaction only on
 * reading, a search could confirm a guessed secret.
 */
export async function redactStoredErrors(schema: string, query: Parameters<BackfillWork>[0]): Promise<void> {
  const read = `select id, error from ${schema}.jobs where error is not null and id > $1::uuid order by id limit ${batch}`;
  const write = `update ${schema}.jobs j set error = c.error from jsonb_to_recordset($1::jsonb) as c(id uuid, stored text, error text)
    where j.id = c.id and j.error = c.stored`;
  let last: string | undefined = '00000000-0000-0000-0000-000000000000';
  while (last !== undefined) {
    const rows = (await query(read, [last])) as { id: string; error: string }[];
    const changed = rows.flatMap(({ id, error: stored }) => {
      const error = redactText(stored);
      return error === stored ? [] : [{ id, stored, error }];
    });
    if (changed.length > 0) await query(write, [JSON.stringify(changed)]);
    last = rows.length < batch ? undefined : rows.at(-1)?.id;
  }
}
