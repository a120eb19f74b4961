/**
 * JetStream: streams, durable publishing with message ids, and pull consumers limited to the capacity of the process
 * (architecture#jobs, architecture#webhooks). The libraries of jobs and webhooks define what the messages mean.
 */
import { AckPolicy, type JetStreamManager, JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type NatsConnection, nanos, TimeoutError } from '@nats-io/transport-node';
import type { Logger } from '#libs/infrastructure/logger';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import { Consumer, type ConsumerOptions, type Delivery, type RunningConsumer } from './consumer.ts';
import { type PublishDurableOptions, publishAndConfirm } from './durable-publish.ts';
import type { ConnectionParts } from './publisher.ts';
import {
  deleteStream,
  ensureStream,
  findStream,
  type Prefixes,
  type StreamLimits,
  type StreamName,
  streamNames,
} from './streams.ts';
import { connectionLost } from './wire.ts';

const streamPollMs = 500;

/** Waiting and unacknowledged messages of a consumer. */
export interface ConsumerLag {
  readonly pending: number;
  readonly ackPending: number;
  readonly redelivered: number;
  /** Stream sequence up to which all messages are settled. */
  readonly settledUpTo: number;
}

/** Size and limits of a stream. */
export interface StreamSize {
  readonly messages: number;
  readonly bytes: number;
  /** Maximum size in bytes; -1 = unlimited, for a stream created by an earlier release. */
  readonly maxBytes: number;
}

export class JetStream {
  readonly #parties: ConnectionParts;
  readonly #connection: NatsConnection;
  readonly #prefixes: Prefixes;
  readonly #logger: Logger;
  readonly #isUp: () => boolean;
  readonly #consumers = new Set<Consumer>();
  #manager: Promise<JetStreamManager> | undefined;

  constructor(parties: ConnectionParts, prefixes: Prefixes, logger: Logger, isUp: () => boolean) {
    this.#parties = parties;
    this.#connection = parties.connection;
    this.#prefixes = prefixes;
    this.#logger = logger;
    this.#isUp = isUp;
  }

  /** Creates missing streams and updates the settings of the others. @throws AppError unavailable */
  async ensureStreams(limits: StreamLimits, replicas: number | undefined): Promise<void> {
    for (const name of streamNames)
      await this.#manage((manager) => ensureStream(manager, this.#prefixes, name, { limits, replicas }));
  }

  /** Resolves when all streams exist, without a time limit; logs once which are missing. */
  async waitForStreams(signal?: AbortSignal): Promise<void> {
    let reported = '';
    for (;;) {
      signal?.throwIfAborted();
      const missing = await this.#findMissing().catch((error: unknown) => String(error));
      if (missing.length === 0) return;
      const state = typeof missing === 'string' ? missing : `missing: ${missing.join(', ')}; run tools/streams.ts`;
      if (state !== reported) this.#logger.warn(`waiting for the streams: ${state}`);
      reported = state;
      await sleep(streamPollMs, undefined, signal === undefined ? {} : { signal });
    }
  }

