/** Question changes of conversations that are joined. */
export { deriveState } from './derive-state.ts';
export { moveQuestionChanges } from './statements.ts';
