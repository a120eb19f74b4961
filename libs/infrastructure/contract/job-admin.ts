/**
 * Operator operations of every service with jobs, called by the gateway (P2, P3). Declared here, not in the job library,
 * so that importing a contract does not load the database.
 */
import type { Static } from 'typebox';
import { byUsers, notAnOperator } from './callers.ts';
import { rpc } from './declarations.ts';
import { nullable, Type } from './type.ts';

/** All job states. */
export const jobStates = ['queued', 'running', 'succeeded', 'dead', 'cancelled'] as const;
const stateSchema = Type.Enum([...jobStates], {
  description:
    'queued → running → succeeded or dead; running → queued for a retry; queued and running → cancelled; dead → cancelled by discard; ' +
    'dead and cancelled → queued by redrive',
});
const uuidSchema = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
const instant = (description: string) => Type.String({ format: 'date-time', description });

const facts = {
  id: uuidSchema,
  type: Type.String({ description: '`<service>.<job>`.' }),
  key: nullable(Type.String({ description: 'One waiting job per type and key.' })),
  state: stateSchema,
  percent: Type.Integer({ description: '0 to 100.' }),
  phase: nullable(Type.String({ description: 'What it does now.' })),
  error: nullable(Type.String({ description: 'Of the last attempt that failed.' })),
  worker: nullable(Type.String({ description: 'Process of the last attempt.' })),
  conversation_id: nullable(Type.Integer({ description: 'The conversation that the payload names.' })),
  request_id: nullable(Type.String({ description: 'Request that caused the job.' })),
  created_at: instant('When it was asked for.'),
  run_at: instant('A queued job is not run before.'),
  started_at: nullable(instant('Begin of the last attempt.')),
  finished_at: nullable(instant('When it succeeded, died or was cancelled.')),
};

/** One job without its payload. */
export const jobSchema = Type.Object({
  ...facts,
  attempts: Type.Integer({ description: 'Attempts started since creation or the last redrive.' }),
});
export type JobItem = Static<typeof jobSchema>;

const attempt = Type.Object({
  started_at: instant('Start of the attempt.'),
  duration_ms: nullable(Type.Integer({ description: 'Duration; null while it runs.' })),
  worker: nullable(Type.String({ description: 'Worker process.' })),
  error: nullable(
    Type.String({ description: 'Failure reason; null for attempts that succeeded, are running, or were released.' }),
  ),
});

/** One job with all fields; secrets are redacted. */
export const jobDetailsSchema = Type.Object({
  ...facts,
  attempts: Type.Array(attempt, {
    description: 'The newest thousand attempts, oldest first, including attempts before a redrive.',
  }),
  payload: Type.Unknown({ description: 'Input of the job; secrets are replaced by `[redacted]`.' }),
  result: Type.Unknown({ description: 'Result of the job, if any; secrets are redacted.' }),
  traceparent: nullable(Type.String({ description: 'W3C trace context of the cause.' })),
});

/** Filter for jobs; an absent field does not filter. */
const filterSchema = {
  state: Type.Optional(stateSchema),
  type: Type.Optional(Type.String({ maxLength: 200 })),
  key: Type.Optional(Type.String({ maxLength: 500 })),
  error: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the error text.' })),
  conversation_id: Type.Optional(Type.Integer({ description: 'Jobs of this conversation.' })),
  request_id: Type.Optional(Type.String({ maxLength: 200 })),
  created_after: Type.Optional(instant('Jobs created at or after this time.')),
  created_before: Type.Optional(instant('Jobs created before this time.')),
};

/** Maximum number of ids per call. */
export const maxJobIds = 10_000;

/** Result of an operation on jobs. With `dry_run` it is the result that the operation would have. */
const changeReply = Type.Object({
  matched: Type.Integer({ description: 'Jobs that the act could change.' }),
  changed: Type.Integer({ description: 'Jobs that it has changed; 0 in a dry run.' }),
  failed: Type.Integer({
    description: 'Ids without a job, and jobs that could not be changed since their attempt was just ending.',
  }),
  items: Type.Array(jobSchema, { description: 'The first hundred that matched, newest first, as they are now.' }),
});
export type JobChange = Static<typeof changeReply>;

