/**
 * Answers kept under an `Idempotency-Key` (I1, I4): in the schema of the service whose effect they are of, written in its transaction. Beside
 * each other stand one effect for a key, and the answer that tells of it.
 */
export { createOnce, type KeyedCall, type Once } from './once.ts';
export { dropAnswersOf } from './statements.ts';
export { keptAnswersTable } from './tables.ts';
export { dropOldAnswers, upkeepEveryMs } from './upkeep.ts';
