/** The Bot API of Telegram, as workers of chats call it. */
export type { BotApi, OutgoingMessage, SendResult } from './bot-api.ts';
