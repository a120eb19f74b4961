/** Composition of the directory service: database, bus, jobs, handlers, upkeep. */
import { auditHandlers } from '#libs/audit';
import { isExposed, isPublicSecret } from '#libs/config';
import { cleanupIntervalMs, IdempotencyStore, removeOldRecords } from '#libs/idempotency';
import { jobAdminHandlers } from '#libs/jobs';
import type { Service } from '#libs/lifecycle';
import type { Logger } from '#libs/logger';
import { pipelineJobs } from '#libs/pipeline';
import type { PipelineExtension } from '#libs/pipeline-worker';
import { createServiceRuntime } from '#libs/service';
import { type Clock, systemClock } from '#libs/time';
import { createAccountHandlers } from './accounts/handlers/accounts.ts';
import { createOwnLoginHandlers } from './accounts/handlers/own-login.ts';
import { createSessionHandlers } from './accounts/handlers/sessions.ts';
import { createLoginThrottle, createRefusedLogins } from './accounts/login-limits.ts';
import { createPasswords } from './accounts/rules.ts';
import { countFailedLogins } from './accounts/statements/accounts.ts';
import { deleteOldSessions } from './accounts/statements/sessions.ts';
import { createListRefusedLinks, createAdminDetailHandlers } from './admin-details/handlers.ts';
import { createBrowseHandlers } from './browse/handlers.ts';
import { createClassHandlers } from './classes/handlers.ts';
import { type DirectoryConfig, directorySettings } from './config.ts';
import { directory } from './contract.ts';
import { createFeedHandlers } from './feed/handlers.ts';
import { createExperienceHandlers } from './experiences/handlers.ts';
import { createSetLogo } from './experiences/workers.ts';
import { createHolonReadHandlers, createUpdateHolon, createVisibleHolonHandlers } from './holons/handlers.ts';
import { createIdentityHandlers } from './identities/handlers.ts';
import { createJourneyHandlers, createStepHandlers } from './journeys/handlers.ts';
import { joinUsageCounts } from './journeys/statements.ts';
import { createKeyAdminHandlers, createKeyHandlers } from './keys/handlers.ts';
import { createKeys } from './keys/issue.ts';
import { createKeyUses, measureKeys, writeUsesEveryMs } from './keys/uses.ts';
import { createBulkAddHandlers, createMembershipListHandlers, createUpdateMembership } from './memberships/handlers.ts';
import { createMergingHandlers } from './merging/handlers.ts';
import { createFinishMerge } from './merging/workers.ts';
import { createNoteHandlers } from './notes/handlers.ts';
import { createNoteAdd } from './notes/workers.ts';
import { createCreatePerson, createPeopleReadHandlers, createResolveAttendees } from './people/handlers.ts';
import { createPersonDataHandlers } from './person-data/handlers.ts';
import { createRelationshipHandlers } from './relationships/handlers.ts';
import { createSearchDirectory } from './search/handlers.ts';
import { createToday } from './workflow/rules.ts';
import { createWorklistHandlers } from './worklist/handlers.ts';
import { foldTallies } from './worklist/statements.ts';
import { createWorkspaceHandlers } from './workspace/handlers.ts';

export interface DirectoryOptions {
  config: DirectoryConfig;
  logger?: Logger;
  pipeline?: PipelineExtension;
  /** Says what today is in worklists (D50). */
  clock?: Clock;
}

/** Nobody without the gate key takes the turn of somebody with it. */
const gateTurns = { maxRunning: 1, maxWaiting: 50 };
/** How often expired sessions, old throttle rows and forgotten uploads are removed, and tallies folded. */
const upkeepMs = 10 * 60_000;

