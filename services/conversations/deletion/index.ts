/** Deleting a conversation, for features that end one; and what is left of a deleted one. */
export { deleteConversation, notifyRemoved, restoreDeleted } from './delete.ts';
export { retentionMicros } from './rules.ts';
export { showConversation } from './statements.ts';
