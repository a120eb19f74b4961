/** Jobs as operators see them: RPCs of every service that has jobs, the same everywhere, for the admin CLI. */
import { notFound } from '#libs/errors';
import { type RawJson, rawJson } from '#libs/nats';
import { type Database, statement } from '#libs/orm';
import type { Relay } from './relay.ts';
import type { JobAdmin, JobFilter } from './types.ts';

/** Handlers of `jobAdminRpcs`, to be spread into the service's handlers. */
export function jobAdminHandlers({ admin }: { readonly admin: JobAdmin }) {
  return {
    jobsList: async (request: JobFilter & { limit?: number; before?: string }): Promise<RawJson> =>
      rawJson(await admin.list({ ...request, limit: request.limit ?? 100 })),
    jobsShow: async ({ id }: { id: string }): Promise<RawJson> => {
      const job = await admin.show(id);
      if (job === undefined) throw notFound('Job not found');
      return rawJson(job);
    },
    jobsRedrive: async (request: Omit<JobFilter, 'state'> & { id?: string }) => ({ redriven: await admin.redrive(request) }),
    jobsDiscard: async (request: Omit<JobFilter, 'state'> & { id?: string }) => ({ discarded: await admin.discard(request) }),
    jobsCancel: async ({ id }: { id: string }) => ({ cancelled: await admin.cancel(id) }),
  };
}

const instant = (column: string): string => `'${column}', iso_utc(${column})`;
const shown = `'id', id, 'type', type, 'key', key, 'state', state, 'attempts', attempts, 'percent', percent, 'phase', phase, 'error', error,
  'worker', worker, 'request_id', request_id, ${['created_at', 'run_at', 'started_at', 'finished_at'].map(instant).join(', ')}`;
const matching = `($1::text is null or type = $1) and ($2::text is null or key = $2) and ($3::text is null or strpos(error, $3) > 0)`;

/** $1 type, $2 key, $3 part of the error, $4 state, $5 before, $6 limit. */
const listJobs = statement(
  'jobs.admin-list',
  `select json_build_object('items', coalesce(json_agg(item), '[]'))::text as body from (
     select json_build_object(${shown}) as item from jobs
     where ${matching} and ($4::text is null or state = $4) and ($5::uuid is null or id < $5) order by id desc limit $6
   ) page`,
);
/** $1 id. */
const showJob = statement(
  'jobs.admin-show',
  `select json_build_object(${shown}, 'payload', payload, 'result', result, 'traceparent', traceparent)::text as body from jobs where id = $1`,
);
/** Those of a state that match. $1 type, $2 key, $3 part of the error, $4 id, $5 limit, $6 after this id. */
const chosen = (states: string): string => `chosen as (
     select id from jobs where ${states} and ${matching} and ($4::uuid is null or id = $4)
       and ($6::uuid is null or id > $6) order by id limit $5 for update skip locked
   )`;
/** Parameters of `chosen`. What somebody has cancelled is queued again only by its name. */
const redriveJobs = statement(
  'jobs.admin-redrive',
  `with ${chosen(`(state = 'dead' or state = 'cancelled' and id = $4::uuid)`)}
   update jobs j set state = 'queued', attempts = 0, generation = generation + 1, lease = lease + 1, run_at = now(), sent_at = null,
     alive_since = now(), finished_at = null, percent = 0, phase = null
   from chosen where j.id = chosen.id returning j.id`,
);
/** Parameters of `chosen`. The error stays: it is why the job was given up. */
const discardJobs = statement(
  'jobs.admin-discard',
  `with ${chosen(`state = 'dead'`)}
   update jobs j set state = 'cancelled', finished_at = now() from chosen where j.id = chosen.id returning j.id`,
);
/** $1 id. */
const cancelJob = statement(
  'jobs.admin-cancel',
  `update jobs set state = 'cancelled', lease = lease + 1, lease_until = null, finished_at = now(), sent_at = null
   where id = $1 and state in ('queued', 'running') returning id`,
);

/** Jobs that one statement changes. */
const batchSize = 1_000;

type Choice = Omit<JobFilter, 'state'> & { readonly id?: string | undefined };

/** Runs a statement of the parameters of `chosen` until nothing is left that it would take. @returns how many it took */
async function changeAll(db: Database, sql: typeof redriveJobs, { id, type, key, error }: Choice, onBatch?: () => void): Promise<number> {
  let total = 0;
  let after: string | null = null; // a job that dies again at once is not taken twice
  for (;;) {
    const values: unknown[] = [type ?? null, key ?? null, error ?? null, id ?? null, batchSize, after];
    const rows = await db.query<{ id: string }>(sql, values);
    total += rows.length;
    if (rows.length > 0) onBatch?.();
    if (rows.length < batchSize) return total;
    after =
      rows
        .map((row) => row.id)
        .toSorted()
        .at(-1) ?? null;
  }
}

/** Operators' access to one service's jobs. */
export function createJobAdmin(db: Database, relay: Pick<Relay, 'wake'>): JobAdmin {
  return {
    list: async ({ type, key, error, state, before, limit }) => {
      const [row] = await db.query<{ body: string }>(listJobs, [
        type ?? null,
        key ?? null,
        error ?? null,
        state ?? null,
        before ?? null,
        limit,
      ]);
      return row?.body ?? '{"items":[]}';
    },
    show: async (id) => {
      const [row] = await db.query<{ body: string }>(showJob, [id]);
      return row?.body;
    },
    redrive: (choice) => changeAll(db, redriveJobs, choice, () => relay.wake()),
    discard: (choice) => changeAll(db, discardJobs, choice),
    cancel: async (id) => (await db.query(cancelJob, [id])).length,
  };
}
