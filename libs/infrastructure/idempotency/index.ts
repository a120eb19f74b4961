/**
 * `Idempotency-Key`: each key has one effect. Keys are stored in the schema of the service that has the effect, in the
 * transaction of the effect. `IdempotencyStore` also stores the response and replays it (I1, I4). `runOncePerKey` is
 * for operations that derive the response to a repeated call from the current state.
 */
export { cleanupIntervalMs, removeExpiredKeys, removeOldRecords } from './keys.ts';
export { runOncePerKey } from './keys.ts';
export { keyStatements, removeRecordsOfPerson } from './statements.ts';
export { IdempotencyStore } from './store.ts';
export { idempotencyRecordsTable } from './statements.ts';
