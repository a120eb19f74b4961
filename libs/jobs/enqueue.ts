/** Putting jobs and events into a transaction: their rows travel with the commit, their messages follow it. */
import type { Event, Job } from '#libs/contract';
import { compileSchema, type SchemaCheck } from '#libs/schema';
import { getTracer } from '#libs/telemetry';
import type { TSchema } from 'typebox';
import type { Tx } from '#libs/orm';
import { type Message, messageOfJob, type Relay } from './relay.ts';
import { type DueRow, insertJobs, insertKeyedJob, insertOutbox } from './statements.ts';
import type { EnqueueOptions, JobTuning } from './types.ts';
import { createUuid } from './uuid.ts';

/** A message for the outbox, not written yet. */
interface Letter {
  readonly kind: 'job' | 'event';
  readonly messageId: string;
  readonly subject: string;
  readonly body: string;
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

/** A job of this service, not written yet. */
interface NewJob extends DueRow {
  readonly payload: string;
  readonly delayMs: number;
  /** Sent by this process right after the commit. */
  readonly now: boolean;
}

/** What one transaction writes with its commit and sends after it. */
interface Parcel {
  readonly jobs: NewJob[];
  readonly letters: Letter[];
  readonly messages: Message[];
  /** Its rows are on their way: nothing more can be put in. */
  sealed: boolean;
  /** Something else has become due: the relay looks. */
  wake: boolean;
  /** Older events wait, so the ones of this transaction must not overtake them. */
  behind: boolean;
  sending: Promise<void> | undefined;
}

type Origin = Pick<EnqueueOptions, 'requestId' | 'traceparent'>;

const keyedTries = 5;
const handedOver = { 'messaging.system': 'nats', 'messaging.operation.type': 'create' };
const checks = new WeakMap<TSchema, SchemaCheck>();

export class Outbox {
  readonly #service: string;
  readonly #relay: Relay;
  readonly #tuning: JobTuning;
  readonly #parcels = new WeakMap<Tx, Parcel>();

  constructor(deps: { service: string; relay: Relay; tuning: JobTuning }) {
    this.#service = deps.service;
    this.#relay = deps.relay;
    this.#tuning = deps.tuning;
  }

  /** @throws Error when the payload breaks the declaration, or the declaration does not let this service start the job. */
  async enqueue(tx: Tx, declaration: Job, payload: unknown, options: EnqueueOptions): Promise<string> {
    const { type, startedBy } = declaration;
    const isOwn = type.startsWith(`${this.#service}.`);
    if (!isOwn && !startedBy.includes(this.#service)) throw new Error(`${this.#service} may not start ${type}`);
    checkPayload(declaration.payload, type, payload);
    const parcel = this.#parcelOf(tx);
    const delayMs = Math.max(0, options.delayMs ?? 0);
    const id = createUuid();
    if (!isOwn) {
      const body = JSON.stringify({ id, key: options.key, run_at: delayMs === 0 ? undefined : Date.now() + delayMs, payload });
      parcel.letters.push({ kind: 'job', messageId: id, subject: `jobs.${type}`, body, ...originOf(options, `enqueue ${type}`) });
      return id;
    }
    const now = delayMs === 0 && this.#relay.ready;
    const { requestId, traceparent } = originOf(options, `enqueue ${type}`);
    const job: NewJob = { id, type, payload: JSON.stringify(payload), delayMs, now, generation: 0, request_id: requestId, traceparent };
    if (options.key === undefined) parcel.jobs.push(job);
    else {
      const found = await this.#insertKeyed(tx, job, options.key);
      if (!found.added) {
        if (found.unsent) parcel.wake = true;
        return found.id;
      }
    }
    if (now) parcel.messages.push(messageOfJob(job));
    else parcel.wake = true;
    return id;
  }

  emit(tx: Tx, declaration: Event, payload: unknown, options: Origin): void {
    checkPayload(declaration.payload, declaration.subject, payload);
    const letter = { kind: 'event' as const, messageId: createUuid(), subject: declaration.subject, body: JSON.stringify(payload) };
    this.#parcelOf(tx).letters.push({ ...letter, ...originOf(options, `emit ${declaration.subject}`) });
  }

  /** What the transaction has sent, if it committed and anything was to be sent. */
  sendingOf(tx: Tx): Promise<void> | undefined {
    return this.#parcels.get(tx)?.sending;
  }

  /** No row means that a concurrent transaction added the job between the look and the insert: the next look finds it. */
  async #insertKeyed(tx: Tx, job: NewJob, key: string): Promise<{ id: string; added: boolean; unsent: boolean }> {
    const { id, type, payload, delayMs, now, request_id: requestId, traceparent } = job;
    const values = { id, type, payload, delay: delayMs, sent: now, requestId, traceparent, key };
    for (let attempt = 0; attempt < keyedTries; attempt++) {
      const row = await insertKeyedJob(tx, values);
      if (row !== undefined) return row;
    }
    throw new Error('The job under this key changes hands too often');
  }

  #parcelOf(tx: Tx): Parcel {
    const found = this.#parcels.get(tx);
    if (found?.sealed === true) throw new Error('The transaction is over');
    if (found !== undefined) return found;
    const parcel: Parcel = { jobs: [], letters: [], messages: [], sealed: false, wake: false, behind: false, sending: undefined };
    this.#parcels.set(tx, parcel);
    tx.beforeCommit(() => {
      parcel.sealed = true;
      return Promise.all([this.#writeJobs(tx, parcel), this.#writeLetters(tx, parcel)]);
    });
    tx.afterCommit(() => {
      parcel.sending = this.#relay.send(parcel.messages, parcel.behind);
      if (parcel.wake) this.#relay.wake();
    });
    return parcel;
  }

  async #writeJobs(tx: Tx, { jobs }: Parcel): Promise<void> {
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

  async #writeLetters(tx: Tx, parcel: Parcel): Promise<void> {
    const { letters } = parcel;
    if (letters.length === 0) return;
    const now = this.#relay.ready;
    const rows = await insertOutbox(tx, {
      messageIds: letters.map(({ messageId }) => messageId),
      kinds: letters.map(({ kind }) => kind),
      subjects: letters.map(({ subject }) => subject),
      bodies: letters.map(({ body }) => body),
      requestIds: letters.map(({ requestId }) => requestId),
      traceparents: letters.map(({ traceparent }) => traceparent),
      take: now ? this.#tuning.outboxTakeMs : 0,
    });
    if (!now) {
      parcel.wake = true;
      return;
    }
    const ids = new Map(rows.map((row) => [row.message_id, row.id]));
    parcel.behind = rows.some(({ behind }) => behind);
    for (const letter of letters) parcel.messages.push({ source: { table: 'outbox', id: ids.get(letter.messageId) ?? 0 }, ...letter });
  }
}

/** Where the work comes from, kept with it; with tracing on, a span of its own says when it was handed over. */
function originOf({ requestId, traceparent }: Origin, name: string): { requestId: string | null; traceparent: string | null } {
  const span = getTracer()?.startChild(name, 'producer', handedOver, traceparent);
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
  if (problem !== undefined) throw new Error(`payload of ${name} breaks its declaration at /${problem.path.join('/')}: ${problem.message}`);
}
