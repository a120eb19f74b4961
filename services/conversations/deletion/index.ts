/** Deleting a conversation, for features that end one. */
export { deleteConversation, notifyRemoved } from './delete.ts';
export { retentionMicros } from './rules.ts';
