/**
 * Brings the schemas of all services up to date: `node tools/migrate.ts` with DATABASE_URL. Run by a job, never by a starting
 * service (architecture#data). `DATABASE_URL_<SERVICE>`, when set, is the address by which that service connects: its role is made and given
 * the service's schema alone. `--report FILE` writes what ran and whether the database holds no set-up data.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { databaseSettings, ConfigError, loadConfig, logSettings } from '#libs/config';
import { Type } from '#libs/contract';
import { createLogger, type Logger } from '#libs/logger';
import { createDatabase, migrate, type MigrationClass, roleOf } from '#libs/orm';

const servicesDir = join(import.meta.dirname, '..', 'services');

/** @returns the names of the migrations that ran, service by service. */
export async function migrateServices(options: {
  url: string;
  logger: Logger;
  /** Addresses by which the services connect, by service. */
  serviceUrls?: Readonly<Record<string, string | undefined>>;
}): Promise<Record<string, string[]>> {
  const done: Record<string, string[]> = {};
  for (const service of readdirSync(servicesDir).toSorted()) {
    const index = join(servicesDir, service, 'migrations', 'index.ts');
    if (!existsSync(index)) continue;
    const module = (await import(pathToFileURL(index).href)) as Record<string, unknown>;
    const lists = Object.values(module).filter((value) => Array.isArray(value));
    if (lists.length !== 1) throw new Error(`${index} must export exactly one list of migrations`);
    const migrations = lists[0] as MigrationClass[];
    const serviceUrl = options.serviceUrls?.[service];
    const role = serviceUrl === undefined ? undefined : roleOf(serviceUrl, variableOf(service));
    done[service] = await migrate({ url: options.url, schema: service, migrations, logger: options.logger, role });
  }
  return done;
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

if (import.meta.main) {
  try {
    const { values } = parseArgs({ options: { report: { type: 'string' } } });
    const config = loadConfig(Type.Object({ DATABASE_URL: databaseSettings.DATABASE_URL, ...logSettings }));
    const logger = createLogger({ service: 'migrate', level: config.LOG_LEVEL });
    const migrations = await migrateServices({ url: config.DATABASE_URL, logger, serviceUrls: readServiceUrls(process.env) });
    if (values.report !== undefined) {
      writeFileSync(values.report, JSON.stringify({ migrations, isEmpty: await isEmpty(config.DATABASE_URL, logger) }));
    }
  } catch (error) {
    process.stderr.write(
      `migrate: ${error instanceof ConfigError ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
    );
    process.exitCode = 1;
  }
}
