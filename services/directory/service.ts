/** Composes the directory service: dependencies, handlers, workers and periodic cleanup. */
import { isExposed, isPublicSecret } from '#libs/infrastructure/config';
import { cleanupIntervalMs, IdempotencyStore, removeOldRecords } from '#libs/infrastructure/idempotency';
import { removeOldHistory } from '#libs/product/history';
import type { Service } from '#libs/infrastructure/lifecycle';
import type { Logger } from '#libs/infrastructure/logger';
import { pipelineJobs } from '#libs/product/pipeline';
import type { PipelineExtension } from '#libs/product/pipeline-worker';
import { createServiceRuntime } from '#libs/infrastructure/service';
import { type Clock, systemClock } from '#libs/infrastructure/time';
import { createLoginThrottle, createRefusedLogins } from './accounts/login-limits.ts';
import { createPasswords } from './accounts/rules.ts';
import { countFailedLogins } from './accounts/statements/accounts.ts';
import { deleteOldSessions } from './accounts/statements/sessions.ts';
import { type DirectoryConfig, directorySettings } from './config.ts';
import { directory } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { removeOldErasures } from './erasures/statements.ts';
import { createErasePerson, markFailedErasure } from './erasures/workers.ts';
import { createSetLogo } from './experiences/workers.ts';
import { checkLinks } from './links/check.ts';
import { createHandlers } from './handlers.ts';
import { createDirectoryHistory } from './history/index.ts';
import { foldUsageCounts } from './journeys/statements.ts';
import { createKeys } from './keys/issue.ts';
import { createKeyUses, measureKeys, writeUsesIntervalMs } from './keys/uses.ts';
import { createFinishMerge } from './merging/workers.ts';
import { createNoteAdd } from './notes/workers.ts';
import { createToday } from './workflow/rules.ts';
import { foldTallies } from './worklist/statements.ts';

export interface DirectoryOptions {
  config: DirectoryConfig;
  logger?: Logger;
  pipeline?: PipelineExtension;
  /** Determines today's date in worklists (D50). */
  clock?: Clock;
}

/** Limits of the password queue for logins without the gate key. */
const gateConcurrency = { maxRunning: 1, maxWaiting: 50 };
/** Interval at which expired sessions, old throttle rows and abandoned uploads are removed and tallies are summed. */
const cleanupMs = 10 * 60_000;

export async function createService({
  config,
  logger,
  pipeline,
  clock = systemClock,
}: DirectoryOptions): Promise<Service> {
  const runtime = await createServiceRuntime({ contract: directory, config, logger });
  const { db, jobs, metrics, bus } = runtime;
  measureKeys(metrics, db);

  return runtime.service(async () => {
    const refusals = isExposed(directorySettings.properties, config, config.NODE_ENV)
      ? { isRefused: isPublicSecret }
      : {};
    const limits = {
      loginsPerMinute: config.RATE_LIMIT_LOGIN_PER_MINUTE,
      failuresPerEmail: config.RATE_LIMIT_LOGIN_FAILURES,
    };
    const idempotency = new IdempotencyStore(jobs);
    const deps: Dependencies = {
      config,
      db,
      bus,
      jobs,
      eventOutbox: runtime.eventOutbox,
      idempotency,
      history: createDirectoryHistory(),
      clock,
      today: createToday(clock, config.WORKLIST_TIME_ZONE),
      pipeline: pipeline?.registry ?? pipelineJobs,
      passwords: createPasswords(refusals),
      gatePasswords: createPasswords({ limit: gateConcurrency, ...refusals }),
      throttle: createLoginThrottle(db, metrics, limits),
      refused: createRefusedLogins(db),
      keys: createKeys({ jobs, idempotency, bus }),
      keyUses: createKeyUses(db),
    };
    runtime.setChecks([{ name: 'links', needed: true, examine: () => checkLinks(db) }]);
    runtime.setStatusProvider(async () => ({ failed_logins: (await countFailedLogins(db)).count }));
    await runtime.serve(createHandlers(deps));
    await jobs.work(
      {
        erasePerson: createErasePerson(deps),
        finishMerge: createFinishMerge(deps),
        noteAdd: createNoteAdd(deps),
        setExperienceLogo: createSetLogo(deps),
      },
      { onDead: markFailedErasure },
    );
    runtime.runEvery(writeUsesIntervalMs, 'keys: failed to store last-used times', () => deps.keyUses.write());
    runtime.onClose(() => deps.keyUses.write());
    runtime.runEvery(cleanupIntervalMs, 'failed to remove old idempotency records', (signal) =>
      removeOldRecords(db, { signal }),
    );
    runtime.runEvery(cleanupMs, 'sessions: failed to remove old ones', () => deleteOldSessions(db));
    runtime.runEvery(cleanupMs, 'history: failed to remove old entries', (signal) =>
      removeOldHistory(db, { days: config.HISTORY_RETENTION_DAYS, signal }),
    );
    runtime.runEvery(cleanupMs, 'erasures: failed to remove old ones', () => removeOldErasures(db));
    runtime.runEvery(cleanupMs, 'worklist: failed to fold tallies', () => foldTallies(db));
    runtime.runEvery(cleanupMs, 'journeys: failed to fold usage counts', () => foldUsageCounts(db));
  });
}
