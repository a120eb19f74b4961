/** Groups of the messaging platform get another number when they become supergroups. */
import type { Tx } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import { rekeyThread } from '../chat/index.ts';
import { telegramThreadKey } from './rules/keys.ts';
import { findCurrentChat, markMigrated } from './statements/chats.ts';

/** The number under which the chat is reached now. */
export async function findCurrentChatId(db: Queryable, agentId: number, chatId: number): Promise<number> {
  return (await findCurrentChat(db, { agentId, chatId }))?.chat_id ?? chatId;
}

/**
 * The group `from` has become the supergroup `to`: its thread goes on under the new number (D32). Done twice it is done once. Whether the
 * two may be one is asked before (`isMigration`).
 */
export async function migrateChat(tx: Tx, agentId: number, from: number, to: number): Promise<void> {
  await markMigrated(tx, { agentId, from, to });
  await rekeyThread(tx, agentId, telegramThreadKey(from, agentId), telegramThreadKey(to, agentId));
}
