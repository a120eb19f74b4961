/**
 * Contracts as frozen data: what a service answers (rpc), works on (job) and publishes (event); what the gateway serves is in route.ts.
 * Everything else (validation, OpenAPI, docs, clients, subscriptions) is derived from these values.
 */
import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from '#libs/errors';
import { type Callers, checkCallers } from './callers.ts';
import type { FeedEvent } from './feed.ts';

/** Application errors that an operation may answer with: reason → code and when it happens. */
export type ErrorReasons = Readonly<Record<string, { code: ErrorCode; when: string }>>;

export interface Rpc<Request extends TSchema = TSchema, Reply extends TSchema = TSchema> {
  readonly kind: 'rpc';
  /** `<service>.<resource>.<verb>`, kebab-case; `admin.<service>.…` when it is the admin CLI's alone. */
  readonly subject: string;
  readonly summary: string;
  readonly callers: Callers;
  readonly request: Request;
  readonly reply: Reply;
  readonly errors: ErrorReasons;
  /** Time that a caller waits when it has no nearer deadline. */
  readonly timeoutMs: number;
  /** The action under which the audit log has what it changes, such as `account.create` (A1); absent where it does not. */
  readonly audit?: string;
  /** Accepts an `Idempotency-Key`: the response is stored in the transaction of its effect and replayed to repeated requests (I1). */
  readonly idempotent?: true;
}

export interface JobPolicy {
  /** Attempts before the job is dead; Infinity when only `expiresAfterMs` ends it. */
  readonly maxAttempts: number;
  /** Delay before the second attempt; doubles up to `maxDelayMs`, with jitter. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A job older than this is dead at its next failure; undefined = no such end. */
  readonly expiresAfterMs?: number;
  /** Time for one attempt; its signal aborts after it. */
  readonly timeoutMs: number;
  /** Attempts that run at the same time in one process. */
  readonly concurrency: number;
}

export interface Job<Payload extends TSchema = TSchema> {
  readonly kind: 'job';
  /** `<service>.<job>`; the service that works it. Travels on `jobs.<type>`. */
  readonly type: string;
  readonly summary: string;
  readonly payload: Payload;
  readonly policy: JobPolicy;
  /** Other services that may start it; the one that works it always may. */
  readonly startedBy: readonly string[];
}

export interface Event<Payload extends TSchema = TSchema> {
  readonly kind: 'event';
  /** `events.<service>.<resource>.<past>`. */
  readonly subject: string;
  readonly summary: string;
  readonly payload: Payload;
  /** Services of which every replica receives it at once; a service that takes it off the stream declares a consumer. */
  readonly subscribers: readonly string[];
}

/** A consumer of a stream that the replicas of a service share and that outlives them (architecture#jobs). */
export interface DurableConsumer {
  readonly stream: 'EVENTS' | 'WEBHOOKS' | 'FEED';
  /** `<service>-<what>`. */
  readonly durable: string;
  /** Subject that it takes. */
  readonly filter: string;
}

/** The public face of a service. */
export interface ServiceContract {
  readonly service: string;
  readonly rpcs: Readonly<Record<string, Rpc>>;
  readonly jobs: Readonly<Record<string, Job>>;
  readonly events: Readonly<Record<string, Event>>;
  /** What it tells the feed of (V1). */
  readonly feed?: Readonly<Record<string, FeedEvent>>;
  /** What it takes off the streams beside its job queues; what its NATS user may read follows from it. */
  readonly consumers?: Readonly<Record<string, DurableConsumer>>;
}

/** Declares a request-reply operation (architecture#rpc). */
export function rpc<Request extends TSchema, Reply extends TSchema>(
  declaration: { subject: string; summary: string; callers: Callers; request: Request; reply: Reply } & Partial<
    Pick<Rpc, 'audit' | 'errors' | 'timeoutMs' | 'idempotent'>
  >,
): Rpc<Request, Reply> {
  return Object.freeze({ kind: 'rpc', errors: {}, timeoutMs: 10_000, ...declaration });
}

/** Retries of a job whose declaration names none: 10 attempts from 1 s to 5 min apart. */
export const defaultJobPolicy: JobPolicy = Object.freeze({
  maxAttempts: 10,
  firstDelayMs: 1_000,
  maxDelayMs: 300_000,
  timeoutMs: 600_000,
  concurrency: 4,
});

/** Declares a job (architecture#jobs). */
export function job<Payload extends TSchema>(declaration: {
  type: string;
  summary: string;
  payload: Payload;
  policy?: Partial<JobPolicy>;
  startedBy?: readonly string[];
}): Job<Payload> {
  const policy = Object.freeze({ ...defaultJobPolicy, ...declaration.policy });
  return Object.freeze({ kind: 'job', startedBy: [], ...declaration, policy });
}

/** Declares a fact that others may listen to (architecture#events). */
export function event<Payload extends TSchema>(declaration: {
  subject: string;
  summary: string;
  payload: Payload;
  subscribers?: readonly string[];
}): Event<Payload> {
  return Object.freeze({ kind: 'event', subscribers: [], ...declaration });
}

/**
 * Joins the declarations of one service.
 * @throws Error when a subject is declared twice or does not start with the service's name, or when who may call is not said or makes no sense.
 */
export function defineService<const C extends ServiceContract>(contract: C): C {
  const seen = new Set<string>();
  const names = [
    ...Object.values(contract.rpcs).map((item) => item.subject.replace(/^admin\./, '')),
    ...Object.values(contract.jobs).map((item) => item.type),
    ...Object.values(contract.events).map((item) => item.subject.replace(/^events\./, '')),
  ];
  for (const name of names) {
    if (seen.has(name)) throw new Error(`contract ${contract.service}: "${name}" is declared twice`);
    if (!name.startsWith(`${contract.service}.`)) throw new Error(`contract ${contract.service}: "${name}" belongs to another service`);
    seen.add(name);
  }
  for (const { subject, callers } of Object.values(contract.rpcs)) checkCallers(contract.service, subject, callers);
  for (const { durable, stream, filter } of Object.values(contract.consumers ?? {})) {
    if (!durable.startsWith(`${contract.service}-`))
      throw new Error(`contract ${contract.service}: consumer "${durable}" belongs to another service`);
    if (!filter.startsWith({ EVENTS: 'events.', WEBHOOKS: `webhooks.${contract.service}.`, FEED: 'feed.' }[stream]))
      throw new Error(`contract ${contract.service}: consumer "${durable}" takes "${filter}", which is not its own`);
  }
  return Object.freeze(contract);
}

/** Type of a validated request, reply or payload. */
export type RequestOf<R extends Rpc> = Static<R['request']>;
export type ReplyOf<R extends Rpc> = Static<R['reply']>;
export type PayloadOf<D extends Job | Event> = Static<D['payload']>;

/** Name of the JetStream consumer that the replicas of a service share for one type of job. */
export function consumerOf(type: string): string {
  return type.replaceAll('.', '_');
}
