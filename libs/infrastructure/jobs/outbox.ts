/**
 * Adds jobs and events to a transaction: their rows are written with the commit, their messages are published after it.
 */
import type { Event, Job, TSchema } from '#libs/infrastructure/contract';
import { compileSchema, type SchemaCheck } from '#libs/infrastructure/schema';
import { findTracer } from '#libs/infrastructure/telemetry';
import type { Tx } from '#libs/infrastructure/orm';
import { type Message, toJobMessage, type Relay } from './relay.ts';
import { type DueRow, insertJobs, insertKeyedJob, insertOutbox } from './statements.ts';
import type { EnqueueOptions, JobTuning } from './types.ts';
import { createUuid } from './uuid.ts';

/** An outbox row to be written: an event, or a job of another service. */
interface NewMessage {
  readonly kind: 'job' | 'event';
  readonly messageId: string;
  readonly subject: string;
  readonly body: string;
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

/** A job of this service to write. */
interface NewJob extends DueRow {
  readonly payload: string;
  readonly delayMs: number;
  /** True when this process publishes the job right after the commit. */
  readonly now: boolean;
}

/** The rows that one transaction writes before its commit and publishes after it. */
interface Pending {
  readonly jobs: NewJob[];
  readonly outbox: NewMessage[];
  readonly messages: Message[];
  /** True when the rows are being written, so that nothing more can be added. */
  sealed: boolean;
  /** True when the relay must poll, because it publishes some of the jobs. */
  wake: boolean;
  /** True when older events are unpublished; the events of this transaction must not overtake them. */
  delayed: boolean;
  sending: Promise<void> | undefined;
}

type Origin = Pick<EnqueueOptions, 'requestId' | 'traceparent'>;

const keyedTries = 5;
const checks = new WeakMap<TSchema, SchemaCheck>();

export class Outbox {
  readonly #service: string;
  readonly #relay: Relay;
  readonly #tuning: JobTuning;
  readonly #pending = new WeakMap<Tx, Pending>();

  constructor(deps: { service: string; relay: Relay; tuning: JobTuning }) {
    this.#service = deps.service;
    this.#relay = deps.relay;
    this.#tuning = deps.tuning;
  }

  /**
   * Adds a job to the transaction. @throws Error when the payload violates its schema, or when this service may not
   * start the job.
   */
  async enqueue(tx: Tx, declaration: Job, payload: unknown, options: EnqueueOptions): Promise<string> {
    const { type, startedBy } = declaration;
    const isOwn = type.startsWith(`${this.#service}.`);
    if (!isOwn && !startedBy.includes(this.#service)) throw new Error(`${this.#service} may not start ${type}`);
    checkPayload(declaration.payload, type, payload);
    const pending = this.#pendingOf(tx);
    const delayMs = Math.max(0, options.delayMs ?? 0);
    const id = createUuid();
    if (!isOwn) {
      const body = JSON.stringify({
        id,
        key: options.key,
        run_at: delayMs === 0 ? undefined : Date.now() + delayMs,
        payload,
      });
      pending.outbox.push({
        kind: 'job',
        messageId: id,
        subject: `jobs.${type}`,
        body,
        ...originOf(options, `enqueue ${type}`, `jobs.${type}`),
      });
      return id;
    }
    const now = delayMs === 0 && this.#relay.ready;
    const { requestId, traceparent } = originOf(options, `enqueue ${type}`, `jobs.${type}`);
    const job: NewJob = {
      id,
      type,
      payload: JSON.stringify(payload),
      delayMs,
      now,
      generation: 0,
      request_id: requestId,
      traceparent,
    };
    if (options.key === undefined) pending.jobs.push(job);
    else {
      const found = await this.#insertKeyed(tx, job, options.key);
      if (!found.added) {
        if (found.unsent) pending.wake = true;
        return found.id;
      }
    }
    if (now) pending.messages.push(toJobMessage(job));
    else pending.wake = true;
    return id;
  }

  emit(tx: Tx, declaration: Event, payload: unknown, options: Origin): void {
    checkPayload(declaration.payload, declaration.subject, payload);
    const message = {
      kind: 'event' as const,
      messageId: createUuid(),
      subject: declaration.subject,
      body: JSON.stringify(payload),
    };
    this.#pendingOf(tx).outbox.push({
      ...message,
      ...originOf(options, `emit ${declaration.subject}`, declaration.subject),
    });
  }