const change = {
  request: Type.Object({
    ...filterSchema,
    ids: Type.Optional(Type.Array(uuidSchema, { maxItems: maxJobIds })),
    dry_run: Type.Optional(Type.Boolean()),
  }),
  reply: changeReply,
  timeoutMs: 60_000,
};

const list = {
  request: Type.Object({
    ...filterSchema,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_001 })),
    before: Type.Optional(uuidSchema),
    inclusive: Type.Optional(Type.Boolean({ description: '`before` itself belongs to the page.' })),
  }),
  reply: Type.Object({ items: Type.Array(jobSchema) }),
};
const show = { request: Type.Object({ id: uuidSchema }), reply: jobDetailsSchema };

const latestJob = Type.Object({
  id: uuidSchema,
  type: Type.String(),
  conversation_id: Type.Integer(),
  state: stateSchema,
  attempts: Type.Integer(),
  run_at: instant('A queued job is not run before.'),
  error: nullable(Type.String({ description: 'Of the last attempt, what it waits for included.' })),
  waits: Type.Boolean({ description: 'Its last attempt has found that something is not there yet.' }),
  failure: nullable(Type.String({ description: 'Of the last attempt that failed, and did not only wait.' })),
});
export type LatestJob = Static<typeof latestJob>;

const latest = {
  request: Type.Object({
    type: Type.String({ maxLength: 200 }),
    conversation_ids: Type.Array(Type.Integer(), { maxItems: 500 }),
  }),
  reply: Type.Object({ items: Type.Array(latestJob) }),
};

const retry = {
  request: Type.Object({ id: uuidSchema, conversation_id: Type.Integer({ description: 'For the audit log.' }) }),
  reply: Type.Object({ state: stateSchema }),
};
const retryErrors = { job_not_found: { code: 'not_found', when: 'The job does not exist.' } } as const;

/** Returns the operator RPCs for jobs, to be spread into the service contract. */
export function jobAdminRpcs(service: string) {
  const forUsers = {
    callers: byUsers,
    errors: notAnOperator,
  } as const;
  const texts = {
    list: 'Lists jobs, newest first',
    show: 'Shows one job with payload, result and attempts',
    redrive: 'Queues dead jobs again: those named, or all that match; a cancelled one only by its id',
    latest: 'The newest job of a type for each of these conversations',
    retry: 'Runs a job now: one that waits, is dead or cancelled; one that runs or has succeeded is left alone',
    cancel: 'Ends queued and running jobs: they are cancelled; dead ones where their ids or their state are named',
  };
  return {
    listJobs: rpc({ subject: `${service}.operations.list-jobs`, ...forUsers, summary: texts.list, ...list }),
    showJob: rpc({ subject: `${service}.operations.show-job`, ...forUsers, summary: texts.show, ...show }),
    redriveJobs: rpc({
      subject: `${service}.operations.redrive-jobs`,
      ...forUsers,
      audit: 'jobs.redrive',
      summary: texts.redrive,
      ...change,
    }),
    cancelJobs: rpc({
      subject: `${service}.operations.cancel-jobs`,
      ...forUsers,
      audit: 'jobs.cancel',
      summary: texts.cancel,
      ...change,
    }),
    findLatestJobs: rpc({
      subject: `${service}.operations.find-latest-jobs`,
      ...forUsers,
      summary: texts.latest,
      ...latest,
    }),
    retryJob: rpc({
      subject: `${service}.operations.retry-job`,
      callers: byUsers,
      errors: { ...forUsers.errors, ...retryErrors },
      audit: 'pipeline.retry',
      summary: texts.retry,
      ...retry,
    }),
  };
}
