/**
 * `Idempotency-Key`: one effect for each key, in the schema of the service that has the effect and in the transaction
 * of that effect. `IdempotencyStore` also stores the response and replays it (I1, I4); `runOncePerKey` is for
 * operations that answer a repeated call from the present state.
 */
export { cleanupIntervalMs, removeExpiredKeys, removeOldRecords } from './keys.ts';
export { runOncePerKey } from './keys.ts';
export { keyStatements, removeRecordsOfPerson } from './statements.ts';
export { IdempotencyStore } from './store.ts';
export { idempotencyRecordsTable } from './statements.ts';
