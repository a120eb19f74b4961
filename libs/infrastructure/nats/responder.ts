/**
 * Serves a contract: one queue subscription per operation, validation, handler, reply, and one log line per unexpected
 * error. Errors are caught here, since the client calls back synchronously and would lose a rejection.
 */
import type { Msg } from '@nats-io/transport-node';
import type { Logger } from '#libs/infrastructure/logger';
import type { ActorCodec } from '#libs/infrastructure/actor';
import type { CallerKind, ReplyOf, RequestOf, Rpc, ServiceContract } from '#libs/infrastructure/contract';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import { parseJson } from '#libs/infrastructure/json';
import { releaseVersion } from '#libs/infrastructure/release';
import { compileSchema, type SchemaCheck } from '#libs/infrastructure/schema';
import { findTracer, type Span } from '#libs/infrastructure/telemetry';
import type { PermissionOperation } from './permission-monitor.ts';
import { type CallRefusal, CallRejected, isCall, listKinds } from './admission.ts';
import { drainSubscription, type BusSubscription } from './subscriptions.ts';
import { announceService, EndpointStats } from './micro.ts';
import type { ConnectionParts } from './publisher.ts';
import { JsonStream, RawJson, type ReplyMetadata, TaggedReply } from './reply.ts';
import { InvalidReply, compileReplyCheck, type ReplyCheck } from './reply-check.ts';
import { ReaderDisconnected, sendError, singleReplyBytes, singleReplyOptions, StreamSender } from './stream-sender.ts';
import { type RequestContext, ServedContext } from './served-context.ts';
import { deadlineExceeded, decodeText } from './wire.ts';

export type HandlerReply<R extends Rpc> =
  | ReplyOf<R>
  | RawJson
  | JsonStream
  | TaggedReply<ReplyOf<R> | RawJson | JsonStream>;
export type Handler<R extends Rpc> = (request: RequestOf<R>, context: RequestContext) => Promise<HandlerReply<R>>;
/** One handler for each declared operation, under the operation's key in the contract. */
export type Handlers<C extends ServiceContract> = { readonly [K in keyof C['rpcs']]: Handler<C['rpcs'][K]> };
/** Type of the handlers of one feature, e.g. `HandlersOf<typeof personRpcs>`. */
export type HandlersOf<Rpcs extends Readonly<Record<string, Rpc>>> = { readonly [K in keyof Rpcs]: Handler<Rpcs[K]> };

export interface ServeOptions {
  /** Maximum number of concurrent requests in this process; further requests get `unavailable`. Default 2 000. */
  readonly maxInFlight?: number | undefined;
}

/** Called for every served request; `code` is `ok` or an error code. */
export interface BusMetrics {
  served?(subject: string, code: string, seconds: number, traceparent?: string): void;
  called?(subject: string, code: string, seconds: number, traceparent?: string): void;
  /** Counts rejected callers, and messages that are not calls (`not_a_call`). */
  refused?(subject: string, reason: CallRefusal): void;
  connected?(up: boolean): void;
  /** Counts permission violations of this connection. */
  permissionViolated?(operation: PermissionOperation): void;
}

export interface ResponderDependencies extends ConnectionParts {
  readonly prefix: string;
  readonly logger: Logger;
  readonly metrics: BusMetrics;
  readonly actors: ActorCodec;
  readonly checkReplies: boolean;
}

interface Endpoint {
  readonly rpc: Rpc;
  readonly kinds: ReadonlySet<CallerKind>;
  readonly handler: Handler<Rpc>;
  readonly checkRequest: SchemaCheck;
  readonly checkReply: ReplyCheck | undefined;
  readonly stats: EndpointStats;
}

/** A contract that this process serves. */
export class Responder {
  readonly #deps: ResponderDependencies;
  readonly #maxInFlight: number;
  readonly #subscriptions: BusSubscription[] = [];
  #inFlight = 0;
  #idle: (() => void) | undefined;

