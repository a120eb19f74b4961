/** Jobs as operators see them: RPCs of every service that has jobs, the same everywhere, for the admin CLI. */
import { notFound } from '#libs/errors';
import { type RawJson, rawJson } from '#libs/nats';
import type { Database } from '#libs/orm';
import { cancelJob, discardJobs, listJobs, redriveJobs, showJob } from './admin-statements.ts';
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

/** Jobs that one statement changes. */
const batchSize = 1_000;

type Choice = Omit<JobFilter, 'state'> & { readonly id?: string | undefined };

/** Runs a statement until nothing is left that it would take. @returns how many it took */
async function changeAll(db: Database, change: typeof redriveJobs, choice: Choice, onBatch?: () => void): Promise<number> {
  const { id, type, key, error } = choice;
  let total = 0;
  let after: string | undefined; // a job that dies again at once is not taken twice
  for (;;) {
    const rows = await change(db, { id, type, key, error, after, limit: batchSize });
    total += rows.length;
    if (rows.length > 0) onBatch?.();
    if (rows.length < batchSize) return total;
    after = rows
      .map((row) => row.id)
      .toSorted()
      .at(-1);
  }
}

/** Operators' access to one service's jobs. */
export function createJobAdmin(db: Database, relay: Pick<Relay, 'wake'>): JobAdmin {
  return {
    list: async ({ type, key, error, state, before, limit }) => (await listJobs(db, { type, key, error, state, before, limit })).body,
    show: async (id) => (await showJob(db, { id }))?.body,
    redrive: (choice) => changeAll(db, redriveJobs, choice, () => relay.wake()),
    discard: (choice) => changeAll(db, discardJobs, choice),
    cancel: async (id) => (await cancelJob(db, { id })).length,
  };
}
