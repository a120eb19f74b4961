/**
 * The bus: RPC, events and durable messages over one NATS connection (architecture#rpc). Without a connection every
 * call fails immediately with `unavailable`; pending calls fail too, because their replies cannot arrive.
 */
import { errors, type Msg, type NatsConnection } from '@nats-io/transport-node';
import type { ActorCodec } from '#libs/infrastructure/actor';
import type { Event, PayloadOf, ReplyOf, RequestOf, Rpc, ServiceContract } from '#libs/infrastructure/contract';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import { parseJson } from '#libs/infrastructure/json';
import type { Logger } from '#libs/infrastructure/logger';
import { compileSchema } from '#libs/infrastructure/schema';
import { PermissionMonitor } from './permission-monitor.ts';
import { checkCall, noActors } from './admission.ts';
import { startCall, PendingCall } from './pending-call.ts';
import { openConnection, describeServers, inboxPrefixOf, inboxRoot, type OpenConnection } from './connect.ts';
import type { Credentials } from './credentials.ts';
import type { ConsumerOptions, Delivery, RunningConsumer } from './consumer.ts';
import type { Bus, BusSettings } from './types.ts';
import { Inbox } from './inbox.ts';
import { ReaderWindows } from './reader-windows.ts';
import type { PublishDurableOptions } from './durable-publish.ts';
import { type ConsumerLag, JetStream, type StreamSize } from './jetstream.ts';
import type { Permissions } from './permissions.ts';
import type { StreamLimits, StreamName } from './streams.ts';
import { Publisher, type ConnectionParts } from './publisher.ts';
import { RawJson, type RawReply } from './reply.ts';
import { type BusMetrics, type Handlers, Responder, type ServeOptions } from './responder.ts';
import { ServedContext } from './served-context.ts';
import { streamControl } from './stream-reader.ts';
import {
  type CallContext,
  connectionLost,
  deadlineExceeded,
  decodeText,
  encodeContext,
  encodeHeaders,
  header,
  noResponders,
  readHeader,
} from './wire.ts';

/** Payload size that the broker must accept: 4 MiB of JSON plus its envelope (architecture#large-messages). */
export const requiredPayloadBytes = 8 * 1024 * 1024;
/**
 * Delays of retries when no service subscribes to a subject. The request was not delivered, so a retry is safe: during
 * a deployment, or while an interest propagates between brokers of a cluster, a subscriber appears within moments.
 */
const noResponderDelaysMs = [50, 150, 300];
/** Size reserved for headers and subject, which count against the broker's message limit. */
const headerRoomBytes = 16 * 1024;
/** Maximum size of a streamed reply that `call` collects. */
const maxCollectedBytes = 64 * 1024 * 1024;

/** Connects to the broker. @throws AppError unavailable; Error when its message size limit is too low */
export async function connectBus(settings: BusSettings): Promise<Bus> {
  const bus = new NatsBus(await openConnection(settings), settings);
  const expected = settings.minPayloadBytes ?? 0;
  // Closing the connection discards the server info, so the limit is read first.
  const { maxPayload } = bus;
  if (maxPayload < expected) {
    await bus.close();
    throw new Error(
      `The NATS server at ${describeServers(settings.url)} accepts messages of ${maxPayload} bytes; ${expected} are needed. ` +
        `Set "max_payload: ${expected}" in its configuration.`,
    );
  }
  return bus;
}

class NatsBus implements Bus {
  readonly prefix: string;
  readonly #connection: NatsConnection;
  readonly #inbox: Inbox;
  readonly #jetstream: JetStream;
  readonly #logger: Logger;
  readonly #metrics: BusMetrics;
  readonly #reconnectListeners = new Set<(outageMs: number) => void>();
  readonly #responders = new Set<Responder>();
  readonly #publisher: Publisher;
  readonly #parties: ConnectionParts;
  readonly #access: PermissionMonitor;
  readonly #actors: ActorCodec;
  readonly #caller: string | undefined;
  readonly #checkReplies: boolean;
  #up = true;

