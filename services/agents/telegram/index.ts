/** Access to updates, chats, replies and the Bot API for other features. */
export type { BotApi } from './bot-api.ts';
export { type Admission, admitUpdate, enqueueOperatorMessage, startChat, updateKey } from './chat-queue.ts';
export {
  decodeSecretDigest,
  readTelegramThreadKey,
  readUpdate,
  telegramSender,
  type Update,
  verifyUpdate,
} from './rules/update.ts';
export { deleteIdleChats, findChatJob, listChatIds, lockPrivateChats, openChat } from './statements/chats.ts';
export { eraseReceipts, findReceipt, type ReceiptRow } from './statements/receipts.ts';
export { clearSends, replanSends } from './statements/sends.ts';
