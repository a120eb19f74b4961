/**
 * The database of a service: MikroORM on PostgreSQL for writes with invariants, named (prepared) statements for the rest, both on
 * one connection inside a transaction; migrations.
 */
export { defineEntity, LockMode, p, raw, ref } from '@mikro-orm/core';
export { columns } from './columns.ts';
export { dropSchemas, findFilledTables, loadTables, openSnapshot, raiseIds } from './copy.ts';
export type { CopySequence, CopyTable, Loader, Snapshot } from './copy.ts';
export { createDatabase } from './database.ts';
export type { Database, Tx } from './database.ts';
export { transactionOrDryRun } from './dry-run.ts';
export type { DatabaseOptions } from './options.ts';
export { constraintOf, isConnectionError, mayPass, sqlStateOf, toDatabaseError } from './errors.ts';
export { measurePool } from './metrics.ts';
export { migrate, Migration } from './migrate.ts';
export type { MigrateOptions, MigrationClass } from './migrate.ts';
export { findPendingMigrations, waitForMigrations } from './pending.ts';
export { roleOf } from './role.ts';
export type { ServiceRole } from './role.ts';
export { plannerOptions } from './planner.ts';
