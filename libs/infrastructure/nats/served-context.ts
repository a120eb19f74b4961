/** Context of one served request. */
import type { Msg } from '@nats-io/transport-node';
import type { ActorCodec } from '#libs/infrastructure/actor';
import type { Actor, CallerKind, Rpc } from '#libs/infrastructure/contract';
import type { Logger } from '#libs/infrastructure/logger';
import { readTraceIds } from '#libs/infrastructure/telemetry';
import { authenticateCall } from './admission.ts';
import { type CallContext, deadlineExceeded, header } from './wire.ts';

/**
 * Context of a request for its handler. Pass it to nested calls unchanged, so that they have the same deadline, actor
 * and trace.
 */
export interface RequestContext extends CallContext {
  readonly subject: string;
  /** Audit action that the operation declares. */
  readonly audit?: string | undefined;
  /** The client's `Idempotency-Key` (I1). Not forwarded to nested calls, see `CallContext.sentIdempotencyKey`. */
  readonly idempotencyKey?: string | undefined;
  readonly deadlineMs: number;
  /** Aborts at the deadline and when the reader of a streamed reply disconnects. Created on first access. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Context of a served request, which creates its AbortSignal and child logger only on access. */
export class ServedContext implements RequestContext {
  readonly subject: string;
  readonly audit: string | undefined;
  readonly requestId: string;
  readonly clientIp: string | undefined;
  readonly via: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Set after the assertion was verified. */
  actor: Actor | undefined;
  /** The assertion as received, not verified. */
  readonly #assertion: string | undefined;
  /** Trace context of the caller, or of the span of this request. */
  traceparent: string | undefined;
  readonly deadlineMs: number;
  readonly #parentLogger: Logger;
  #logger: Logger | undefined;
  #controller: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #answering = false;
  #aborted: Error | undefined;

  constructor(rpc: Rpc, message: Msg, logger: Logger) {
    let requestId = '';
    let assertion: string | undefined;
    let traceparent: string | undefined;
    let clientIp: string | undefined;
    let via: string | undefined;
    let idempotencyKey: string | undefined;
    let deadlineMs = Number.NaN;
    for (const [key, values] of message.headers ?? []) {
      if (key === header.requestId) requestId = values[0] ?? '';
      else if (key === header.actor) assertion = values[0];
      else if (key === header.traceparent) traceparent = values[0];
      else if (key === header.clientIp) clientIp = values[0];
      else if (key === header.via) via = values[0];
      else if (key === header.idempotencyKey) idempotencyKey = values[0];
      else if (key === header.deadline) deadlineMs = Number(values[0]);
    }
    this.subject = rpc.subject;
    this.audit = rpc.audit;
    this.clientIp = clientIp;
    this.via = via;
    this.idempotencyKey = idempotencyKey;
    this.requestId = requestId;
    this.#assertion = assertion;
    this.traceparent = traceparent;
    this.deadlineMs = Number.isFinite(deadlineMs) ? deadlineMs : Date.now() + rpc.timeoutMs;
    this.#parentLogger = logger;
  }

  /** Verifies the assertion and sets `actor`. @throws CallRejected */
  admit(actors: ActorCodec, kinds: ReadonlySet<CallerKind>): void {
    this.actor = authenticateCall(actors, kinds, this.#assertion);
  }

  get logger(): Logger {
    this.#logger ??= this.#parentLogger.child({
      requestId: this.requestId,
      ...readTraceIds(this.traceparent),
      subject: this.subject,
    });
    return this.#logger;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
      else if (!this.#answering) {
        this.#timer = setTimeout(
          () => this.abort(deadlineExceeded(this.subject)),
          Math.max(0, this.deadlineMs - Date.now()),
        );
      }
    }
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    this.#aborted ??= reason;
    this.#controller?.abort(reason);
  }

  /** Releases the deadline, which does not apply once the reply has started. */
  release(): void {
    this.#answering = true;
    clearTimeout(this.#timer);
  }
}
