/** Operator access to jobs for the gateway: the same RPCs for every service with jobs (P2, P3). */
import { requireOpsOperator, requireOpsReader } from '#libs/infrastructure/actor';
import { type AuditContext, describeBulkAct, type NewAuditEntry, recordAudit } from '#libs/infrastructure/audit';
import type { Actor, JobChange, JobItem, TimelineFact } from '#libs/infrastructure/contract';
import { appError, notFound } from '#libs/infrastructure/errors';
import { parseJson } from '#libs/infrastructure/json';
import { type RawJson, rawJson } from '#libs/infrastructure/nats';
import type { Database, Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import { redactBody, redactJson } from '#libs/infrastructure/redaction';
import * as statements from './admin-statements.ts';
import type { Relay } from './relay.ts';
import type { ChangeRequest, JobAdmin, JobFilter, JobState, RecordChange } from './types.ts';
import { minUuidAt } from './uuid.ts';
import { parseInstant } from '#libs/infrastructure/time';

type Asking = { readonly actor?: Actor | undefined };

/** Returns the handlers of `jobAdminRpcs`, to be spread into the service's handlers. */
export function jobAdminHandlers({ admin }: { readonly admin: JobAdmin }) {
  const list = async ({
    limit,
    ...request
  }: JobFilter & { limit?: number; before?: string; inclusive?: boolean }): Promise<RawJson> =>
    rawJson(await admin.list({ ...request, limit: limit ?? 100 }));
  const show = async ({ id }: { id: string }): Promise<RawJson> => {
    const job = await admin.find(id);
    if (job === undefined) throw notFound('Job not found');
    return rawJson(job);
  };
  const redrive = (request: ChangeRequest, context: AuditContext): Promise<JobChange> =>
    admin.redrive(request, (tx, counts) => recordAudit(tx, context, describeChange(request, counts)));
  const cancel = (request: ChangeRequest, context: AuditContext): Promise<JobChange> =>
    admin.cancel(request, (tx, counts) => recordAudit(tx, context, describeChange(request, counts)));
  const findLatest = async (request: { type: string; conversation_ids: readonly number[] }) => ({
    items: await admin.findLatest(request.type, request.conversation_ids),
  });
  const retry = async (
    { id, conversation_id: conversationId }: { id: string; conversation_id: number },
    context: AuditContext,
  ) => {
    const target = { type: 'conversation', id: conversationId };
    const state = await admin.retry(id, (tx) => recordAudit(tx, context, { target, changes: { job: id } }));
    if (state === undefined) throw appError('not_found', 'job_not_found', 'The job does not exist.');
    return { state };
  };
  const reading =
    <Request, Reply>(work: (request: Request) => Promise<Reply>) =>
    (request: Request, { actor }: Asking): Promise<Reply> => {
      requireOpsReader(actor);
      return work(request);
    };
  const acting =
    <Request, Reply>(work: (request: Request, context: AuditContext) => Promise<Reply>) =>
    (request: Request, context: AuditContext): Promise<Reply> => {
      requireOpsOperator(context.actor);
      return work(request, context);
    };
  return {
    listJobs: reading(list),
    showJob: reading(show),
    redriveJobs: acting(redrive),
    cancelJobs: acting(cancel),
    findLatestJobs: reading(findLatest),
    retryJob: acting(retry),
  };
}

/** Returns the audit entry of a change: the filter or the ids, and the counts (A4, D99). */
function describeChange(
  { ids, dry_run: _isDry, ...filter }: ChangeRequest,
  counts: Omit<JobChange, 'items'>,
): NewAuditEntry {
  return describeBulkAct({ filter, ids }, counts);
}

/** Number of jobs that one statement changes. */
const batchSize = 1_000;
/** Jobs listed in the reply to a change. */
const listed = 100;

function toValues(requested: JobFilter) {
  const { state, type, key, error, conversation_id: conversationId, request_id: requestId } = requested;
  const { created_after: createdAfter, created_before: createdBefore } = requested;
  return {
    state,
    type,
    key,
    error: error === undefined ? undefined : `%${error.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`,
    conversationId: conversationId === undefined ? undefined : String(conversationId),
    requestId,
    from: createdAfter === undefined ? undefined : firstIdOf(createdAfter),
    to: createdBefore === undefined ? undefined : firstIdOf(createdBefore),
  };
}

/** Returns the smallest job id at or after this instant; ids contain whole milliseconds. */
function firstIdOf(text: string): string {
  const parsed = parseInstant(text);
  const timeMs = parsed.kind === 'invalid' ? 0 : Number((parsed.instant + 999n) / 1_000n);
  return minUuidAt(Math.min(Math.max(timeMs, 0), 2 ** 48 - 1));
}

/**
 * Returns the states whose jobs a change affects. A filter affects fewer states than explicit ids, so that it cannot
 * change jobs by accident.
 */
type StatesOf = (request: ChangeRequest) => readonly JobState[];
/** Cancelled jobs are queued again only by id. */
const redrivable: StatesOf = ({ ids }) => (ids === undefined ? ['dead'] : ['dead', 'cancelled']);
/** Dead jobs are cancelled only by id, or with the filter `dead`. */
const cancellable: StatesOf = ({ ids, state }) =>
  ids === undefined && state !== 'dead' ? ['queued', 'running'] : ['queued', 'running', 'dead'];

/** Creates the operator access to the jobs of one service. */
export function createJobAdmin(db: Database, relay: Pick<Relay, 'wake'>): JobAdmin {
  /** Changes jobs in one transaction, which includes the entry of `record` if at least one job changed. */
  const change = async (
    { statesOf, statement }: { statesOf: StatesOf; statement: typeof statements.redriveJobs },
    request: ChangeRequest,
    record: RecordChange | undefined,
    changed: () => void,
  ): Promise<JobChange> => {
    const ids = request.ids === undefined ? undefined : [...new Set(request.ids)];
    const choice = { ...toValues(request), ids, states: statesOf(request) };
    return await db.transaction(async (tx) => {
      if (request.dry_run !== true) await statements.lockJobChanges(tx);
      const { matched, known, first } = await statements.countMatching(tx, { ...choice, limit: listed });
      const unknown = (ids?.length ?? 0) - known;
      const done = request.dry_run === true || matched === 0 ? 0 : await changeAll(tx, statement, choice);
      // Jobs that match and cannot be changed are ending at this moment.
      const missed = request.dry_run === true ? 0 : Math.max(0, matched - done);
      const counts = { matched, changed: done, failed: unknown + missed };
      if (done > 0) {
        record?.(tx, counts);
        tx.afterCommit(changed);
      }
      const { items } = await statements.readJobs(tx, { ids: first });
      return { ...counts, items: redactJson(JSON.parse(items)) as JobItem[] };
    });
  };
  return {
    list: async ({ before, inclusive = false, limit, ...wanted }) => {
      const values = { ...toValues(wanted), before, inclusive, limit };
      const { key, error, conversationId, requestId, state, type } = values;
      const isRare = [key, error, conversationId, requestId].some((value) => value !== undefined);
      const isOfAKind = state !== undefined || type !== undefined;
      return redactBody((await (isOfAKind && !isRare ? statements.listJobs : statements.findJobs)(db, values)).body);
    },
    find: async (id) => {
      const row = await statements.findJob(db, { id });
      if (row === undefined) return undefined;
      const [payload, result] = [row.payload, row.result ?? 'null'].map((text) =>
        JSON.stringify(redactJson(parseJson(text))),
      );
      return `${redactBody(row.facts).slice(0, -1)},"payload":${payload},"result":${result}}`;
    },
    findLatest: (type, conversationIds) => statements.findLatest(db, { type, conversationIds }),
    retry: (id, record) =>
      db.transaction(async (tx) => {
        await statements.lockJobChanges(tx);
        const found = await statements.runJobNow(tx, { id });
        const isOver = found?.state === 'dead' || found?.state === 'cancelled';
        if (isOver)
          await changeAll(tx, statements.redriveJobs, { ...toValues({}), ids: [id], states: ['dead', 'cancelled'] });
        if (isOver || found?.hurried === true) {
          record?.(tx);
          tx.afterCommit(() => relay.wake());
        }
        return isOver ? 'queued' : found?.state;
      }),
    count: () => statements.countKinds(db),
    redrive: (request, record) =>
      change({ statesOf: redrivable, statement: statements.redriveJobs }, request, record, () => relay.wake()),
    cancel: (request, record) =>
      change({ statesOf: cancellable, statement: statements.cancelJobs }, request, record, () => undefined),
  };
}

type Choice = Omit<Parameters<typeof statements.redriveJobs>[1], 'after' | 'limit'>;

/** Repeats a statement until it changes no more rows. @returns the number of changed rows */
async function changeAll(tx: Tx, statement: typeof statements.redriveJobs, choice: Choice): Promise<number> {
  let total = 0;
  let after: string | undefined; // a job that becomes dead again immediately is not changed twice
  for (;;) {
    const rows = await statement(tx, { ...choice, after, limit: batchSize });
    total += rows.length;
    if (rows.length < batchSize) return total;
    after = rows
      .map((row) => row.id)
      .toSorted()
      .at(-1);
  }
}

/** Maximum number of dead jobs in a timeline. */
const maxDeadListed = 200;

/** Returns the dead jobs of a conversation as items of its timeline (W9). Errors are for operators only. */
export async function listFailedJobs(db: Queryable, conversationId: number): Promise<TimelineFact[]> {
  const rows = await statements.listDeadOf(db, { conversationId: String(conversationId), limit: maxDeadListed });
  return rows.map(({ id, type, attempts, at }) => ({
    at,
    kind: 'job.failed',
    title: `Job failed: ${type}`,
    actor: null,
    detail: { type, attempts },
    link: { type: 'job', id },
  }));
}
