/** Updates, chats and replies of the messaging platform, for what operators do with them. */
export { type Admission, admitUpdate, startChat, updateKey } from './admit-update.ts';
export { readTelegramThreadKey, telegramSender } from './rules/keys.ts';
export { verifyUpdate, readUpdate, decodeSecretDigest, type Update } from './rules/update.ts';
export { enqueueOperatorMessage } from './say.ts';
export { deleteIdleChats, findChatJob, listChatIds, lockPrivateChats, openChat } from './statements/chats.ts';
export { eraseReceipts, findReceipt, type ReceiptRow } from './statements/receipts.ts';
export { clearSends, replanSends } from './statements/sends.ts';
