/** The bus interface for services, and its settings. */
import type { ActorCodec } from '#libs/infrastructure/actor';
import type { Event, PayloadOf, ReplyOf, RequestOf, Rpc, ServiceContract } from '#libs/infrastructure/contract';
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
   * First token of every subject (`<prefix>.…`) and prefix of stream names (`<prefix>_…`), so that several
   * installations can share a server. Default: no prefix.
   */
  readonly prefix?: string | undefined;
  readonly metrics?: BusMetrics | undefined;
  /** Encodes and verifies actors. By default, calls with actors are not possible. */
  readonly actors?: ActorCodec | undefined;
  /**
   * Name of the calling service: calls that the contracts do not allow it fail before they are sent. By default only
   * the broker checks callers.
   */
  readonly caller?: string | undefined;
  /** Validates replies against their contracts (see reply-check.ts). Default false. */
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
   * Calls an operation and parses the reply; streamed replies up to 64 MiB are collected. @throws AppError of the
   * responder, unavailable, deadline_exceeded
   */
  call<R extends Rpc>(rpc: R, request: RequestOf<R>, context: CallContext): Promise<ReplyOf<R>>;
  /**
   * Calls an operation and returns the bytes of the reply unparsed. The bytes are a view of a shared buffer: copy them
   * to store them. @throws as `call`
   */
  callRaw(rpc: Rpc, request: unknown, context: CallContext): Promise<RawReply>;
  /** Serves every operation of a contract. @throws Error when a handler is missing or undeclared */
  serve<C extends ServiceContract>(
    contract: C,
    handlers: Handlers<C>,
    options?: ServeOptions,
  ): Promise<{ drain(): Promise<void> }>;
  /**
   * Publishes an event to current subscribers without storing it. Use the outbox for events that must not be lost.
   * @throws AppError unavailable
   */
  publish<E extends Event>(
    event: E,
    payload: PayloadOf<E>,
    context?: Pick<CallContext, 'requestId' | 'traceparent'>,
  ): void;
  /**
   * Subscribes to an event that every connected replica receives. Errors of the handler are logged. Returns a function
   * that unsubscribes.
   */
  subscribeEvent<E extends Event>(event: E, handler: (payload: PayloadOf<E>) => void | Promise<void>): () => void;
  /**
   * Calls `listener` after each reconnection with the duration of the outage, in which events may have been missed and
   * caches may have become outdated. Returns a function that removes the listener.
   */
  onReconnect(listener: (outageMs: number) => void): () => void;
  /**
   * Creates or updates the streams. Requires the permissions of the set-up job.
   * @param replicas number of servers with a copy; undefined: unchanged, or one for a new stream
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
  /** Deletes all messages of the stream. @returns the number of deleted messages */
  purgeStream(stream: StreamName): Promise<number>;
  deleteStreams(): Promise<void>;
  /**
   * Resolves when the broker grants all permissions, or does not report permissions. Logs missing ones, with which
   * `ping` also fails. The subjects have no prefix. Undefined: the required permissions are unknown and not checked.
   */
  waitForPermissions(needed: Permissions | undefined): Promise<void>;
  /**
   * Returns the permissions that the broker does not grant, as a sentence; undefined when nothing is missing. @throws
   * AppError unavailable
   */
  findMissingPermissions(needed: Permissions): Promise<string | undefined>;
  /**
   * Sends a request to the broker and waits for its reply, for the readiness check. Also fails when permissions are
   * missing. @throws AppError unavailable
   */
  ping(timeoutMs?: number): Promise<void>;
  /** Stops serving and consuming, finishes work in progress, closes. */
  close(): Promise<void>;
}
