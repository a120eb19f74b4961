/** One effect for each `Idempotency-Key`, with its response (I1, I4). */
import type { Actor } from '#libs/infrastructure/contract';
import { AppError, appError, type ErrorBody, ReplayedError } from '#libs/infrastructure/errors';
import { parseJson } from '#libs/infrastructure/json';
import { RawJson, rawJson, TaggedReply } from '#libs/infrastructure/nats';
import { type Tx, transactionOrDryRun } from '#libs/infrastructure/orm';
import { retentionHours } from './keys.ts';
import { fingerprintOf, listNamedPeople } from './request.ts';
import { findRecord, insertRecord, tryLock } from './statements.ts';

/** Fields from the context of a served call. */
export interface IdempotentCall {
  readonly subject: string;
  readonly actor?: Actor | undefined;
  readonly idempotencyKey?: string | undefined;
}

interface RunOptions {
  /**
   * True when the caller's access to the operation was already checked, so that a stored response is replayed without
   * running `work`.
   */
  readonly isAuthorized?: boolean;
}

type Request = Readonly<Record<string, unknown>>;
type Work<Reply> = (tx: Tx) => Promise<Reply>;

interface RecordKey {
  readonly accountId: number;
  readonly operation: string;
  readonly key: string;
}

interface Response {
  readonly refused: boolean;
  readonly outcome: string | null;
  readonly etag: string | null;
  /** JSON. */
  readonly body: string;
}

/**
 * Errors that are stored as the response to a request. After other errors, and after retryable ones, the key stays
 * unused.
 */
const storedCodes: ReadonlySet<string> = new Set(['bad_request', 'conflict', 'precondition_failed']);

/** Errors of callers without access to the operation or to the object it concerns. */
const accessCodes: ReadonlySet<string> = new Set(['unauthenticated', 'permission_denied', 'not_found']);

export class IdempotencyStore {
  readonly #database: { transaction<T>(work: Work<T>): Promise<T> };

  constructor(database: { transaction<T>(work: Work<T>): Promise<T> }) {
    this.#database = database;
  }

  /**
   * Runs `work` in one transaction that also stores its response, or replays the stored response. A reply of
   * `undefined` is not stored. Without a key it is a plain transaction. Before a replay, `work` runs in a transaction
   * that is rolled back, to check the caller's access (D89).
   * @throws AppError 409 `idempotency_in_progress`, 422 `idempotency_key_reused`; errors of `work`, also when replayed;
   * 401, 403 and 404 when a caller repeats a call after losing access
   */
  async run<Reply>(
    call: IdempotentCall,
    request: Request,
    work: Work<Reply>,
    { isAuthorized = false }: RunOptions = {},
  ): Promise<Reply | TaggedReply<RawJson>> {
    const key = keyOf(call);
    if (key === undefined) return this.#database.transaction(work);
    const fingerprint = fingerprintOf(request);
    const insert = (tx: Tx, response: Response): Promise<void> =>
      insertResponse(tx, { ...response, fingerprint, ...key }, request);
    let reply: Reply | StoredResponse;
    try {
      reply = await this.#database.transaction(async (tx) => {
        const stored = await lockOrFind(tx, key, fingerprint);
        if (stored !== undefined) return stored;
        const made = await work(tx);
        if (made !== undefined) {
          const response = toResponse(made);
          tx.beforeCommit(() => insert(tx, response));
        }
        return made;
      });
    } catch (error) {
      if (!isStored(error)) throw error;
      const earlier = await this.#database.transaction(async (tx) => {
        const stored = await lockOrFind(tx, key, fingerprint);
        if (stored === undefined) await insert(tx, toErrorResponse(error));
        return stored;
      });
      if (earlier === undefined) throw error;
      reply = earlier;
    }
    if (!(reply instanceof StoredResponse)) return reply;
    if (!isAuthorized) await this.#checkAccess(work);
    return reply.replay();
  }

  /**
   * Returns the stored response, if any. For operations with effects outside the transaction, which call it before
   * these effects. The caller's access must have been checked before.
   * @throws AppError as `run`
   */
  async find(call: IdempotentCall, request: Request): Promise<TaggedReply<RawJson> | undefined> {
    const key = keyOf(call);
    if (key === undefined) return undefined;
    return (await this.#database.transaction((tx) => lockOrFind(tx, key, fingerprintOf(request))))?.replay();
  }

  /**
   * Runs `work` to check the caller's access and rolls back. @throws AppError when the operation would deny access, or
   * fails before it can decide
   */
  async #checkAccess(work: Work<unknown>): Promise<void> {
    try {
      await transactionOrDryRun(this.#database, true, work);
    } catch (error) {
      if (!(error instanceof AppError) || accessCodes.has(error.code) || isRetryable(error)) throw error;
    }
  }
}

