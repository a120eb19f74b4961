/** What a service sees of the bus, and says of it. */
import type { ActorCodec } from '#libs/actor';
import type { Event, PayloadOf, ReplyOf, RequestOf, Rpc, ServiceContract } from '#libs/contract';
import type { ConnectionSettings } from './connect.ts';
import type { ConsumerOptions, Delivery, RunningConsumer } from './consumer.ts';
import type { PublishDurableOptions } from './durable-publish.ts';
import type { ConsumerLag, StreamSize } from './jetstream.ts';
import type { Permissions } from './permissions.ts';
import type { RawReply } from './reply.ts';
import type { BusMetrics, Handlers, ServeOptions } from './responder.ts';
import type { StreamLimits, StreamName } from './streams.ts';
import type { CallContext } from './wire.ts';

export interface BusSettings extends ConnectionSettings {
  /** First token of every subject (`<prefix>.…`) and beginning of every stream's name (`<prefix>_…`), so that several installations can share a server; default none. */
  readonly prefix?: string | undefined;
  readonly metrics?: BusMetrics | undefined;
  /** How actors are vouched for and believed; default: neither. */
  readonly actors?: ActorCodec | undefined;
  /** Whose calls these are: what the contracts do not grant it is refused before it is sent. Default: the broker alone decides. */
  readonly caller?: string | undefined;
  /** Whether replies are held against their contracts (see reply-check.ts); default false. */
  readonly checkReplies?: boolean | undefined;
  /** Refuse a broker that allows less; the gateway asks for `requiredPayloadBytes`. */
  readonly minPayloadBytes?: number | undefined;
}

export interface Bus {
  /** What every subject begins with: empty, or the prefix and a dot. */
  readonly prefix: string;
  /** Largest message the broker accepts, bytes. */
  readonly maxPayload: number;
  readonly connected: boolean;
  /** Calls and parses the reply (a large one up to 64 MiB is collected). @throws AppError of the responder, unavailable, deadline_exceeded */
  call<R extends Rpc>(rpc: R, request: RequestOf<R>, context: CallContext): Promise<ReplyOf<R>>;
  /** Calls and hands on the reply's bytes as they came. The bytes are a view: copy what is kept. @throws as `call` */
  callRaw(rpc: Rpc, request: unknown, context: CallContext): Promise<RawReply>;
  /** Serves every operation of a contract. @throws Error when a handler is missing or undeclared */
  serve<C extends ServiceContract>(contract: C, handlers: Handlers<C>, options?: ServeOptions): Promise<{ drain(): Promise<void> }>;
  /** Publishes an event to the subscribers of this moment, unstored; events that must not be lost go through the outbox. @throws AppError unavailable */
  publish<E extends Event>(event: E, payload: PayloadOf<E>, context?: Pick<CallContext, 'requestId' | 'traceparent'>): void;
  /** Every replica receives the event while connected; a handler's failure is logged. Returns the end of it. */
  subscribeEvent<E extends Event>(event: E, handler: (payload: PayloadOf<E>) => void | Promise<void>): () => void;
  /** Runs after each reconnection, with the time without a connection: events may have been missed, caches are void. Returns the end of it. */
  onReconnect(listener: (outageMs: number) => void): () => void;
  /**
   * Creates the streams or brings them up to date; for the set-up job, whose user may.
   * @param replicas servers that hold each; undefined = as many as a stream has, one for a new one
   * @throws AppError unavailable
   */
  ensureStreams(limits?: StreamLimits, replicas?: number): Promise<void>;
  /** Resolves when the set-up job has made every stream; says once for which it waits. */
  waitForStreams(signal?: AbortSignal): Promise<void>;
  publishDurable(subject: string, bytes: Uint8Array | string, options: PublishDurableOptions): Promise<{ duplicate: boolean }>;
  consume(options: ConsumerOptions, handler: (delivery: Delivery) => Promise<void>): Promise<RunningConsumer>;
  consumerLag(stream: StreamName, durable: string): Promise<ConsumerLag>;
  streamSize(stream: StreamName): Promise<StreamSize>;
  /** Drops every message of the stream. @returns how many */
  purgeStream(stream: StreamName): Promise<number>;
  deleteStreams(): Promise<void>;
  /** Resolves when the broker grants all of it, as far as it tells; logs what is missing, and `ping` fails with that. Subjects without prefix; undefined = not known. */
  waitForPermissions(needed: Permissions | undefined): Promise<void>;
  /** What of it the broker does not grant, in words; undefined when nothing is missing. @throws AppError unavailable */
  findMissingPermissions(needed: Permissions): Promise<string | undefined>;
  /** Round trip to the broker, for readiness: also whether it refuses what this process needs. @throws AppError unavailable */
  ping(timeoutMs?: number): Promise<void>;
  /** Stops serving and consuming, finishes what is under way, closes. */
  close(): Promise<void>;
}
