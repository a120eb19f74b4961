/** Composition of the directory service: database, bus, jobs, handlers, upkeep. */
import { isPublicSecret } from '#libs/config';
import { jobAdminHandlers } from '#libs/jobs';
import type { Service } from '#libs/lifecycle';
import type { Logger } from '#libs/logger';
import { pipelineJobs } from '#libs/pipeline';
import type { PipelineExtension } from '#libs/pipeline-worker';
import { createFrame } from '#libs/service';
import { systemClock, type Clock } from '#libs/time';
import { createAccountHandlers } from './accounts/handlers/accounts.ts';
import { createSessionHandlers } from './accounts/handlers/sessions.ts';
import { createLoginThrottle } from './accounts/login-throttle.ts';
import { createPasswords } from './accounts/rules/password.ts';
import { deleteOldSessions } from './accounts/statements/sessions.ts';
import { createResolveAttendees } from './attendees/handlers.ts';
import { createBrowseHandlers } from './browse/handlers.ts';
import { createClassHandlers } from './classes/handlers.ts';
import type { DirectoryConfig } from './config.ts';
import { directory } from './contract.ts';
import { entities } from './entities/index.ts';
import { createExperienceHandlers } from './experiences/handlers.ts';
import { createSetLogo } from './experiences/workers.ts';
import { createHolonReadHandlers } from './holons/handlers/read.ts';
import { createUpdateHolon } from './holons/handlers/update.ts';
import { createVisibleHolonHandlers } from './holons/handlers/visible.ts';
import { createJourneyHandlers } from './journeys/handlers.ts';
import { joinUsageCounts } from './journeys/statements.ts';
import { createBulkAddHandlers } from './memberships/handlers/bulk-add.ts';
import { createMembershipListHandlers } from './memberships/handlers/lists.ts';
import { createUpdateMembership } from './memberships/handlers/update.ts';
import { migrations } from './migrations/index.ts';
import { createNoteHandlers } from './notes/handlers.ts';
import { noteAdd } from './notes/workers.ts';
import { createCreatePerson } from './people/handlers/create.ts';
import { createPeopleReadHandlers } from './people/handlers/read.ts';
import { createPersonDataHandlers } from './person-data/handlers.ts';
import { createListRefusedLinks } from './refused-links/handlers.ts';
import { createRelationshipHandlers } from './relationships/handlers.ts';
import { createSearchDirectory } from './search/handlers.ts';
import { createStepHandlers } from './steps/handlers.ts';
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
  const frame = await createFrame({ contract: directory, config, migrations, entities, logger });
  const { db, jobs, metrics } = frame;
  const registry = pipeline?.registry ?? pipelineJobs;
  const passwords = createPasswords(config.NODE_ENV === 'production' ? { isRefused: isPublicSecret } : {});

  return frame.service(async () => {
    const limits = { loginsPerMinute: config.RATE_LIMIT_LOGIN_PER_MINUTE, failuresPerEmail: config.RATE_LIMIT_LOGIN_FAILURES };
    const throttle = createLoginThrottle(db, metrics, limits);
    const calendar = { db, clock, timeZone: config.WORKLIST_TIME_ZONE };
    await frame.serve({
      ...createPeopleReadHandlers(db),
      createPerson: createCreatePerson(jobs),
      resolveAttendees: createResolveAttendees({ db, jobs }),
      ...createPersonDataHandlers({ db, jobs }),
      ...createAccountHandlers({ db, jobs, passwords }),
      ...createSessionHandlers({ db, jobs, passwords, gatePasswords: createPasswords({ turns: gateTurns }), throttle }),
      ...createHolonReadHandlers(db),
      ...createVisibleHolonHandlers(db),
      updateHolon: createUpdateHolon(jobs),
      ...createExperienceHandlers({ db, jobs }),
      ...createClassHandlers(db),
      ...createJourneyHandlers(db),
      ...createStepHandlers(db, registry),
      ...createMembershipListHandlers(calendar),
      updateMembership: createUpdateMembership(db),
      ...createBulkAddHandlers({ db, waitMs: config.BULK_ADD_WAIT_MS }),
      ...createRelationshipHandlers(db),
      ...createWorklistHandlers(calendar),
      ...createNoteHandlers(db),
      searchDirectory: createSearchDirectory(db),
      ...createBrowseHandlers(db),
      ...createWorkspaceHandlers({ db, jobs, passwords }),
      listRefusedLinks: createListRefusedLinks(db),
      ...jobAdminHandlers(jobs),
    });
    await jobs.work({ noteAdd, setExperienceLogo: createSetLogo(jobs) });
    frame.every(upkeepMs, 'old sessions were not removed', () => deleteOldSessions(db));
    frame.every(upkeepMs, 'the tallies of worklists were not folded', () => foldTallies(db));
    frame.every(upkeepMs, 'the counts of use were not joined', () => joinUsageCounts(db));
  });
}
