/**
 * Migrates the schemas of all services: `node tools/migrate.ts` with DATABASE_URL. A job runs it; a starting service
 * never does (architecture#data). `DATABASE_URL_<SERVICE>` is the address with which a service connects: the role in
 * this address is created, with rights on the service's schema only. `DATABASE_URL_AUDIT` is the address for
 * verification and retention of the audit log (A2). `--report FILE` writes the names of the migrations and whether the
 * database has no set-up data.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  databasePasswordSettings,
  databaseSettings,
  buildDatabaseUrl,
  loadConfig,
  logSettings,
  readEnvironment,
} from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';
import { createLogger, type Logger } from '#libs/infrastructure/logger';
import { migrateServices, readAuditUrl, readServiceUrls } from '#libs/infrastructure/migrations';
import { createDatabase } from '#libs/infrastructure/orm';
import { databaseTarget } from '../cli/doctor/servers.ts';
import { describeSetupFailure } from '../cli/doctor/setup-failure.ts';

/** Returns true when the database has no person, class or account. */
async function isEmpty(url: string, logger: Logger): Promise<boolean> {
  const database = await createDatabase({ url, schema: 'directory', poolSize: 1, logger, applicationName: 'migrate' });
  try {
    const tables = ['people', 'object_classes', 'accounts'].map((table) => `exists (select from directory.${table})`);
    const [row] = await database.query<{ filled: boolean }>({
      name: 'is_filled',
      text: `select ${tables.join(' or ')} as filled`,
    });
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
    description: 'maximum wait for another migration, a backup, open transactions and locks, seconds',
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
    for (const name of ['SIGTERM', 'SIGINT'] as const)
      process.once(name, () => ended.abort(new Error(`the process received ${name}`)));
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
      writeFileSync(
        values.report,
        JSON.stringify({ migrations, isEmpty: await isEmpty(buildDatabaseUrl(config), logger) }),
      );
    }
  } catch (error) {
    process.stderr.write(
      `migrate: ${await describeSetupFailure(error, () => databaseTarget(env['DATABASE_URL'] ?? ''))}\n`,
    );
    process.exitCode = 1;
  }
}