  /** Returns the publication of a committed transaction; undefined when the transaction published nothing. */
  sendingOf(tx: Tx): Promise<void> | undefined {
    return this.#pending.get(tx)?.sending;
  }

  /**
   * Inserts a job with a key or finds the waiting one. The statement returns no row when a concurrent transaction has
   * inserted the job; a repetition then finds it.
   */
  async #insertKeyed(tx: Tx, job: NewJob, key: string): Promise<{ id: string; added: boolean; unsent: boolean }> {
    const { id, type, payload, delayMs, now, request_id: requestId, traceparent } = job;
    const values = { id, type, payload, delay: delayMs, sent: now, requestId, traceparent, key };
    for (let attempt = 0; attempt < keyedTries; attempt++) {
      const row = await insertKeyedJob(tx, values);
      if (row !== undefined) return row;
    }
    throw new Error('The job under this key changes hands too often');
  }

  #pendingOf(tx: Tx): Pending {
    const found = this.#pending.get(tx);
    if (found?.sealed === true) throw new Error('The transaction is over');
    if (found !== undefined) return found;
    const pending: Pending = {
      jobs: [],
      outbox: [],
      messages: [],
      sealed: false,
      wake: false,
      delayed: false,
      sending: undefined,
    };
    this.#pending.set(tx, pending);
    tx.beforeCommit(() => {
      pending.sealed = true;
      return Promise.all([this.#writeJobs(tx, pending), this.#writeMessages(tx, pending)]);
    });
    tx.afterCommit(() => {
      pending.sending = this.#relay.send(pending.messages, pending.delayed);
      if (pending.wake) this.#relay.wake();
    });
    return pending;
  }

  async #writeJobs(tx: Tx, { jobs }: Pending): Promise<void> {
    if (jobs.length === 0) return;
    await insertJobs(tx, {
      ids: jobs.map(({ id }) => id),
      types: jobs.map(({ type }) => type),
      payloads: jobs.map(({ payload }) => payload),
      delays: jobs.map(({ delayMs }) => delayMs),
      sent: jobs.map(({ now }) => now),
      requestIds: jobs.map(({ request_id: requestId }) => requestId),
      traceparents: jobs.map(({ traceparent }) => traceparent),
    });
  }

  async #writeMessages(tx: Tx, pending: Pending): Promise<void> {
    const { outbox } = pending;
    if (outbox.length === 0) return;
    const now = this.#relay.ready;
    const rows = await insertOutbox(tx, {
      messageIds: outbox.map(({ messageId }) => messageId),
      kinds: outbox.map(({ kind }) => kind),
      subjects: outbox.map(({ subject }) => subject),
      bodies: outbox.map(({ body }) => body),
      requestIds: outbox.map(({ requestId }) => requestId),
      traceparents: outbox.map(({ traceparent }) => traceparent),
      take: now ? this.#tuning.outboxClaimMs : 0,
    });
    if (!now) {
      pending.wake = true;
      return;
    }
    const ids = new Map(rows.map((row) => [row.message_id, row.id]));
    pending.delayed = rows.some(({ behind }) => behind);
    for (const message of outbox)
      pending.messages.push({ source: { table: 'outbox', id: ids.get(message.messageId) ?? 0 }, ...message });
  }
}

/**
 * Returns request id and trace of the caller, which are stored with the job. With tracing, a span records the
 * enqueueing.
 */
function originOf(
  { requestId, traceparent }: Origin,
  name: string,
  subject: string,
): { requestId: string | null; traceparent: string | null } {
  const span = findTracer()?.startChild(
    name,
    'producer',
    {
      'messaging.system': 'nats',
      'messaging.operation.name': 'create',
      'messaging.operation.type': 'create',
      'messaging.destination.name': subject,
    },
    traceparent,
  );
  span?.end();
  return { requestId: requestId ?? null, traceparent: span?.traceparent ?? traceparent ?? null };
}

function checkPayload(schema: TSchema, name: string, payload: unknown): void {
  let check = checks.get(schema);
  if (check === undefined) {
    check = compileSchema(schema);
    checks.set(schema, check);
  }
  const problem = check(payload);
  if (problem !== undefined)
    throw new Error(`payload of ${name} breaks its declaration at /${problem.path.join('/')}: ${problem.message}`);
}