  /** @throws Error when a declared operation has no handler or a handler has no declaration. */
  constructor(
    deps: ResponderDependencies,
    contract: ServiceContract,
    handlers: Readonly<Record<string, Handler<Rpc>>>,
    options: ServeOptions,
  ) {
    this.#deps = deps;
    this.#maxInFlight = options.maxInFlight ?? 2_000;
    const endpoints = bindHandlers(deps, contract, handlers);
    for (const endpoint of endpoints) this.#subscriptions.push(this.#subscribe(endpoint));
    const monitoring = announceService(deps.subscriptions, {
      name: `${deps.prefix}${contract.service}`.replaceAll(/[^\w-]/g, '_'),
      version: releaseVersion,
      description: `Coherence ${contract.service}`,
      endpoints: endpoints.map((endpoint) => endpoint.stats),
    });
    this.#subscriptions.push(...monitoring);
  }

  /** Stops receiving requests. Resolves when all requests in progress, including streams, have their replies. */
  async drain(): Promise<void> {
    await Promise.all(this.#subscriptions.map(drainSubscription));
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  #subscribe(endpoint: Endpoint): BusSubscription {
    return this.#deps.subscriptions.subscribe(endpoint.stats.subject, {
      queue: endpoint.stats.queueGroup,
      callback: (message) => {
        if (isCall(message, endpoint.stats.subject)) void this.#serve(endpoint, message);
        else this.#drop(endpoint, message);
      },
    });
  }

  /** Drops a message that is not a call (see `isCall`), without a reply. */
  #drop({ rpc }: Endpoint, message: Msg): void {
    this.#deps.metrics.refused?.(rpc.subject, 'not_a_call');
    this.#deps.logger.error(
      { subject: rpc.subject, from: message.subject },
      'message without a call was sent to an operation',
    );
  }

  /** Serves one request. Never rejects. */
  async #serve(endpoint: Endpoint, message: Msg): Promise<void> {
    const startedMs = performance.now();
    this.#inFlight++;
    let code = 'ok';
    let context: ServedContext | undefined;
    let span: Span | undefined;
    try {
      if (this.#inFlight > this.#maxInFlight) throw unavailable('The service is overloaded');
      context = new ServedContext(endpoint.rpc, message, this.#deps.logger);
      if (context.deadlineMs <= Date.now()) throw deadlineExceeded(endpoint.rpc.subject);
      context.admit(this.#deps.actors, endpoint.kinds);
      span = startServing(context);
      await (span === undefined
        ? this.#work(endpoint, message, context)
        : this.#workUnder(span, endpoint, message, context));
    } catch (error) {
      code = this.#fail(endpoint, message, context, error);
    } finally {
      context?.release();
      const elapsedMs = performance.now() - startedMs;
      endpoint.stats.requests++;
      endpoint.stats.processingMs += elapsedMs;
      this.#deps.metrics.served?.(endpoint.rpc.subject, code, elapsedMs / 1000, context?.traceparent);
      span?.end({ error: code === 'ok' ? undefined : code, attributes: { 'rpc.response.status_code': code } });
      if (--this.#inFlight === 0) this.#idle?.();
    }
  }

  async #work(endpoint: Endpoint, message: Msg, context: ServedContext): Promise<void> {
    const reply = await endpoint.handler(readRequest(endpoint, message.data), context);
    context.release();
    await this.#answer(endpoint, message.reply ?? '', reply, context);
  }

  #workUnder(span: Span, endpoint: Endpoint, message: Msg, context: ServedContext): Promise<void> {
    return span.run(() => this.#work(endpoint, message, context));
  }

  async #answer(endpoint: Endpoint, replyTo: string, reply: HandlerReply<Rpc>, context: ServedContext): Promise<void> {
    const tagged = reply instanceof TaggedReply;
    const made = tagged ? reply.body : reply;
    const body = endpoint.checkReply === undefined ? made : endpoint.checkReply(made);
    const metadata = tagged ? reply.metadata : noMetadata;
    if (body instanceof JsonStream) {
      await this.#stream(replyTo, body, metadata, context);
      return;
    }
    const bytes = body instanceof RawJson ? body.bytes : Buffer.from(JSON.stringify(body) ?? 'null', 'utf8');
    if (bytes.length > singleReplyBytes)
      await this.#stream(replyTo, new JsonStream(oneChunk(bytes), true), metadata, context);
    else this.#deps.publisher.publish(replyTo, bytes, singleReplyOptions(metadata));
  }

  async #stream(replyTo: string, stream: JsonStream, metadata: ReplyMetadata, context: ServedContext): Promise<void> {
    const sender = new StreamSender(this.#deps, replyTo, context.deadlineMs, () =>
      context.abort(new ReaderDisconnected()),
    );
    try {
      await sender.send(stream.source, metadata, stream.isLive);
    } catch (error) {
      if (sender.started && !(error instanceof ReaderDisconnected)) sender.sendFailure(error);
      if (sender.started) throw new StreamBroken(error);
      throw error;
    }
  }

  /** Replies with the error and logs it when unexpected. Returns the code for the metrics. */
  #fail(endpoint: Endpoint, message: Msg, context: ServedContext | undefined, thrown: unknown): string {
    const error = thrown instanceof StreamBroken ? thrown.cause : thrown;
    if (error instanceof ReaderDisconnected) return 'reader_gone';
    endpoint.stats.errors++;
    const failure = error instanceof AppError ? error : new AppError({ code: 'internal', message: 'Internal error' });
    endpoint.stats.lastError = `${failure.status}:${failure.message}`;
    const logger = context?.logger ?? this.#deps.logger;
    if (error instanceof CallRejected) {
      this.#deps.metrics.refused?.(endpoint.rpc.subject, error.refusal);
      logger.error({ reason: error.refusal }, 'call refused: its caller cannot be verified');
    } else if (error instanceof InvalidReply) logger.fatal({ err: error }, 'a reply breaks its contract');
    else if (!(error instanceof AppError)) logger.error({ err: error }, 'request failed');
    else if (error.status >= 500) logger.warn({ err: error, code: error.code }, 'request could not be served');
    if (!(thrown instanceof StreamBroken)) {
      try {
        sendError(this.#deps.publisher, message.reply ?? '', failure);
      } catch (publishError) {
        logger.warn({ err: publishError }, 'error reply could not be sent');
      }
    }
    return failure.code;
  }
}

