/**
 * Contracts of services as frozen data: operations (rpc), jobs and events. Routes of the gateway are in route.ts.
 * Validation, OpenAPI, docs, clients and subscriptions are derived from these values.
 */
import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from '#libs/infrastructure/errors';
import { type Callers, checkCallers } from './callers.ts';
import type { FeedEvent } from './feed.ts';

/** Application errors of an operation: reason → code and condition. */
export type ErrorReasons = Readonly<Record<string, { code: ErrorCode; when: string }>>;

export interface Rpc<Request extends TSchema = TSchema, Reply extends TSchema = TSchema> {
  readonly kind: 'rpc';
  /** `<service>.<resource>.<verb>`, kebab-case; `admin.<service>.…` for operations of the admin CLI. */
  readonly subject: string;
  readonly summary: string;
  readonly callers: Callers;
  readonly request: Request;
  readonly reply: Reply;
  readonly errors: ErrorReasons;
  /** How long callers wait, unless their deadline is earlier. */
  readonly timeoutMs: number;
  /**
   * Action of the operation's audit log entries, such as `account.create` (A1). Absent: the operation is not audited.
   */
  readonly audit?: string;
  /**
   * Accepts an `Idempotency-Key`: the response is stored in the transaction of its effect and replayed to repeated
   * requests (I1).
   */
  readonly idempotent?: true;
}

export interface JobPolicy {
  /** Number of attempts before the job is dead. With Infinity only `expiresAfterMs` makes it dead. */
  readonly maxAttempts: number;
  /** Delay before the second attempt; doubles up to `maxDelayMs`, with jitter. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A job older than this is dead after its next failure; undefined: no limit. */
  readonly expiresAfterMs?: number;
  /** Time limit of one attempt, after which its signal aborts. */
  readonly timeoutMs: number;
  /** Maximum number of concurrent attempts per process. */
  readonly concurrency: number;
}

export interface Job<Payload extends TSchema = TSchema> {
  readonly kind: 'job';
  /** `<service>.<job>`, with the name of the service that runs the job. Messages are published to `jobs.<type>`. */
  readonly type: string;
  readonly summary: string;
  readonly payload: Payload;
  readonly policy: JobPolicy;
  /** Other services that may start the job; the service that runs it always may. */
  readonly startedBy: readonly string[];
}

export interface Event<Payload extends TSchema = TSchema> {
  readonly kind: 'event';
  /** `events.<service>.<resource>.<past>`. */
  readonly subject: string;
  readonly summary: string;
  readonly payload: Payload;
  /**
   * Services whose replicas all receive the event immediately. Services that read it from the stream declare a
   * consumer.
   */
  readonly subscribers: readonly string[];
}

/** A durable consumer, shared by the replicas of a service (architecture#jobs). */
export interface DurableConsumer {
  readonly stream: 'EVENTS' | 'WEBHOOKS' | 'FEED';
  /** Name of the consumer, `<service>-<purpose>`. */
  readonly durable: string;
  /** Subject filter. */
  readonly filter: string;
}

/** Public declarations of a service. */
export interface ServiceContract {
  readonly service: string;
  readonly rpcs: Readonly<Record<string, Rpc>>;
  readonly jobs: Readonly<Record<string, Job>>;
  readonly events: Readonly<Record<string, Event>>;
  /** Feed events that the service emits (V1). */
  readonly feed?: Readonly<Record<string, FeedEvent>>;
  /** Stream consumers besides the job queues. The permissions of the service's NATS user are derived from them. */
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

/** Default retries: 10 attempts, 1 s to 5 min apart. */
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

/** Declares an event between services (architecture#events). */
export function event<Payload extends TSchema>(declaration: {
  subject: string;
  summary: string;
  payload: Payload;
  subscribers?: readonly string[];
}): Event<Payload> {
  return Object.freeze({ kind: 'event', subscribers: [], ...declaration });
}

/**
 * Declares the contract of a service.
 * @throws Error when a subject is declared twice or does not start with the service's name, or when the callers are
 * missing or invalid
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
    if (!name.startsWith(`${contract.service}.`))
      throw new Error(`contract ${contract.service}: "${name}" belongs to another service`);
    seen.add(name);
  }
  for (const { subject, callers } of Object.values(contract.rpcs)) checkCallers(contract.service, subject, callers);
  for (const { durable, stream, filter } of Object.values(contract.consumers ?? {})) {
    if (!durable.startsWith(`${contract.service}-`))
      throw new Error(`contract ${contract.service}: consumer "${durable}" belongs to another service`);
    if (!filter.startsWith({ EVENTS: 'events.', WEBHOOKS: `webhooks.${contract.service}.`, FEED: 'feed.' }[stream]))
      throw new Error(
        `contract ${contract.service}: consumer "${durable}" reads "${filter}", which belongs to another service`,
      );
  }
  return Object.freeze(contract);
}

/** Type of a validated request. `ReplyOf` and `PayloadOf` are the types of replies and payloads. */
export type RequestOf<R extends Rpc> = Static<R['request']>;
export type ReplyOf<R extends Rpc> = Static<R['reply']>;
export type PayloadOf<D extends Job | Event> = Static<D['payload']>;

/** Returns the name of the JetStream consumer for one type of job. All replicas share this consumer. */
export function consumerOf(type: string): string {
  return type.replaceAll('.', '_');
}