  constructor({ connection, onUp, credentials }: OpenConnection, settings: BusSettings) {
    const name = settings.prefix ?? '';
    this.prefix = name === '' ? '' : `${name}.`;
    this.#connection = connection;
    this.#logger = settings.logger;
    this.#metrics = settings.metrics ?? {};
    this.#actors = settings.actors ?? noActors;
    this.#caller = settings.caller;
    this.#checkReplies = settings.checkReplies ?? false;
    this.#access = new PermissionMonitor({
      connection,
      user: credentials.user ?? settings.name,
      prefix: name,
      logger: settings.logger,
      onViolation: (operation) => this.#metrics.permissionViolated?.(operation),
    });
    const { subscriptions } = this.#access;
    this.#inbox = new Inbox(subscriptions, inboxPrefixOf(settings.name), (message) => this.#onStray(message));
    this.#publisher = new Publisher(connection);
    this.#parties = {
      connection,
      subscriptions,
      inbox: this.#inbox,
      publisher: this.#publisher,
      queues: new ReaderWindows(),
    };
    const prefixes = {
      subject: this.prefix,
      stream: name === '' ? '' : `${name}_`,
      inbox: inboxPrefixOf(settings.name),
    };
    this.#jetstream = new JetStream(this.#parties, prefixes, settings.logger, () => this.#up);
    this.#metrics.connected?.(true);
    void this.#watch(onUp, credentials);
  }

  get maxPayload(): number {
    return this.#connection.info?.max_payload ?? requiredPayloadBytes;
  }

  get connected(): boolean {
    return this.#up;
  }

  async call<R extends Rpc>(rpc: R, request: RequestOf<R>, context: CallContext): Promise<ReplyOf<R>> {
    const reply = await this.callRaw(rpc, request, context);
    const bytes = reply.kind === 'bytes' ? reply.bytes : await collect(rpc.subject, reply.chunks);
    return (bytes.length === 0 ? undefined : parseJson(decodeText(bytes))) as ReplyOf<R>;
  }

  callRaw(rpc: Rpc, request: unknown, context: CallContext): Promise<RawReply> {
    return new Promise((resolve, reject) => {
      if (this.#caller !== undefined) checkCall(rpc, this.#caller, context.actor);
      const assertion = context.actor === undefined ? undefined : this.#actors.encode(context.actor);
      const startedMs = performance.now();
      const span = startCall(this.#connection, rpc.subject, context.traceparent);
      const finish = (reply: RawReply | undefined, error: AppError | undefined): void => {
        span?.end({ error: error?.code, attributes: { 'rpc.response.status_code': error?.code ?? 'ok' } });
        this.#metrics.called?.(
          rpc.subject,
          error?.code ?? 'ok',
          (performance.now() - startedMs) / 1000,
          span?.traceparent,
        );
        if (reply === undefined) reject(error ?? connectionLost());
        else resolve(reply);
      };
      const nowMs = Date.now();
      const deadlineMs = Math.min(nowMs + rpc.timeoutMs, context.deadlineMs ?? Infinity);
      if (!this.#up) return finish(undefined, connectionLost());
      if (deadlineMs <= nowMs) return finish(undefined, deadlineExceeded(rpc.subject));
      const bytes = request instanceof RawJson ? request.bytes : Buffer.from(JSON.stringify(request) ?? '', 'utf8');
      if (bytes.length > this.maxPayload - headerRoomBytes) {
        return finish(undefined, new AppError({ code: 'payload_too_large', message: 'The request is too large' }));
      }
      // A served context creates its signal on access. Its deadline is enforced here, so the signal is not needed.
      const signal = context instanceof ServedContext ? undefined : context.signal;
      if (signal?.aborted === true) return finish(undefined, cancelled());
      let pending: PendingCall | undefined;
      let pause: NodeJS.Timeout | undefined;
      let noResponderCount = 0;
      const forget = (): void => {
        clearTimeout(pause);
        if (pending !== undefined) this.#inbox.remove(pending.token);
      };
      const settle = signal === undefined ? finish : this.#abortable(signal, finish, forget);
      const onNoResponder = (): void => {
        const delayMs = noResponderDelaysMs[noResponderCount++];
        if (delayMs === undefined || Date.now() + delayMs >= deadlineMs)
          return settle(undefined, noResponders(rpc.subject));
        pause = setTimeout(() => (this.#up ? send() : settle(undefined, connectionLost())), delayMs);
      };
      const send = (): void => {
        pending = new PendingCall(this.#parties, rpc.subject, deadlineMs, settle, onNoResponder);
        pending.token = this.#inbox.add(pending);
        const { token } = pending;
        const message = {
          reply: this.#inbox.subject(token),
          headers: encodeContext(context, deadlineMs, assertion, span?.traceparent),
        };
        this.#publisher.publish(this.prefix + rpc.subject, bytes, message, () => {
          if (this.#inbox.remove(token)) settle(undefined, connectionLost());
        });
      };
      send();
    });
  }

  serve<C extends ServiceContract>(
    contract: C,
    handlers: Handlers<C>,
    options: ServeOptions = {},
  ): Promise<{ drain(): Promise<void> }> {
    const responder = new Responder(
      {
        ...this.#parties,
        prefix: this.prefix,
        logger: this.#logger,
        metrics: this.#metrics,
        actors: this.#actors,
        checkReplies: this.#checkReplies,
      },
      contract,
      handlers,
      options,
    );
    this.#responders.add(responder);
    // When the broker answers the flush, it has processed the subscriptions.
    return this.#publisher.flush().then(() => ({ drain: () => this.#drainResponder(responder) }));
  }

  publish<E extends Event>(
    event: E,
    payload: PayloadOf<E>,
    context?: Pick<CallContext, 'requestId' | 'traceparent'>,
  ): void {
    if (!this.#up) throw connectionLost();
    const headers =
      context === undefined
        ? undefined
        : encodeHeaders({ [header.requestId]: context.requestId, [header.traceparent]: context.traceparent });
    this.#publisher.publish(
      this.prefix + event.subject,
      JSON.stringify(payload),
      headers === undefined ? {} : { headers },
    );
  }

  subscribeEvent<E extends Event>(event: E, handler: (payload: PayloadOf<E>) => void | Promise<void>): () => void {
    if (this.#caller !== undefined && !event.subscribers.includes(this.#caller))
      throw new Error(`${this.#caller} may not subscribe to ${event.subject}`);
    const check = compileSchema(event.payload);
    const deliver = async (message: Msg): Promise<void> => {
      try {
        const payload = parseJson(decodeText(message.data));
        const problem = check(payload);
        if (problem === undefined) await handler(payload as PayloadOf<E>);
        else
          this.#logger.error(
            { event: event.subject, path: problem.path, problem: problem.message },
            'event breaks its contract',
          );
      } catch (error) {
        this.#logger.error({ err: error, event: event.subject }, 'event handler failed');
      }
    };
    const subscription = this.#parties.subscriptions.subscribe(this.prefix + event.subject, {
      callback: (message) => {
        // Ignores messages that the broker delivered from a stream, see `isCall`.
        if (message.subject === this.prefix + event.subject) void deliver(message);
      },
    });
    return () => subscription.unsubscribe();
  }

  onReconnect(listener: (outageMs: number) => void): () => void {
    this.#reconnectListeners.add(listener);
    return () => this.#reconnectListeners.delete(listener);
  }

  ensureStreams(limits: StreamLimits = {}, replicas?: number): Promise<void> {
    return this.#jetstream.ensureStreams(limits, replicas);
  }

  waitForStreams(signal?: AbortSignal): Promise<void> {
    return this.#jetstream.waitForStreams(signal);
  }

  publishDurable(
    subject: string,
    bytes: Uint8Array | string,
    options: PublishDurableOptions,
  ): Promise<{ duplicate: boolean }> {
    return this.#jetstream.publishDurable(subject, bytes, options);
  }

  consume(options: ConsumerOptions, handler: (delivery: Delivery) => Promise<void>): Promise<RunningConsumer> {
    return this.#jetstream.consume(options, handler);
  }

  consumerLag(stream: StreamName, durable: string): Promise<ConsumerLag> {
    return this.#jetstream.consumerLag(stream, durable);
  }

  streamSize(stream: StreamName): Promise<StreamSize> {
    return this.#jetstream.streamSize(stream);
  }

  purgeStream(stream: StreamName): Promise<number> {
    return this.#jetstream.purgeStream(stream);
  }

  deleteStreams(): Promise<void> {
    return this.#jetstream.deleteStreams();
  }

  async waitForPermissions(needed: Permissions | undefined): Promise<void> {
    if (needed !== undefined) await this.#access.waitFor(needed);
  }

  async findMissingPermissions(needed: Permissions): Promise<string | undefined> {
    try {
      return await this.#access.find(needed);
    } catch (error) {
      throw unavailable('NATS does not answer what its user may do', { cause: error });
    }
  }

  async ping(timeoutMs = 2_000): Promise<void> {
    if (!this.#up) throw connectionLost();
    const { problem } = this.#access;
    if (problem !== undefined) throw unavailable(problem);
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(connectionLost()), timeoutMs);
    });
    try {
      await Promise.race([this.#publisher.flush(), timeout]);
    } catch {
      throw connectionLost();
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    if (this.#connection.isClosed()) return;
    await Promise.all([...this.#responders].map((responder) => this.#drainResponder(responder)));
    await this.#jetstream.stop();
    this.#inbox.breakAll(connectionLost());
    this.#inbox.stop();
    this.#access.subscriptions.stop();
    this.#publisher.send();
    await (this.#up ? this.#connection.drain() : this.#connection.close()).catch(() => this.#connection.close());
  }

  async #drainResponder(responder: Responder): Promise<void> {
    this.#responders.delete(responder);
    await responder.drain();
    if (this.#up && !this.#connection.isClosed()) await this.#publisher.flush().catch(() => undefined);
  }

  /** Watches the state of the connection. Never rejects. */
  async #watch(onUp: () => void, credentials: Credentials): Promise<void> {
    let [isRefused, lostAtMs] = [false, 0];
    for await (const status of this.#connection.status()) {
      if (status.type === 'disconnect') {
        if (this.#up) lostAtMs = performance.now();
        this.#up = false;
        this.#metrics.connected?.(false);
        this.#logger.warn({ server: status.server }, 'connection to NATS lost');
        this.#inbox.breakAll(connectionLost());
      } else if (status.type === 'reconnect') {
        onUp();
        isRefused = false;
        this.#up = true;
        this.#metrics.connected?.(true);
        this.#logger.info({ server: status.server }, 'connection to NATS restored');
        this.#jetstream.resume();
        this.#access.recheck();
        for (const listener of this.#reconnectListeners) this.#runListener(listener, performance.now() - lostAtMs);
      } else if (status.type === 'error' && status.error instanceof errors.PermissionViolationError) {
        this.#access.onViolation(status.error);
      } else if (status.type === 'error' && isRefusal(status.error)) {
        // The client continues to reconnect and reads the credentials again for each attempt. The error is logged once.
        const cause = credentials.explain(status.error);
        if (!isRefused)
          this.#logger.error(
            `NATS refuses the credentials (${status.error.message})${cause === '' ? '' : `: ${cause}`}`,
          );
        isRefused = true;
      } else if (status.type === 'error') {
        this.#logger.error({ err: status.error }, 'NATS reported an error');
      }
    }
    this.#up = false;
  }

  #runListener(listener: (outageMs: number) => void, outageMs: number): void {
    try {
      listener(outageMs);
    } catch (error) {
      this.#logger.error({ err: error }, 'reconnect listener failed');
    }
  }

  /**
   * Handles a message for a removed listener: cancels the sender of a stream chunk, and fails the reader of a broken
   * stream.
   */
  #onStray(message: Msg): void {
    const replyTo = message.reply;
    if (replyTo === undefined || !replyTo.startsWith(inboxRoot)) return;
    if (readHeader(message.headers, header.chunk) !== undefined) {
      this.#publisher.publish(replyTo, streamControl.cancel);
    } else if (decodeText(message.data) === streamControl.alive) {
      const body = JSON.stringify(connectionLost().toBody());
      this.#publisher.publish(replyTo, body, { headers: encodeHeaders({ [header.status]: 'error' }) });
    }
  }

  #abortable(
    signal: AbortSignal,
    finish: (reply: RawReply | undefined, error: AppError | undefined) => void,
    forget: () => void,
  ): (reply: RawReply | undefined, error: AppError | undefined) => void {
    const onAbort = (): void => {
      forget();
      finish(undefined, cancelled());
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return (reply, error) => {
      signal.removeEventListener('abort', onAbort);
      finish(reply, error);
    };
  }
}

function isRefusal(error: Error): boolean {
  return error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError;
}

function cancelled(): AppError {
  return new AppError({ code: 'unavailable', message: 'The request was cancelled' });
}

async function collect(subject: string, chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxCollectedBytes)
      throw new AppError({ code: 'internal', message: `The reply of ${subject} is too large to be read whole` });
    parts.push(chunk);
  }
  return Buffer.concat(parts, size);
}
