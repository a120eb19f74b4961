/** Writing of single items, for operations of the open API. */
export { applyItem, checkItem } from './apply-item.ts';
export { findQuestions, findSteps } from './statements/lookups.ts';
export { allocateRowIds, insertAll, setOrder, updateAll } from './statements/tables.ts';
