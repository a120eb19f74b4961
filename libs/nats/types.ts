/** The interface of the bus for services, and its settings. */
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
  /**
   * First token of every subject (`<prefix>.…`) and prefix of stream names (`<prefix>_…`), for several installations on
   * one server; default none.
   */
  readonly prefix?: string | undefined;
  readonly metrics?: BusMetrics | undefined;
  /** Encodes and verifies actors; default: neither. */
  readonly actors?: ActorCodec | undefined;
  /**
   * Service that calls: calls that the contracts do not grant it fail before they are sent. Default: only the broker
   * checks.
   */
  readonly caller?: string | undefined;
  /** Whether replies are validated against their contracts (see reply-check.ts); default false. */
  readonly checkReplies?: boolean | undefined;
  /** Minimum message size limit of the broker; the gateway requires `requiredPayloadBytes`. */
  readonly minPayloadBytes?: number | undefined;
}

export interface Bus {
  /** Prefix of every subject: empty, or with a trailing dot. */
  readonly prefix: string;
  /** Message size limit of the broker, bytes. */
  readonly maxPayload: number;
  readonly connected: boolean;
  /**
   * Calls an operation and parses the reply, streamed ones up to 64 MiB. @throws AppError of the responder,
   * unavailable, deadline_exceeded
   */
  call<R extends Rpc>(rpc: R, request: RequestOf<R>, context: CallContext): Promise<ReplyOf<R>>;
  /**
   * Calls an operation and returns the reply bytes unparsed. The bytes are a view: copy them to keep them. @throws as
   * `call`
   */
  callRaw(rpc: Rpc, request: unknown, context: CallContext): Promise<RawReply>;
  /** Serves every operation of a contract. @throws Error when a handler is missing or undeclared */
  serve<C extends ServiceContract>(
    contract: C,
    handlers: Handlers<C>,
    options?: ServeOptions,
  ): Promise<{ drain(): Promise<void> }>;
  /**
   * Publishes an event to current subscribers without storing it; events that must not be lost go through the outbox.
   * @throws AppError unavailable
   */
  publish<E extends Event>(
    event: E,
    payload: PayloadOf<E>,
    context?: Pick<CallContext, 'requestId' | 'traceparent'>,
  ): void;
  /** Every connected replica receives the event; errors of the handler are logged. Returns unsubscribe. */
  subscribeEvent<E extends Event>(event: E, handler: (payload: PayloadOf<E>) => void | Promise<void>): () => void;
  /**
   * Called after each reconnection with the duration of the outage: events may have been missed, and caches are stale.
   * Returns unsubscribe.
   */
  onReconnect(listener: (outageMs: number) => void): () => void;
  /**
   * Creates or updates the streams; requires the permissions of the set-up job.
   * @param replicas servers with a copy; undefined = unchanged, one for a new stream
   * @throws AppError unavailable
   */
  ensureStreams(limits?: StreamLimits, replicas?: number): Promise<void>;
  /** Resolves when the set-up job has created every stream; logs once which are missing. */
  waitForStreams(signal?: AbortSignal): Promise<void>;
  publishDurable(
    subject: string,
    bytes: Uint8Array | string,
    options: PublishDurableOptions,
  ): Promise<{ duplicate: boolean }>;
  consume(options: ConsumerOptions, handler: (delivery: Delivery) => Promise<void>): Promise<RunningConsumer>;
  consumerLag(stream: StreamName, durable: string): Promise<ConsumerLag>;
  streamSize(stream: StreamName): Promise<StreamSize>;
  /** Deletes all messages of the stream. @returns how many */
  purgeStream(stream: StreamName): Promise<number>;
  deleteStreams(): Promise<void>;
  /**
   * Resolves when the broker grants all permissions, as far as it reports them; logs missing ones, which also fail
   * `ping`. Subjects without prefix; undefined = unknown.
   */
  waitForPermissions(needed: Permissions | undefined): Promise<void>;
  /**
   * Permissions that the broker does not grant, as a sentence; undefined when nothing is missing. @throws AppError
   * unavailable
   */
  findMissingPermissions(needed: Permissions): Promise<string | undefined>;
  /** Round trip to the broker, for readiness; also fails when permissions are missing. @throws AppError unavailable */
  ping(timeoutMs?: number): Promise<void>;
  /** Stops serving and consuming, finishes work in progress, closes. */
  close(): Promise<void>;
}
