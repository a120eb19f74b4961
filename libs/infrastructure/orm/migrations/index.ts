/**
 * The base class of migrations and their runner. Services do not load this module; they wait until named migrations
 * have run (`waitForMigrations` of #libs/infrastructure/orm).
 */
export { Migration } from '@mikro-orm/migrations';
export { migrate, migrateSchema } from './migrate.ts';
export type { MigrateOptions, MigrationClass } from './migrate.ts';
export { OnlineMigration } from './online.ts';
export type { BackfillWork } from './online.ts';
export { openMigrationRun } from './run.ts';
export type { RunOptions } from './run.ts';
export { readSqlFile } from './sql-file.ts';
