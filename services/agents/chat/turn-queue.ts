/**
 * One turn at a time in each thread, whatever the number of replicas (D33). Waiting costs no connection, and one small statement every 150 ms for
 * who is next, less often for who is further behind; a replica that dies gives its place up when its lease runs out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { renewLease } from '#libs/lease';
import type { Logger } from '#libs/logger';
import type { Database, Tx } from '#libs/orm';
import { renewTicket, deleteTicket, issueTicket, redeemTicket } from './statements/turn-tickets.ts';
import { TurnFailure } from './turn-failure.ts';

export interface TurnLease {
  readonly threadId: number;
  /** Aborts when the turn may no longer go on. */
  readonly signal: AbortSignal;
  /**
   * Ends the turn inside the transaction that records it.
   * @throws TurnFailure `lost` when the turn was lost meanwhile; nothing may be recorded then.
   */
  finish(tx: Tx): Promise<void>;
}

export interface TurnQueue {
  /**
   * Waits for the thread's turn and runs `work` in it. Undefined when there is no such thread.
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
      const place = await renewTicket(db, { threadId, ticket, leaseSeconds });
      if (place === undefined) throw new TurnFailure('lost', 'The turn was lost while waiting');
      if (place.earlier === 0) return;
      const usual = Math.min(pollMs * place.earlier, (leaseSeconds * 1000) / 3);
      await sleep(usual / 2 + Math.random() * usual, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw new TurnFailure('out_of_time', 'The conversation is busy');
    }
  }

  /** While the database is away it is tried again behind the failed turn, so that the next one need not wait for the lease to run out. */
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
    logger.warn({ err: failure, threadId }, 'ticket of a chat turn is left to run out');
  }

  return {
    run: async (threadId, signal, work) => {
      const taken = await issueTicket(db, { threadId, leaseSeconds });
      if (taken === undefined) return undefined;
      const { ticket } = taken;
      let finished = false;
      try {
        await waitForTurn(threadId, ticket, signal);
        const lease = renewLease({
          leaseMs: leaseSeconds * 1000,
          renew: async () => (await renewTicket(db, { threadId, ticket, leaseSeconds }))?.earlier === 0,
          onFailure: (error) => logger.warn({ err: error, threadId }, 'lease of a chat turn could not be renewed'),
        });
        const finish = async (tx: Tx): Promise<void> => {
          if ((await redeemTicket(tx, { threadId, ticket })) === undefined)
            throw new TurnFailure('lost', 'The turn was lost; nothing was recorded');
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
