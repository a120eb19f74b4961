/** `agents.record.forget` and `agents.memory.forget`: conversations are deleted with everything that was made of them. */
import { type AuditContext, type NewAuditEntry, recordAudit } from '#libs/audit';
import type { Jobs } from '#libs/jobs';
import type { Handlers } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { getAgent } from '../agent/index.ts';
import type { agents } from '../contract.ts';
import { enqueueThreadMemory, type EnqueueAgentMemory } from '../memory/index.ts';
import { deleteIdleChats, eraseReceipts, listChatIds, lockPrivateChats, readTelegramThreadKey } from '../telegram/index.ts';
import { forgetThreadsOf, type ForgetTarget } from './forget.ts';

type ForgetHandlers = Pick<Handlers<typeof agents>, 'forgetThreads' | 'forgetPerson'>;

/** Receipts of the messaging platform; null = any. */
type Receipts = Parameters<typeof eraseReceipts>[1];

export function createForgetHandlers(deps: {
  db: Database;
  jobs: Pick<Jobs, 'enqueue'>;
  memoryDelayMs: number;
  renewAgentMemory: EnqueueAgentMemory;
}): ForgetHandlers {
  const { db, jobs, memoryDelayMs, renewAgentMemory } = deps;

  async function forgetTarget(
    target: ForgetTarget,
    context: AuditContext,
    named: NewAuditEntry,
  ): Promise<{ threads: number; messages: number; facts: number }> {
    return await db.transaction(async (tx) => {
      const receipts = await findReceipts(tx, target);
      // First, as by whoever works a chat.
      const chats = await lockChats(tx, receipts);
      const { threads, messages, facts, shortenedThreadIds, agentIds } = await forgetThreadsOf(tx, target);
      for (const some of receipts) await eraseReceipts(tx, some);
      await deleteIdleChats(tx, { ids: chats });
      for (const threadId of shortenedThreadIds) await enqueueThreadMemory(tx, jobs, threadId, memoryDelayMs);
      for (const agentId of agentIds) await renewAgentMemory(tx, agentId);
      // A repetition finds nothing, and leaves no entry; whose threads they were is told by no entry.
      const counts = { threads, messages, facts };
      if (threads + messages + facts > 0) recordAudit(tx, context, { ...named, changes: { ...named.changes, removed: counts } });
      return counts;
    });
  }

  return {
    forgetThreads: async ({ slug, thread_key: threadKey }, context) => {
      const { id } = await getAgent(db, slug);
      const changes = { of: threadKey === undefined ? 'agent' : 'thread' };
      return await forgetTarget({ agentId: id, threadKey }, context, { target: { type: 'agent', id: slug }, changes });
    },
    forgetPerson: async (request, context) => {
      const of = (what: string): NewAuditEntry => ({ changes: { of: what } });
      if ('visitor_id' in request) return await forgetTarget({ visitorId: request.visitor_id }, context, of('visitor'));
      if ('thread_key' in request) return await forgetTarget({ threadKey: request.thread_key }, context, of('thread'));
      return await forgetTarget({ telegramUserId: request.telegram_user_id }, context, of('telegram user'));
    },
  };
}

/** Those of the same conversations. */
async function findReceipts(tx: Tx, { agentId, threadKey, visitorId, telegramUserId }: ForgetTarget): Promise<Receipts[]> {
  if (telegramUserId !== undefined) return [{ agentId: null, chatId: null, senderId: telegramUserId }];
  if (visitorId !== undefined) return [];
  if (threadKey === undefined) return agentId === undefined ? [] : [{ agentId, chatId: null, senderId: null }];
  const chat = readTelegramThreadKey(threadKey);
  if (chat === undefined || (agentId !== undefined && agentId !== chat.agentId)) return [];
  return (await listChatIds(tx, chat)).map(({ chat_id: chatId }) => ({ agentId: chat.agentId, chatId, senderId: null }));
}

async function lockChats(tx: Tx, receipts: readonly Receipts[]): Promise<number[]> {
  const ids: number[] = [];
  for (const { agentId, chatId, senderId } of receipts) {
    for (const { id } of await lockPrivateChats(tx, { agentId, userId: chatId ?? senderId })) ids.push(id);
  }
  return ids;
}
