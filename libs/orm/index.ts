/**
 * The database of a service: named (prepared) statements, transactions, streams. What it shares a transaction with, units of work of MikroORM,
 * is in `#libs/orm/entities`, and what runs migrations in `#libs/orm/migrations`: most processes have no use for them.
 */
export { dropSchemas, findNonEmptyTables, loadTables, openSnapshot, advanceIdSequences } from './copy.ts';
export type { TableRows } from './snapshot-readers.ts';
export type { CopyTable, Loader } from './copy.ts';
export { createDatabase } from './database.ts';
export type { Database, Tx } from './database.ts';
export { transactionOrDryRun } from './dry-run.ts';
export { addressesOf, listHosts } from './hosts.ts';
export type { DatabaseOptions } from './pool.ts';
export { constraintOf, mayPass, sqlStateOf } from './errors.ts';
export { MigrationError } from './migration-lock.ts';
export { measurePool } from './telemetry.ts';
export { findPendingMigrations, waitForMigrations } from './pending.ts';
export { roleOf } from './role.ts';
export { plannerOptions } from './role.ts';
