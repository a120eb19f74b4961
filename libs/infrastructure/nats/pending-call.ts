/**
 * A call that waits for its reply: a message, the first chunk of a stream, an error, or the notice that no service
 * subscribes.
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { AppError } from '#libs/infrastructure/errors';
import type { InboxListener } from './inbox.ts';
import type { ConnectionParts } from './publisher.ts';
import type { RawReply } from './reply.ts';
import { StreamReader } from './stream-reader.ts';
import { deadlineExceeded, header, isNoResponders, parseErrorBody, readReplyMetadata, readHeader } from './wire.ts';
import { findTracer, serverAttributes, type Span } from '#libs/infrastructure/telemetry';

export class PendingCall implements InboxListener {
  readonly expiresAtMs: number;
  readonly #bus: ConnectionParts;
  readonly #subject: string;
  readonly #settle: (reply: RawReply | undefined, error: AppError | undefined) => void;
  readonly #onNoResponder: () => void;
  token = '';

  constructor(
    bus: ConnectionParts,
    subject: string,
    expiresAtMs: number,
    settle: (reply: RawReply | undefined, error: AppError | undefined) => void,
    onNoResponder: () => void,
  ) {
    this.#bus = bus;
    this.#subject = subject;
    this.expiresAtMs = expiresAtMs;
    this.#settle = settle;
    this.#onNoResponder = onNoResponder;
  }

  onMessage(message: Msg): void {
    const headers = message.headers;
    if (headers === undefined) {
      this.#bus.inbox.remove(this.token);
      this.#settle({ kind: 'bytes', bytes: message.data }, undefined);
      return;
    }
    const metadata = readReplyMetadata(headers);
    if (readHeader(headers, header.chunk) !== undefined) {
      const chunks = new StreamReader(this.#bus.publisher, this.#bus.inbox, this.token, message);
      this.#settle({ kind: 'stream', chunks, ...metadata }, undefined);
      return;
    }
    this.#bus.inbox.remove(this.token);
    if (isNoResponders(message)) this.#onNoResponder();
    else if (readHeader(headers, header.status) !== undefined)
      this.#settle(undefined, parseErrorBody(message.data, metadata.replayed));
    else this.#settle({ kind: 'bytes', bytes: message.data, ...metadata }, undefined);
  }

  onExpired(): void {
    this.#settle(undefined, deadlineExceeded(this.#subject));
  }

  onBroken(error: AppError): void {
    this.#settle(undefined, error);
  }
}

/**
 * Starts the tracing span of a call, following OpenTelemetry's RPC conventions. Returns undefined without a parent or
 * active span.
 */
export function startCall(
  connection: Pick<NatsConnection, 'getServer'>,
  subject: string,
  traceparent: string | undefined,
): Span | undefined {
  const tracer = findTracer();
  if (tracer === undefined) return undefined;
  const address = URL.parse(`nats://${connection.getServer()}`);
  const attributes = {
    'rpc.system.name': 'nats',
    'rpc.method': subject,
    ...(address === null ? {} : serverAttributes(address)),
  };
  return tracer.startChild(subject, 'client', attributes, traceparent);
}
