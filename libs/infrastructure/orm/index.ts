/**
 * The database of a service: named (prepared) statements, transactions, streams. Units of work of MikroORM, which share
 * its transactions, are in `#libs/infrastructure/orm/entities`; running migrations is in `#libs/infrastructure/orm/migrations`. Most processes need
 * neither.
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
