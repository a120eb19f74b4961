/**
 * History of objects (W10): who changed which fields, when and through which program. Entries are differences of two
 * snapshots, one before and one after the work of the transaction, so no write has to list its fields.
 */
export {
  createHistory,
  readHistoryCursor,
  removeOldHistory,
  type History,
  type HistoryContext,
  type Tracked,
} from './history.ts';
export { FieldChange, historyContextOfJob, historyItem } from './contract.ts';
export { diffSnapshots, type FieldChanges, hideSecrets } from './rules.ts';
export { historyTable } from './tables.ts';
export { historyPageSql, historyParams, listHistory } from './statements.ts';
export { diffPaths, type Edits, type FieldPath, findRemoved, readEdits } from './edits.ts';
