/**
 * Forgetting (people erase, agents forget): conversations with everything that was made of them. Threads of the person go whole; in a
 * group only the turns that the person asked for go, and what was remembered of the group is made anew from the rest. The summaries of the
 * agents concerned are dropped and made anew from what other threads told.
 */
import type { Tx } from '#libs/orm';
import { dropSummaries } from '../memory/index.ts';
import { telegramSender } from '../telegram/index.ts';
import { countThreadData, deleteChatHits, deleteThreads, deleteTurns, lockThreads } from './statements.ts';

/** Exactly one of the last three, or none for all threads of the agent. */
export interface ForgetTarget {
  readonly agentId?: number | undefined;
  readonly threadKey?: string | undefined;
  readonly visitorId?: string | undefined;
  readonly telegramUserId?: number | undefined;
}

export interface ForgetResult {
  readonly threads: number;
  readonly messages: number;
  readonly facts: number;
  /** Threads of others that lost turns: to be remembered anew. */
  readonly shortenedThreadIds: readonly number[];
  /** Agents whose summary was dropped: to be made anew. */
  readonly agentIds: readonly number[];
}

export async function forgetThreadsOf(tx: Tx, { agentId, threadKey, visitorId, telegramUserId }: ForgetTarget): Promise<ForgetResult> {
  const sender = telegramUserId === undefined ? null : telegramSender(telegramUserId);
  const userId = telegramUserId === undefined ? null : String(telegramUserId);
  const found = await lockThreads(tx, { agentId, threadKey, visitorId, sender, userId });
  const whole = found.filter((thread) => thread.whole).map(({ id }) => id);
  const shortened = found.filter((thread) => !thread.whole).map(({ id }) => id);
  const agentIds = [...new Set(found.map((thread) => thread.agentId))].toSorted((a, b) => a - b);
  const counts = await deleteWhole(tx, whole);
  const cut = shortened.length === 0 ? noCounts : await deleteTurns(tx, { threadIds: shortened, sender });
  if (agentIds.length > 0) await dropSummaries(tx, { agentIds });
  return {
    threads: whole.length,
    messages: counts.messages + cut.messages,
    facts: counts.facts + cut.facts,
    shortenedThreadIds: shortened,
    agentIds,
  };
}

interface Counts {
  readonly messages: number;
  readonly facts: number;
}
const noCounts: Counts = { messages: 0, facts: 0 };

async function deleteWhole(tx: Tx, threadIds: readonly number[]): Promise<Counts> {
  if (threadIds.length === 0) return noCounts;
  const counts = await countThreadData(tx, { threadIds });
  await deleteChatHits(tx, { threadIds });
  await deleteThreads(tx, { threadIds });
  return counts;
}