/** Stands for the shared token in the place of an account. */
const sharedTokenId = 0;

function keyOf({ actor, subject, idempotencyKey }: IdempotentCall): RecordKey | undefined {
  if (idempotencyKey === undefined || actor === undefined) return undefined;
  const accountId = actor.kind === 'user' ? actor.accountId : sharedTokenId;
  return { accountId, operation: subject, key: idempotencyKey };
}

class StoredResponse {
  readonly #response: Response;

  constructor(response: Response) {
    this.#response = response;
  }

  /** Returns the stored reply. @throws ReplayedError when the stored response is an error */
  replay(): TaggedReply<RawJson> {
    const { refused, outcome, etag, body } = this.#response;
    if (refused) throw new ReplayedError(parseJson(body) as ErrorBody);
    return new TaggedReply(rawJson(body), { outcome: outcome ?? undefined, etag: etag ?? undefined, replayed: true });
  }
}

/** Returns the stored response. Returns undefined when this call has acquired the lock and may proceed. */
async function lockOrFind(tx: Tx, key: RecordKey, fingerprint: Buffer): Promise<StoredResponse | undefined> {
  // The query for the record follows the lock, so that it sees the commit of the previous lock holder.
  const [{ locked }, record] = await tx.pipeline(
    () => tryLock(tx, key),
    () => findRecord(tx, key),
  );
  if (record === undefined) {
    if (locked) return undefined;
    throw appError(
      'conflict',
      'idempotency_in_progress',
      'The first request with this Idempotency-Key is still in progress; retry.',
      {
        retryable: true,
      },
    );
  }
  if (!fingerprint.equals(record.fingerprint)) {
    throw appError('unprocessable', 'idempotency_key_reused', 'The Idempotency-Key was used for another request.');
  }
  return new StoredResponse(record);
}

function toResponse(reply: unknown): Response {
  const { body, metadata } = reply instanceof TaggedReply ? (reply as TaggedReply) : { body: reply, metadata: {} };
  const text = body instanceof RawJson ? Buffer.from(body.bytes).toString('utf8') : JSON.stringify(body);
  return { refused: false, outcome: metadata.outcome ?? null, etag: metadata.etag ?? null, body: text };
}

function toErrorResponse(error: AppError): Response {
  return { refused: true, outcome: null, etag: null, body: JSON.stringify(error.toBody()) };
}

function insertResponse(
  tx: Tx,
  record: Response & RecordKey & { readonly fingerprint: Buffer },
  request: Request,
): Promise<void> {
  return insertRecord(tx, {
    ...record,
    personIds: listNamedPeople(request, parseJson(record.body)),
    hours: retentionHours,
  });
}

function isRetryable({ retryable, details }: AppError): boolean {
  return retryable || details['retryable'] === true;
}

function isStored(error: unknown): error is AppError {
  return (
    error instanceof AppError &&
    !(error instanceof ReplayedError) &&
    storedCodes.has(error.code) &&
    error.details['retryable'] !== true
  );
}