  /**
   * Publishes and waits for the acknowledgement of the broker.
   * @throws AppError unavailable on timeout; the broker may have stored the message anyway.
   */
  async publishDurable(
    subject: string,
    bytes: Uint8Array | string,
    options: PublishDurableOptions,
  ): Promise<{ duplicate: boolean }> {
    if (!this.#isUp()) throw connectionLost();
    const answer = await publishAndConfirm(this.#parties, this.#prefixes.subject + subject, bytes, options);
    if (answer.kind === 'no-stream')
      throw unavailable(`No stream takes ${subject}: the streams are missing; run tools/streams.ts`);
    return { duplicate: answer.duplicate };
  }

  /**
   * Creates or updates a durable consumer and runs it until `stop`. The request is repeated when the broker is slow, so
   * that a service does not fail when many services start at the same time.
   * @throws AppError unavailable when the connection is lost, or the broker rejects the consumer
   */
  async consume(options: ConsumerOptions, handler: (delivery: Delivery) => Promise<void>): Promise<RunningConsumer> {
    const consumer = new Consumer(
      {
        subscriptions: this.#parties.subscriptions,
        publisher: this.#parties.publisher,
        logger: this.#logger,
        prefixes: this.#prefixes,
        ensure: () => this.#ensureConsumer(options),
      },
      options,
      handler,
    );
    while (!(await this.#requestConsumer(options)));
    this.#consumers.add(consumer);
    consumer.start();
    return {
      stop: async () => {
        this.#consumers.delete(consumer);
        await consumer.stop();
      },
    };
  }

  /** Returns the backlog of a durable consumer. @throws AppError unavailable */
  async consumerLag(stream: StreamName, durable: string): Promise<ConsumerLag> {
    return await this.#manage(async (manager) => {
      const info = await manager.consumers.info(this.#prefixes.stream + stream, durable);
      return {
        pending: info.num_pending,
        ackPending: info.num_ack_pending,
        redelivered: info.num_redelivered,
        settledUpTo: info.ack_floor.stream_seq,
      };
    });
  }

  /** Returns size and limits of a stream. @throws AppError unavailable */
  async streamSize(stream: StreamName): Promise<StreamSize> {
    return await this.#manage(async (manager) => {
      const { state, config } = await manager.streams.info(this.#prefixes.stream + stream);
      return { messages: state.messages, bytes: state.bytes, maxBytes: config.max_bytes };
    });
  }

  /** Deletes the streams of this prefix with their messages; for tests. */
  async purgeStream(stream: StreamName): Promise<number> {
    return this.#manage(async (manager) => (await manager.streams.purge(this.#prefixes.stream + stream)).purged);
  }

  async deleteStreams(): Promise<void> {
    await this.#manage(async (manager) => {
      for (const name of streamNames) await deleteStream(manager, this.#prefixes.stream + name);
    });
  }

  /** Lets consumers request messages again immediately after a reconnection. */
  resume(): void {
    for (const consumer of this.#consumers) consumer.resume();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop()));
    this.#consumers.clear();
  }

  async #findMissing(): Promise<string[]> {
    const names = streamNames.map((name) => this.#prefixes.stream + name);
    const found = await Promise.all(names.map((name) => this.#manage((manager) => findStream(manager, name))));
    return names.filter((_name, index) => found[index] === undefined);
  }

  /** Creates or updates the consumer. Returns false on timeout. */
  async #requestConsumer(options: ConsumerOptions): Promise<boolean> {
    try {
      await this.#ensureConsumer(options);
      return true;
    } catch (error) {
      if (!(error instanceof AppError && error.cause instanceof TimeoutError)) throw error;
      this.#logger.warn({ consumer: options.durable }, 'waiting for the broker, which does not answer in time');
      return false;
    }
  }

  async #ensureConsumer(options: ConsumerOptions): Promise<void> {
    await this.#manage(async (manager) => {
      const stream = this.#prefixes.stream + options.stream;
      const config = {
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(options.ackWaitMs ?? 30_000),
        max_deliver: -1, // the job library limits the attempts
        max_ack_pending: 10_000,
        filter_subject: this.#prefixes.subject + options.filter,
      };
      try {
        await manager.consumers.add(stream, { durable_name: options.durable, ...config });
      } catch (error) {
        if (!(error instanceof JetStreamApiError) || error.code !== consumerExists) throw error;
        await manager.consumers.update(stream, options.durable, config); // another release created the consumer with other settings
      }
    });
  }

  async #manage<T>(work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    if (!this.#isUp()) throw connectionLost();
    try {
      this.#manager ??= jetstreamManager(this.#connection, { checkAPI: false });
      return await work(await this.#manager);
    } catch (error) {
      if (error instanceof AppError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw unavailable(`JetStream failed: ${reason}`, { cause: error });
    }
  }
}

const consumerExists = 10148;