export async function createService({ config, logger, pipeline, clock = systemClock }: DirectoryOptions): Promise<Service> {
  const runtime = await createServiceRuntime({ contract: directory, config, logger });
  const { db, jobs, metrics, bus } = runtime;
  const registry = pipeline?.registry ?? pipelineJobs;
  const refusals = isExposed(directorySettings.properties, config, config.NODE_ENV) ? { isRefused: isPublicSecret } : {};
  const passwords = createPasswords(refusals);

  measureKeys(metrics, db);

  return runtime.service(async () => {
    const limits = { loginsPerMinute: config.RATE_LIMIT_LOGIN_PER_MINUTE, failuresPerEmail: config.RATE_LIMIT_LOGIN_FAILURES };
    const idempotency = new IdempotencyStore(jobs);
    const { eventOutbox } = runtime;
    const throttle = createLoginThrottle(db, metrics, limits);
    const refused = createRefusedLogins(db);
    const keys = createKeys({ jobs, idempotency, bus });
    const uses = createKeyUses(db);
    const today = createToday(clock, config.WORKLIST_TIME_ZONE);
    runtime.setStatusProvider(async () => ({ failed_logins: (await countFailedLogins(db)).count }));
    await runtime.serve({
      ...createPeopleReadHandlers(db),
      createPerson: createCreatePerson({ jobs, idempotency, eventOutbox }),
      resolveAttendees: createResolveAttendees({ db, jobs, eventOutbox }),
      ...createPersonDataHandlers({ db, jobs, eventOutbox }),
      ...createAccountHandlers({ db, jobs, eventOutbox, passwords }),
      ...createOwnLoginHandlers({ db, jobs, passwords, throttle }),
      ...createSessionHandlers({
        db,
        jobs,
        passwords,
        gatePasswords: createPasswords({ turns: gateTurns, ...refusals }),
        throttle,
        refused,
      }),
      ...createKeyHandlers({ db, keys, uses, clock }),
      ...createKeyAdminHandlers({ db, keys, clock }),
      ...createIdentityHandlers({ db, jobs, throttle, refused, issuer: config.OIDC_ISSUER, linkByEmail: config.OIDC_LINK_BY_EMAIL }),
      ...createHolonReadHandlers(db),
      ...createVisibleHolonHandlers(db),
      updateHolon: createUpdateHolon({ jobs, idempotency, eventOutbox }),
      ...createExperienceHandlers({ db, jobs, idempotency, eventOutbox }),
      ...createClassHandlers(db),
      ...createJourneyHandlers(db),
      ...createStepHandlers(db, registry),
      ...createMembershipListHandlers({ db, today }),
      updateMembership: createUpdateMembership({ idempotency, eventOutbox }),
      ...createBulkAddHandlers({ idempotency, eventOutbox, waitMs: config.BULK_ADD_WAIT_MS }),
      ...createMergingHandlers({ db, jobs, idempotency, bus, eventOutbox }),
      ...createRelationshipHandlers({ db, idempotency, eventOutbox }),
      ...createWorklistHandlers({ db, today }),
      ...createNoteHandlers(db),
      ...createAdminDetailHandlers(db),
      searchDirectory: createSearchDirectory(db),
      ...createBrowseHandlers(db),
      ...createWorkspaceHandlers({ db, jobs, eventOutbox, passwords }),
      ...createFeedHandlers(db),
      listRefusedLinks: createListRefusedLinks(db),
      ...jobAdminHandlers(jobs),
      ...auditHandlers(db),
    });
    await jobs.work({
      finishMerge: createFinishMerge(bus),
      noteAdd: createNoteAdd(eventOutbox),
      setExperienceLogo: createSetLogo({ jobs, eventOutbox }),
    });
    runtime.runEvery(writeUsesEveryMs, 'the last use of keys was not written', () => uses.write());
    runtime.onClose(() => uses.write());
    runtime.runEvery(cleanupIntervalMs, 'failed to remove old idempotency records', (signal) => removeOldRecords(db, { signal }));
    runtime.runEvery(upkeepMs, 'old sessions were not removed', () => deleteOldSessions(db));
    runtime.runEvery(upkeepMs, 'the tallies of worklists were not folded', () => foldTallies(db));
    runtime.runEvery(upkeepMs, 'the counts of use were not joined', () => joinUsageCounts(db));
  });
}
