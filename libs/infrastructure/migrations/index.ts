/** Runs the migrations of all services. The schema of a service has the service's name (architecture#data). */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { auditRetentionRights, auditRights } from '#libs/infrastructure/audit';
import { roleOf } from '#libs/infrastructure/orm';
import {
  migrateSchema,
  type MigrationClass,
  openMigrationRun,
  type RunOptions,
} from '#libs/infrastructure/orm/migrations';
import { listMigrations, migrationsFolder, replacedMigrations, withReplacements } from '#libs/infrastructure/release';

const servicesDir = join(import.meta.dirname, '..', '..', '..', 'services');

/** Runs the migrations. @returns the names of the migrations that ran, by service. */
export async function migrateServices(
  options: RunOptions & {
    /** Database addresses with which the services connect, by service. */
    readonly serviceUrls?: Readonly<Record<string, string | undefined>>;
    /** Database address for verification and retention of the audit log. */
    readonly auditUrl?: string | undefined;
    /**
     * Names of the migrations to run, by schema; other schemas are not created. A restore uses it to create the schemas
     * of the backup. Default: all migrations.
     */
    readonly only?: Readonly<Record<string, readonly string[]>> | undefined;
  },
): Promise<Record<string, string[]>> {
  const done: Record<string, string[]> = {};
  const { auditUrl } = options;
  const others =
    auditUrl === undefined ? [] : [{ role: roleOf(auditUrl, auditVariable), rights: auditRetentionRights }];
  const run = await openMigrationRun(options);
  try {
    for (const [service, all] of Object.entries(listMigrations())) {
      const only = options.only?.[service];
      if (options.only !== undefined && only === undefined) continue;
      const replaced = replacedMigrations(service);
      const wanted = only === undefined ? all : withReplacements(only, replaced);
      const names = all.filter((name) => wanted.includes(name));
      const migrations = await Promise.all(names.map((name) => loadMigration(service, name)));
      const serviceUrl = options.serviceUrls?.[service];
      const role = serviceUrl === undefined ? undefined : roleOf(serviceUrl, variableOf(service));
      done[service] = await migrateSchema(run, {
        schema: service,
        migrations,
        replaced,
        role,
        rights: auditRights,
        others,
      });
    }
  } finally {
    await run.close();
  }
  return done;
}

/** Loads the class of a migration. @throws Error when the file does not export a class with the migration's name */
export async function loadMigration(service: string, name: string): Promise<MigrationClass> {
  const file = join(migrationsFolder(service), `${name}.ts`);
  const { [name]: migration } = (await import(pathToFileURL(file).href)) as Record<string, MigrationClass | undefined>;
  if (migration === undefined) throw new Error(`${file} must export the class ${name}`);
  return migration;
}

const auditVariable = 'DATABASE_URL_AUDIT';

/** Returns the database address for verification and retention of the audit log. An empty variable counts as absent. */
export function readAuditUrl(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return env[auditVariable] || undefined;
}

/** Returns the name of the variable with the database address of a service, e.g. `DATABASE_URL_MEDIA`. */
function variableOf(service: string): string {
  return `DATABASE_URL_${service.toUpperCase()}`;
}

/** Returns the database addresses of the services from `DATABASE_URL_<SERVICE>`. An empty variable counts as absent. */
export function readServiceUrls(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(
    readdirSync(servicesDir).map((service) => [service, env[variableOf(service)] || undefined]),
  );
}
