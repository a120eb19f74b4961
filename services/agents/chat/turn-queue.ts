/**
 * Runs one turn at a time in each thread across replicas (D33). A waiting turn uses no connection: it polls with one
 * small statement, every 150 ms for the next ticket and less often for later ones. The ticket of a crashed replica
 * expires with its lease.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { renewLease } from '#libs/infrastructure/concurrency';
import type { Logger } from '#libs/infrastructure/logger';
import type { Database, Tx } from '#libs/infrastructure/orm';
import { deleteTicket, issueTicket, redeemTicket, renewTicket } from './statements.ts';

export interface TurnLease {
  readonly threadId: number;
  /** Aborts when the turn must stop. */
  readonly signal: AbortSignal;
  /**
   * Ends the turn in the transaction that records it.
   * @throws TurnFailure `lost` when the lease has expired: nothing may be recorded.
   */
  finish(tx: Tx): Promise<void>;
}

export interface TurnQueue {
  /**
   * Waits until the thread is free and runs `work`. Returns undefined when the thread does not exist.
   * @throws TurnFailure `out_of_time` when the signal aborts while waiting
   */
  run<T>(threadId: number, signal: AbortSignal, work: (turn: TurnLease) => Promise<T>): Promise<T | undefined>;
}

const defaultLeaseMs = 15_000;
const pollMs = 150;
const releaseRetryMs = 250;

export function createTurnQueue(deps: { db: Database; logger: Logger; leaseMs?: number }): TurnQueue {
  const { db, logger } = deps;
  const leaseSeconds = (deps.leaseMs ?? defaultLeaseMs) / 1000;

  async function waitForTurn(threadId: number, ticket: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const position = await renewTicket(db, { threadId, ticket, leaseSeconds });
      if (position === undefined) throw new TurnFailure('lost', 'The lease of the turn expired while waiting.');
      if (position.earlier === 0) return;
      const usual = Math.min(pollMs * position.earlier, (leaseSeconds * 1000) / 3);
      await sleep(usual / 2 + Math.random() * usual, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw new TurnFailure('out_of_time', 'The thread is busy.');
    }
  }

  /**
   * Releases a ticket. Retries in the background while the database is unavailable, so that the next turn does not have
   * to wait for the lease to expire.
   */
  async function releaseTicket(threadId: number, ticket: number): Promise<void> {
    await deleteTicket(db, { threadId, ticket }).catch(() => void retryRelease(threadId, ticket));
  }

  async function retryRelease(threadId: number, ticket: number): Promise<void> {
    let failure: unknown;
    for (const endsAt = performance.now() + leaseSeconds * 1000; performance.now() < endsAt;) {
      await sleep(releaseRetryMs, undefined, { ref: false });
      try {
        return await deleteTicket(db, { threadId, ticket });
      } catch (error) {
        failure = error;
      }
    }
    logger.warn(
      { err: failure, threadId },
      'chat: failed to release the ticket of a turn, waiting for its lease to expire',
    );
  }

  return {
    run: async (threadId, signal, work) => {
      const issued = await issueTicket(db, { threadId, leaseSeconds });
      if (issued === undefined) return undefined;
      const { ticket } = issued;
      let finished = false;
      try {
        await waitForTurn(threadId, ticket, signal);
        const lease = renewLease({
          leaseMs: leaseSeconds * 1000,
          renew: async () => (await renewTicket(db, { threadId, ticket, leaseSeconds }))?.earlier === 0,
          onFailure: (error) => logger.warn({ err: error, threadId }, 'chat: failed to renew the lease of a turn'),
        });
        const finish = async (tx: Tx): Promise<void> => {
          if ((await redeemTicket(tx, { threadId, ticket })) === undefined)
            throw new TurnFailure('lost', 'The lease of the turn expired. Nothing was recorded.');
          tx.afterCommit(() => (finished = true));
        };
        try {
          return await work({ threadId, signal: AbortSignal.any([signal, lease.lost]), finish });
        } finally {
          lease.stop();
        }
      } finally {
        if (!finished) await releaseTicket(threadId, ticket);
      }
    },
  };
}

/** Reason of a failed turn. Nothing is recorded; the caller can retry. */
type TurnFailureKind =
  /** The model returned no usable reply. */
  | 'no_answer'
  /** The daily token budget is used up; the model was not called. */
  | 'over_budget'
  /** The deadline passed or the signal aborted, while waiting or while the model runs. */
  | 'out_of_time'
  /** The lease has expired, or the thread was deleted. */
  | 'lost';

export class TurnFailure extends Error {
  override readonly name = 'TurnFailure';
  readonly kind: TurnFailureKind;
  /** Seconds after which to retry. */
  readonly retryAfter: number;

  constructor(kind: TurnFailureKind, message: string, cause?: Error & { readonly retryAfter: number | undefined }) {
    super(message, cause === undefined ? {} : { cause });
    this.kind = kind;
    this.retryAfter = cause?.retryAfter ?? defaultRetryAfterSeconds;
  }
}

const defaultRetryAfterSeconds = 5;
