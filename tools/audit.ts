/**
 * Verifies the audit logs of all services and removes entries older than AUDIT_RETENTION_DAYS (A2): `node
 * tools/audit.ts` with DATABASE_URL of the audit role. Runs once, and exits with 1 when a log is broken; broken logs
 * are not truncated. With `--daily` it runs at once and then every day.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  type ChainBreak,
  type ChainPage,
  storeVerification,
  readLinks,
  removeOldEntries,
  verifyChain,
} from '#libs/infrastructure/audit';
import {
  databasePasswordSettings,
  databaseSettings,
  buildDatabaseUrl,
  loadConfig,
  logSettings,
} from '#libs/infrastructure/config';
import { type Static, Type } from '#libs/infrastructure/contract';
import { parseJson } from '#libs/infrastructure/json';
import { createLogger, type Logger } from '#libs/infrastructure/logger';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { databaseTarget } from '../cli/doctor/servers.ts';
import { describeSetupFailure } from '../cli/doctor/setup-failure.ts';
import { removeInBatches } from '#libs/infrastructure/retention';

/** Settings of the retention of audit logs. */
export const auditSettings = Type.Object({
  DATABASE_URL: databaseSettings.DATABASE_URL,
  ...databasePasswordSettings,
  ...logSettings,
  AUDIT_RETENTION_DAYS: Type.Integer({
    default: 400,
    minimum: 1,
    maximum: 36_500,
    description: 'retention of the audit log, days',
  }),
});

const servicesDir = join(import.meta.dirname, '..', 'services');
const linksOfPage = 1_000;
const dayMs = 24 * 3_600_000;
const againMs = 60_000;

/** The result for the log of one service. */
export interface StoredLog {
  readonly service: string;
  /** Number of verified entries. */
  readonly entries: number;
  readonly removed: number;
  readonly broken: ChainBreak | undefined;
}

/**
 * Verifies and truncates the audit logs of the services one after the other. @param options.url URL of the role of
 * `DATABASE_URL_AUDIT`
 */
export async function keepAuditLogs(options: {
  url: string;
  days: number;
  services?: readonly string[];
  logger: Logger;
}): Promise<StoredLog[]> {
  const {
    url,
    days,
    logger,
    services = readdirSync(servicesDir).filter((name) => existsSync(join(servicesDir, name, 'migrations'))),
  } = options;
  const stored: StoredLog[] = [];
  for (const service of services.toSorted()) {
    const db = await createDatabase({ url, schema: service, poolSize: 1, logger, applicationName: 'audit' });
    try {
      const log = await keepLog(db, service, days);
      if (log.broken === undefined) logger.info(log, 'audit log verified');
      else logger.error(log, 'the audit log is broken');
      stored.push(log);
    } finally {
      await db.close();
    }
  }
  return stored;
}

async function keepLog(db: Database, service: string, days: number): Promise<StoredLog> {
  const { checked, broken } = await verifyChain(
    async (after) => parseJson((await readLinks(db, { after, limit: linksOfPage })).body) as ChainPage,
  );
  await storeVerification(db, { brokenId: broken?.id });
  const remove = async (limit: number): Promise<number> => (await removeOldEntries(db, { days, limit })).removed;
  const removed = broken === undefined ? await removeInBatches({ remove }) : 0;
  return { service, entries: checked, removed, broken };
}

/** Verifies all logs now. @returns true when all are intact */
async function runOnce(config: Static<typeof auditSettings>, logger: Logger): Promise<boolean> {
  const logs = await keepAuditLogs({ url: buildDatabaseUrl(config), days: config.AUDIT_RETENTION_DAYS, logger });
  return logs.every(({ broken }) => broken === undefined);
}

/** Runs until the process receives a signal. Failures are retried before the next day. */
async function runDaily(config: Static<typeof auditSettings>, logger: Logger): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit()); // ends at once: an unfinished batch is rolled back
  for (;;) {
    const done = await runOnce(config, logger).then(
      () => true,
      (error: unknown) => {
        logger.error({ err: error }, 'the audit logs could not be verified');
        return false;
      },
    );
    await sleep(done ? dayMs : againMs);
  }
}

if (import.meta.main) {
  try {
    const { values } = parseArgs({ options: { daily: { type: 'boolean' } } });
    const config = loadConfig(auditSettings);
    const logger = createLogger({ service: 'audit', level: config.LOG_LEVEL });
    if (values.daily === true) await runDaily(config, logger);
    else if (!(await runOnce(config, logger))) process.exitCode = 1;
  } catch (error) {
    process.stderr.write(
      `audit: ${await describeSetupFailure(error, () => databaseTarget(process.env['DATABASE_URL'] ?? ''))}\n`,
    );
    process.exitCode = 1;
  }
}