/** Starts the tracing span of one served request; spans of nested calls are its children. */
function startServing(context: ServedContext): Span | undefined {
  const tracer = findTracer();
  if (tracer === undefined) return undefined;
  const attributes = { 'rpc.system.name': 'nats', 'rpc.method': context.subject, 'request.id': context.requestId };
  const span = tracer.start(context.subject, 'server', attributes, context.traceparent);
  context.traceparent = span.traceparent;
  return span;
}

const noMetadata: ReplyMetadata = {};

/** Error for a stream that failed after its first chunk; the reader has already received the error in the stream. */
class StreamBroken extends Error {
  constructor(cause: unknown) {
    super('stream broken', { cause });
  }
}

function bindHandlers(
  { prefix, checkReplies }: ResponderDependencies,
  contract: ServiceContract,
  handlers: Readonly<Record<string, Handler<Rpc>>>,
): Endpoint[] {
  const missing = Object.keys(contract.rpcs).filter((name) => typeof handlers[name] !== 'function');
  const undeclared = Object.keys(handlers).filter((name) => !Object.hasOwn(contract.rpcs, name));
  if (missing.length + undeclared.length > 0) {
    const parts = [
      ...missing.map((name) => `${name} (${contract.rpcs[name]?.subject}) has no handler`),
      ...undeclared.map((name) => `handler ${name} is not declared`),
    ];
    throw new Error(`service ${contract.service}: ${parts.join('; ')}`);
  }
  return Object.entries(contract.rpcs).map(([name, rpc]) => ({
    rpc,
    kinds: listKinds(rpc),
    handler: handlers[name] as Handler<Rpc>,
    checkRequest: compileSchema(rpc.request),
    checkReply: checkReplies ? compileReplyCheck(rpc) : undefined,
    stats: new EndpointStats({
      name: rpc.subject.replace(`${contract.service}.`, '').replaceAll('.', '_'),
      subject: `${prefix}${rpc.subject}`,
      queueGroup: contract.service,
      summary: rpc.summary,
    }),
  }));
}

function readRequest(endpoint: Endpoint, bytes: Uint8Array): unknown {
  let request: unknown;
  try {
    request = bytes.length === 0 ? {} : parseJson(decodeText(bytes));
  } catch {
    throw new AppError({ code: 'bad_request', message: 'The request is not JSON' });
  }
  const problem = endpoint.checkRequest(request);
  if (problem === undefined) return request;
  throw new AppError({
    code: 'bad_request',
    message: `Invalid request: ${problem.path.join('.') || 'body'} ${problem.message}`,
    details: { path: problem.path, keyword: problem.keyword },
  });
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield bytes;
}
