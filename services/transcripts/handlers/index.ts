import { jobAdminHandlers, type Jobs } from '#libs/jobs';
import type { Bus, Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { transcripts } from '#services/transcripts';
import { createGetEvidence, createListVerificationBases } from './evidence.ts';
import { createInstallLegacy } from './legacy.ts';
import { createPersonDataHandlers } from './person-data.ts';
import { createRender } from './render.ts';

/** One handler for each declared operation. */
export function createHandlers(deps: { bus: Bus; db: Database; jobs: Jobs }): Handlers<typeof transcripts> {
  return {
    ...jobAdminHandlers(deps.jobs),
    ...createPersonDataHandlers(deps),
    render: createRender(deps),
    getEvidence: createGetEvidence(deps),
    listVerificationBases: createListVerificationBases(deps),
    installLegacy: createInstallLegacy(deps),
  };
}
