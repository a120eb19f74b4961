/** Migrations: their base class, and what runs them. Services do not load it: they wait for migrations by name (`waitForMigrations` of #libs/orm). */
export { Migration } from '@mikro-orm/migrations';
export { migrate } from './migrate.ts';
export type { MigrateOptions, MigrationClass } from './migrate.ts';
