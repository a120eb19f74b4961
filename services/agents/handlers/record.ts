/** What is stored of conversations, for operators: shown, forgotten, and what it cost. */
import type { Jobs } from '#libs/jobs';
import { type Handlers, rawJson } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import type { agents } from '../contract.ts';
import { getAgent } from './agents.ts';
import { forget, type ForgetTarget, listNumbersOfChat, readTelegramThreadKey } from '../repositories/forget.ts';
import { eraseReceipts } from '../repositories/receipts.ts';
import { renderMessagePage, renderThreadPage } from '../repositories/record.ts';
import { renderUsage } from '../repositories/usage.ts';
import { enqueueThreadMemory, type RenewAgentMemory } from '../workers/memory.ts';

type RecordHandlers = Pick<Handlers<typeof agents>, 'getRecord' | 'forgetThreads' | 'forgetPerson' | 'listUsage'>;

const defaultLimit = 100;

export function createRecordHandlers(deps: {
  db: Database;
  jobs: Pick<Jobs, 'enqueue'>;
  memoryDelayMs: number;
  renewAgentMemory: RenewAgentMemory;
}): RecordHandlers {
  const { db, jobs, memoryDelayMs, renewAgentMemory } = deps;

  async function forgetTarget(target: ForgetTarget): Promise<{ threads: number; messages: number; facts: number }> {
    return await db.transaction(async (tx) => {
      const { threads, messages, facts, shortenedThreadIds, agentIds } = await forget(tx, target);
      await forgetReceipts(tx, target);
      for (const threadId of shortenedThreadIds) await enqueueThreadMemory(tx, jobs, threadId, memoryDelayMs);
      for (const agentId of agentIds) await renewAgentMemory(tx, agentId);
      return { threads, messages, facts };
    });
  }

  /** What receipts of the messaging platform hold of the same conversations. */
  async function forgetReceipts(tx: Tx, { agentId, threadKey, telegramUserId }: ForgetTarget): Promise<void> {
    if (telegramUserId !== undefined) await eraseReceipts(tx, { senderId: telegramUserId });
    else if (threadKey === undefined) {
      if (agentId !== undefined) await eraseReceipts(tx, { agentId });
    } else {
      const chat = readTelegramThreadKey(threadKey);
      if (chat === undefined || (agentId !== undefined && agentId !== chat.agentId)) return;
      for (const chatId of await listNumbersOfChat(tx, chat)) await eraseReceipts(tx, { agentId: chat.agentId, chatId });
    }
  }

  return {
    getRecord: async ({ slug, thread_key: threadKey, after = 0, limit = defaultLimit }) => {
      const { id } = await getAgent(db, slug);
      return rawJson(
        threadKey === undefined
          ? await renderThreadPage(db, { agentId: id, after, limit })
          : await renderMessagePage(db, { agentId: id, threadKey, after, limit }),
      );
    },
    forgetThreads: async ({ slug, thread_key: threadKey }) => {
      const { id } = await getAgent(db, slug);
      return await forgetTarget({ agentId: id, threadKey });
    },
    forgetPerson: async (request) => {
      if ('visitor_id' in request) return await forgetTarget({ visitorId: request.visitor_id });
      if ('thread_key' in request) return await forgetTarget({ threadKey: request.thread_key });
      return await forgetTarget({ telegramUserId: request.telegram_user_id });
    },
    listUsage: async ({ slug, since, limit = defaultLimit }) => rawJson(`{"items":${await renderUsage(db, { slug, since, limit })}}`),
  };
}
