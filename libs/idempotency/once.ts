/** An effect once for each `Idempotency-Key`, whoever asks how often (I1, I4). */
import type { Actor } from '#libs/contract';
import { AppError, appError, type ErrorBody, ReplayedError } from '#libs/errors';
import { parseJson } from '#libs/json';
import { RawJson, rawJson, TaggedReply } from '#libs/nats';
import { type Tx, transactionOrDryRun } from '#libs/orm';
import { fingerprintOf } from './fingerprint.ts';
import { listNamedPeople } from './named-people.ts';
import { findAnswer, insertAnswer, takeTurn } from './statements.ts';

/** How long an answer is kept (rules/http#limits). */
export const keptHours = 24;

/** What the context of a served call says of who asks, and under which key. */
export interface KeyedCall {
  readonly subject: string;
  readonly actor?: Actor | undefined;
  readonly answerKey?: string | undefined;
}

type Request = Readonly<Record<string, unknown>>;

export interface OnceOptions {
  /** The caller's right to the operation was checked before: `work` need not be tried again for it when the kept answer is given. */
  readonly isAuthorized?: boolean;
}

export interface Once {
  /**
   * Runs `work` in one transaction that keeps its answer, or gives the kept one. Undefined is no answer: nothing is kept then. Without a key it
   * is a transaction like any other. Before a kept answer is given, `work` is run in a transaction that is rolled back, for the sake of the rights that
   * it checks (D89).
   * @throws AppError 409 `idempotency_in_progress`, 422 `idempotency_key_reused`; what `work` throws, now and when it is asked again: what the
   *   operation itself refuses is kept too; 401, 403 and 404 where the caller has lost the right to the operation
   */
  transaction<Reply>(
    call: KeyedCall,
    request: Request,
    work: (tx: Tx) => Promise<Reply>,
    options?: OnceOptions,
  ): Promise<Reply | TaggedReply<RawJson>>;
  /**
   * For work that is not all one transaction, before it begins: the kept answer, if there is one. For callers whose right was checked before.
   * @throws AppError as `transaction`
   */
  find(call: KeyedCall, request: Request): Promise<TaggedReply<RawJson> | undefined>;
}

interface Place {
  readonly accountId: number;
  readonly operation: string;
  readonly key: string;
}

/** Refusals of an operation that are its answer to the request: what may be different in a moment, and what was refused before it, is none. */
const keptCodes: ReadonlySet<string> = new Set(['bad_request', 'conflict', 'precondition_failed']);

/** Refusals of somebody who has no right to an operation, or none to what it is about. */
const rightCodes: ReadonlySet<string> = new Set(['unauthenticated', 'permission_denied', 'not_found']);

export function createOnce(database: { transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> }): Once {
  const transaction = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => database.transaction(work);
  /** @throws AppError when the operation would refuse the caller; what kept it from saying so */
  const requireRight = async (work: (tx: Tx) => Promise<unknown>): Promise<void> => {
    try {
      await transactionOrDryRun(database, true, work);
    } catch (error) {
      if (!(error instanceof AppError) || rightCodes.has(error.code) || mayPass(error)) throw error;
    }
  };
  return {
    transaction: async <Reply>(
      call: KeyedCall,
      request: Request,
      work: (tx: Tx) => Promise<Reply>,
      { isAuthorized = false }: OnceOptions = {},
    ) => {
      const place = placeOf(call);
      if (place === undefined) return transaction(work);
      const fingerprint = fingerprintOf(request);
      const give = async (kept: KeptAnswer): Promise<TaggedReply<RawJson>> => {
        if (!isAuthorized) await requireRight(work);
        return kept.give();
      };
      let reply: Reply | KeptAnswer;
      try {
        reply = await transaction(async (tx) => {
          const kept = await takeOrFind(tx, place, fingerprint);
          if (kept !== undefined) return kept;
          const made = await work(tx);
          if (made !== undefined) {
            const answer = { ...describe(made), fingerprint, ...place };
            tx.beforeCommit(() => keep(tx, answer, request));
          }
          return made;
        });
      } catch (error) {
        if (!isKept(error)) throw error;
        const earlier = await transaction(async (tx) => {
          const kept = await takeOrFind(tx, place, fingerprint);
          if (kept === undefined) await keep(tx, { ...refusal(error), fingerprint, ...place }, request);
          return kept;
        });
        if (earlier === undefined) throw error;
        return give(earlier);
      }
      return reply instanceof KeptAnswer ? give(reply) : reply;
    },
    find: async (call, request) => {
      const place = placeOf(call);
      if (place === undefined) return undefined;
      return (await transaction((tx) => takeOrFind(tx, place, fingerprintOf(request))))?.give();
    },
  };
}

function placeOf({ actor, subject, answerKey }: KeyedCall): Place | undefined {
  if (answerKey === undefined || actor?.kind !== 'user') return undefined;
  return { accountId: actor.accountId, operation: subject, key: answerKey };
}

/** What was answered to the first request. */
class KeptAnswer {
  readonly #row: Answer;

  constructor(row: Answer) {
    this.#row = row;
  }

  /** @throws ReplayedError for a refusal */
  give(): TaggedReply<RawJson> {
    const { refused, outcome, etag, body } = this.#row;
    if (refused) throw new ReplayedError(parseJson(body) as ErrorBody);
    return new TaggedReply(rawJson(body), { outcome: outcome ?? undefined, etag: etag ?? undefined, replayed: true });
  }
}

/** The kept answer; undefined to who now has the turn. The look comes after the turn, so that it sees what the one before has committed. */
async function takeOrFind(tx: Tx, place: Place, fingerprint: Buffer): Promise<KeptAnswer | undefined> {
  const [{ taken }, row] = await Promise.all([takeTurn(tx, place), findAnswer(tx, place)]);
  if (row === undefined) {
    if (taken) return undefined;
    throw appError('conflict', 'idempotency_in_progress', 'The first request under this Idempotency-Key is still at work; try again.', {
      retryable: true,
    });
  }
  if (!fingerprint.equals(row.fingerprint)) {
    throw appError('unprocessable', 'idempotency_key_reused', 'Another request was made under this Idempotency-Key.');
  }
  return new KeptAnswer(row);
}

interface Answer {
  readonly refused: boolean;
  readonly outcome: string | null;
  readonly etag: string | null;
  /** JSON. */
  readonly body: string;
}

function describe(reply: unknown): Answer {
  const { body, facts } = reply instanceof TaggedReply ? (reply as TaggedReply) : { body: reply, facts: {} };
  const text = body instanceof RawJson ? Buffer.from(body.bytes).toString('utf8') : JSON.stringify(body);
  return { refused: false, outcome: facts.outcome ?? null, etag: facts.etag ?? null, body: text };
}

function refusal(error: AppError): Answer {
  return { refused: true, outcome: null, etag: null, body: JSON.stringify(error.toBody()) };
}

function keep(tx: Tx, answer: Answer & Place & { readonly fingerprint: Buffer }, request: Request): Promise<void> {
  return insertAnswer(tx, { ...answer, personIds: listNamedPeople(request, parseJson(answer.body)), hours: keptHours });
}

/** Whether the same request may have another answer in a moment: such a refusal says nothing about rights. */
function mayPass({ retryable, details }: AppError): boolean {
  return retryable || details['retryable'] === true;
}

function isKept(error: unknown): error is AppError {
  if (!(error instanceof AppError) || error instanceof ReplayedError) return false;
  return keptCodes.has(error.code) && error.details['retryable'] !== true;
}
