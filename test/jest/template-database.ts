/**
 * Creates the migrated database that every test file clones. Its name is derived from its inputs, so that an outdated
 * database is never used.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { createLogger } from '#libs/infrastructure/logger';
import { migrateServices, readAuditUrl, readServiceUrls } from '#libs/infrastructure/migrations';
import { listDatabaseUrls } from '../../libs/product/servers/service-accounts.ts';
import { hashMigrationSources } from '../../tools/migration-sources.ts';

const makingTimeoutMs = 60_000;

/** Creates the database if it does not exist. @returns the name of the complete database */
export async function prepareTemplateDatabase(
  repoDir: string,
  {
    TEST_DATABASE_URL: adminUrl,
    TEST_SERVICE_SECRET: secret,
  }: { TEST_DATABASE_URL: string; TEST_SERVICE_SECRET: string },
): Promise<string> {
  const logger = createLogger({ service: 'tests', level: 'warn' });
  const name = `template_${hashMigrationSources(repoDir)}`;
  const admin = await createDatabase({
    url: adminUrl,
    schema: 'public',
    poolSize: 1,
    logger,
    applicationName: 'tests',
  });
  try {
    const deadline = Date.now() + makingTimeoutMs;
    while (!(await isComplete(admin, name))) {
      if (await tryCreate(admin, name)) {
        const url = new URL(adminUrl);
        url.pathname = `/${name}`;
        const urls = secret === '' ? {} : listDatabaseUrls(url.href, secret);
        await migrateServices({
          url: url.href,
          logger,
          serviceUrls: readServiceUrls(urls),
          auditUrl: readAuditUrl(urls),
        });
        await admin.query({ name: 'mark_template', text: `alter database ${name} with is_template true` });
      } else if (Date.now() > deadline) {
        await admin.query({ name: 'drop_template', text: `drop database ${name} with (force)` }); // The process that was creating the database has died.
      } else {
        await sleep(100);
      }
    }
  } finally {
    await admin.close();
  }
  return name;
}

async function isComplete(admin: Database, name: string): Promise<boolean> {
  const rows = await admin.query(
    { name: 'find_template', text: 'select 1 from pg_database where datname = $1 and datistemplate' },
    [name],
  );
  return rows.length > 0;
}

async function tryCreate(admin: Database, name: string): Promise<boolean> {
  const rows = await admin.query({ name: 'find_database', text: 'select 1 from pg_database where datname = $1' }, [
    name,
  ]);
  if (rows.length > 0) return false;
  try {
    await admin.query({ name: 'create_template', text: `create database ${name}` });
    return true;
  } catch (error) {
    if (error instanceof Error && /already exists|duplicate key/.test(error.message)) return false;
    throw error;
  }
}
