/**
 * The updates of one chat are stored one after the other, since each changes the chat's row: who waits does so here, without a connection. Else one chat
 * with many updates, or one whose row a hanging process holds, would take every connection that the service has.
 */
import { sqlStateOf } from '#libs/orm';

export interface ChatSequencer {
  /** Runs `work` when that which came before it for the same chat is over. @throws ChatHeld also when one before it found the row held */
  run<T>(chat: string, work: () => Promise<T>): Promise<T>;
}

/** Another process has held the chat's row for longer than it takes to store an update. */
export class ChatLocked extends Error {
  constructor(cause: unknown) {
    super('The chat is held by another process', { cause });
  }
}

const lockNotAvailable = '55P03';

export function createChatSequencer(): ChatSequencer {
  const last = new Map<string, Promise<unknown>>();
  return {
    run: async (chat, work) => {
      const before = last.get(chat);
      const mine = (async () => {
        // Who stood in line behind it would only wait as long again, and keep updates of other chats from being stored.
        await before?.catch((error: unknown) => (error instanceof ChatLocked ? Promise.reject(error) : undefined));
        return await work().catch((error: unknown) => {
          throw sqlStateOf(error) === lockNotAvailable ? new ChatLocked(error) : error;
        });
      })();
      last.set(chat, mine);
      try {
        return await mine;
      } finally {
        if (last.get(chat) === mine) last.delete(chat);
      }
    },
  };
}
