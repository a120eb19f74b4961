/**
 * Operations that every service with jobs has, for the admin CLI. Here and not in the job library, so that importing a contract does
 * not load the database with it.
 */
import { Type } from 'typebox';
import { byOperators } from './callers.ts';
import { rpc } from './declarations.ts';

/** Every state of a job. */
export const jobStates = ['queued', 'running', 'succeeded', 'dead', 'cancelled'] as const;
const stateSchema = Type.Enum([...jobStates], {
  description:
    'queued → running → succeeded or dead; running → queued for a retry; queued and running → cancelled; dead → cancelled by discard; ' +
    'dead and cancelled → queued by redrive',
});
const uuidSchema = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

const facts = {
  id: uuidSchema,
  type: Type.String(),
  key: nullable(Type.String({ description: 'one waiting job per type and key' })),
  state: stateSchema,
  attempts: Type.Integer({ description: 'attempts begun in this life' }),
  percent: Type.Integer({ description: '0 to 100' }),
  phase: nullable(Type.String()),
  error: nullable(Type.String({ description: 'of the last attempt that failed' })),
  worker: nullable(Type.String({ description: 'process of the last attempt' })),
  request_id: nullable(Type.String({ description: 'request that caused the job' })),
  created_at: Type.String(),
  run_at: Type.String({ description: 'a queued job is not run before' }),
  started_at: nullable(Type.String({ description: 'begin of the last attempt' })),
  finished_at: nullable(Type.String({ description: 'when it succeeded, died or was cancelled' })),
};

/** One job without its payload. */
export const jobSchema = Type.Object(facts);
/** One job with everything. */
export const jobDetailsSchema = Type.Object({
  ...facts,
  payload: Type.Unknown(),
  result: Type.Unknown(),
  traceparent: nullable(Type.String()),
});

const filterSchema = {
  type: Type.Optional(Type.String({ maxLength: 200 })),
  key: Type.Optional(Type.String({ maxLength: 500 })),
  error: Type.Optional(Type.String({ maxLength: 200, description: 'part of the error text' })),
};
const count = (name: string) => Type.Object({ [name]: Type.Integer({ description: 'how many jobs' }) });

/** RPCs `<service>.jobs.list|show|redrive|discard|cancel`, to be spread into the service's contract. */
export function jobAdminRpcs(service: string) {
  return {
    jobsList: rpc({
      subject: `admin.${service}.jobs.list`,
      callers: byOperators,
      summary: 'Lists jobs, newest first',
      request: Type.Object({
        state: Type.Optional(stateSchema),
        ...filterSchema,
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
        before: Type.Optional(uuidSchema),
      }),
      reply: Type.Object({ items: Type.Array(jobSchema) }),
    }),
    jobsShow: rpc({
      subject: `admin.${service}.jobs.show`,
      callers: byOperators,
      summary: 'Shows one job with payload and result',
      request: Type.Object({ id: uuidSchema }),
      reply: jobDetailsSchema,
    }),
    jobsRedrive: rpc({
      subject: `admin.${service}.jobs.redrive`,
      callers: byOperators,
      summary: 'Queues dead jobs again: one, or all that match; a cancelled one only by its id',
      request: Type.Object({ id: Type.Optional(uuidSchema), ...filterSchema }),
      reply: count('redriven'),
      timeoutMs: 60_000,
    }),
    jobsDiscard: rpc({
      subject: `admin.${service}.jobs.discard`,
      callers: byOperators,
      summary: 'Gives dead jobs up: one, or all that match; they are cancelled',
      request: Type.Object({ id: Type.Optional(uuidSchema), ...filterSchema }),
      reply: count('discarded'),
      timeoutMs: 60_000,
    }),
    jobsCancel: rpc({
      subject: `admin.${service}.jobs.cancel`,
      callers: byOperators,
      summary: 'Ends a queued or running job: it is cancelled',
      request: Type.Object({ id: uuidSchema }),
      reply: count('cancelled'),
    }),
  };
}
