/**
 * Contracts as frozen data: what a service answers (rpc), works (job), tells (event), and what the gateway serves (route).
 * Everything else (validation, OpenAPI, docs, clients, subscriptions) is derived from these values.
 */
import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from '#libs/errors';
import { type Actor, type Callers, checkCallers } from './callers.ts';

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
  /** True when sending it twice does what sending it once does. */
  readonly idempotent: boolean;
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
  /** Services whose every replica hears it at once; who takes it off the stream declares a consumer. */
  readonly heardBy: readonly string[];
}

/** A consumer of a stream that the replicas of a service share and that outlives them (architecture#jobs). */
export interface DurableConsumer {
  readonly stream: 'EVENTS' | 'WEBHOOKS';
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
  /** What it takes off the streams beside its job queues; what its NATS user may read follows from it. */
  readonly consumers?: Readonly<Record<string, DurableConsumer>>;
}

/** Declares a request-reply operation (architecture#rpc). */
export function rpc<Request extends TSchema, Reply extends TSchema>(
  declaration: { subject: string; summary: string; callers: Callers; request: Request; reply: Reply } & Partial<
    Pick<Rpc, 'errors' | 'timeoutMs' | 'idempotent'>
  >,
): Rpc<Request, Reply> {
  return Object.freeze({ kind: 'rpc', errors: {}, timeoutMs: 10_000, idempotent: true, ...declaration });
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
  heardBy?: readonly string[];
}): Event<Payload> {
  return Object.freeze({ kind: 'event', heardBy: [], ...declaration });
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
    if (!filter.startsWith(stream === 'EVENTS' ? 'events.' : `webhooks.${contract.service}.`))
      throw new Error(`contract ${contract.service}: consumer "${durable}" takes "${filter}", which is not its own`);
  }
  return Object.freeze(contract);
}

/**
 * `none`, shared token or per-user token (S), per-user (U), per-user with coherence access (UC), shared only, `/api/v1`, the gate key
 * `X-Svc-Api-Key` of login (checked before the body is read, D40), operations.
 */
export type AuthClass = 'none' | 'shared-or-user' | 'user' | 'coherence' | 'shared' | 'v1' | 'login-gate' | 'ops';

/** What a route hands on: validated and coerced input, raw text of numbers kept. */
export interface RouteInput {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  headers: Record<string, unknown>;
  body: unknown;
  actor: Actor | undefined;
  /** What limits count the client by: its IPv4 address, or the /64 of its IPv6 address (D71). */
  ip: string;
}

export interface RouteReply {
  description: string;
  /** Absent = no body. */
  schema?: TSchema;
  /** Default `application/json`. */
  contentType?: string;
}

/**
 * One HTTP operation. Path parameters are written `{conversation_id}`. Query, header and path schemas are objects of scalar
 * schemas; the http library coerces text by `type` (integer, boolean) and checks `format: date-time` (naive allowed) or
 * `format: date-time-offset`.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly auth: AuthClass;
  /** False: served, but not in the OpenAPI documents (the documents themselves, their pages). */
  readonly documented?: false;
  /** Body fields kept for old clients: a call that has one is answered with `Deprecation: true` (rules/http#headers-of-every-answer). */
  readonly deprecatedFields?: readonly string[];
  /** Never refused because the gateway is busy: the sender would not come again (D20). */
  readonly neverShed?: boolean;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly headers?: TSchema;
  /** JSON body. `optional`: an empty body is `{}`. */
  readonly body?: { schema: TSchema; optional?: boolean };
  /** Body that the handler reads itself, byte for byte: neither it nor the parameters are validated (D33d). */
  readonly rawBody?: { contentType: string; description: string; schema?: TSchema };
  /** Streamed multipart with this file part; served by `handler` in the gateway, never read by the body parser. */
  readonly upload?: { part: string; description: string };
  /** The operation called; the reply's bytes are passed through unparsed. */
  readonly rpc?: Rpc;
  /** Input → RPC request. Default: path parameters, query and body merged. */
  readonly toRequest?: (input: RouteInput) => unknown;
  /** Status of the reply; `outcomes` maps a reply's outcome (see libs/nats `withOutcome`) to another one. Default 200. */
  readonly status?: number;
  readonly outcomes?: Readonly<Record<string, number>>;
  /** Extra response headers, from the input. */
  readonly responseHeaders?: (input: RouteInput) => Record<string, string>;
  /** Status → reply, for the documents; error replies are joined from the class, the RPC's errors and these. */
  readonly replies: Readonly<Record<number, RouteReply>>;
  /** Strong ETag and If-None-Match; for GET of one resource (rules/http#etag). */
  readonly etag?: boolean;
  /** Name of a handler in the gateway that serves the route itself (uploads, downloads, webhooks); instead of `rpc`. */
  readonly handler?: string;
  /** Time for the whole request; default 15 000. */
  readonly deadlineMs?: number;
  /** Extra application errors beyond those of the RPC. */
  readonly errors?: ErrorReasons;
}

/** Declares a route of the gateway's table (architecture#contracts). */
export function route(declaration: Route): Route {
  if ((declaration.rpc === undefined) === (declaration.handler === undefined)) {
    throw new Error(`route ${declaration.method} ${declaration.path}: exactly one of rpc and handler is needed`);
  }
  return Object.freeze(declaration);
}

/** Type of a validated request, reply or payload. */
export type RequestOf<R extends Rpc> = Static<R['request']>;
export type ReplyOf<R extends Rpc> = Static<R['reply']>;
export type PayloadOf<D extends Job | Event> = Static<D['payload']>;

/** Name of the JetStream consumer that the replicas of a service share for one type of job. */
export function consumerOf(type: string): string {
  return type.replaceAll('.', '_');
}
