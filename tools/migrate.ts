/**
 * Brings the schemas of all services up to date: `node tools/migrate.ts` with DATABASE_URL. Run by a job, never by a starting
 * service (architecture#data). `DATABASE_URL_<SERVICE>`, when set, is the address by which that service connects: its role is made and given
 * the service's schema alone. `DATABASE_URL_AUDIT` is that of the verification and retention of the audit log (A2). `--report FILE` writes what ran and whether the database holds no set-up data.
 */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { auditRetentionRights, auditRights } from '#libs/audit';
import { databasePasswordSettings, databaseSettings, buildDatabaseUrl, loadConfig, logSettings, readEnvironment } from '#libs/config';
import { Type } from '#libs/contract';
import { createLogger, type Logger } from '#libs/logger';
import { createDatabase, roleOf } from '#libs/orm';
import { migrateSchema, type MigrationClass, openMigrationRun, type RunOptions } from '#libs/orm/migrations';
import { listMigrations, migrationsFolder, replacedMigrations, withReplacements } from '#libs/release';
import { databaseTarget } from '../cli/doctor/servers.ts';
import { describeSetupFailure } from '../cli/doctor/setup-failure.ts';

const servicesDir = join(import.meta.dirname, '..', 'services');

/** @returns the names of the migrations that ran, service by service. */
export async function migrateServices(
  options: RunOptions & {
    /** Addresses by which the services connect, by service. */
    readonly serviceUrls?: Readonly<Record<string, string | undefined>>;
    /** Address by which the audit log is verified and shortened. */
    readonly auditUrl?: string | undefined;
    /** Names of the migrations to run, by schema, and no other schema is made: to what a backup was made of. Default: all there are. */
    readonly only?: Readonly<Record<string, readonly string[]>> | undefined;
  },
): Promise<Record<string, string[]>> {
  const done: Record<string, string[]> = {};
  const { auditUrl } = options;
  const others = auditUrl === undefined ? [] : [{ role: roleOf(auditUrl, auditVariable), rights: auditRetentionRights }];
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
      done[service] = await migrateSchema(run, { schema: service, migrations, replaced, role, rights: auditRights, others });
    }
  } finally {
    await run.close();
  }
  return done;
}

/** @throws Error when the file has no class of its name */
export async function loadMigration(service: string, name: string): Promise<MigrationClass> {
  const file = join(migrationsFolder(service), `${name}.ts`);
  const { [name]: migration } = (await import(pathToFileURL(file).href)) as Record<string, MigrationClass | undefined>;
  if (migration === undefined) throw new Error(`${file} must export the class ${name}`);
  return migration;
}

const auditVariable = 'DATABASE_URL_AUDIT';

/** Address of the audit log's verification and retention; an empty variable counts as absent. */
export function readAuditUrl(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return env[auditVariable] || undefined;
}

/** Variable with the address by which a service connects, e.g. `DATABASE_URL_MEDIA`. */
function variableOf(service: string): string {
  return `DATABASE_URL_${service.toUpperCase()}`;
}

/** Addresses of the services by service, from `DATABASE_URL_<SERVICE>`; an empty variable counts as absent. */
export function readServiceUrls(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(readdirSync(servicesDir).map((service) => [service, env[variableOf(service)] || undefined]));
}

/** True when no person, class or account is there yet. */
async function isEmpty(url: string, logger: Logger): Promise<boolean> {
  const database = await createDatabase({ url, schema: 'directory', poolSize: 1, logger, applicationName: 'migrate' });
  try {
    const tables = ['people', 'object_classes', 'accounts'].map((table) => `exists (select from directory.${table})`);
    const [row] = await database.query<{ filled: boolean }>({ name: 'is_filled', text: `select ${tables.join(' or ')} as filled` });
    return row?.filled !== true;
  } finally {
    await database.close();
  }
}

export const migrationSettings = Type.Object({
  DATABASE_URL: databaseSettings.DATABASE_URL,
  ...databasePasswordSettings,
  MIGRATION_WAIT_SECONDS: Type.Integer({
    default: 300,
    minimum: 1,
    maximum: 86_400,
    description: 'longest wait of a migration for another one, for a backup, for open transactions and for the locks of a step, seconds',
  }),
  ...logSettings,
});

if (import.meta.main) {
  let env: Readonly<Record<string, string | undefined>> = process.env;
  try {
    const { values } = parseArgs({ options: { report: { type: 'string' } } });
    env = readEnvironment();
    const config = loadConfig(migrationSettings, env);
    const ended = new AbortController();
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => ended.abort(new Error(`the process received ${name}`)));
    const logger = createLogger({ service: 'migrate', level: config.LOG_LEVEL });
    const migrations = await migrateServices({
      url: buildDatabaseUrl(config),
      logger,
      signal: ended.signal,
      waitMs: config.MIGRATION_WAIT_SECONDS * 1_000,
      serviceUrls: readServiceUrls(env),
      auditUrl: readAuditUrl(env),
    });
    if (values.report !== undefined) {
      writeFileSync(values.report, JSON.stringify({ migrations, isEmpty: await isEmpty(buildDatabaseUrl(config), logger) }));
    }
  } catch (error) {
    process.stderr.write(`migrate: ${await describeSetupFailure(error, () => databaseTarget(env['DATABASE_URL'] ?? ''))}\n`);
    process.exitCode = 1;
  }
}
