/** Names of chats and of people in them, as threads and messages have them. */

export function telegramThreadKey(chatId: number, agentId: number): string {
  return `telegram:chat:${chatId}:agent:${agentId}`;
}

/** A chat of the messaging platform with one agent. */
export interface AgentChat {
  readonly agentId: number;
  readonly chatId: number;
}

export function readTelegramThreadKey(threadKey: string): AgentChat | undefined {
  const [, chatId, agentId] = /^telegram:chat:(-?\d{1,15}):agent:(\d{1,9})$/.exec(threadKey) ?? [];
  return chatId === undefined ? undefined : { chatId: Number(chatId), agentId: Number(agentId) };
}

/** Sender of messages in Telegram groups. */
export function telegramSender(userId: number): string {
  return `telegram:user:${userId}`;
}
