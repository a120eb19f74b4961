import { jobAdminHandlers, type Jobs } from '#libs/jobs';
import type { Bus, Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { transcripts } from './contract.ts';
import { createGetEvidence, createListVerificationBases } from './evidence/handlers.ts';
import { createInstallLegacy } from './legacy/handlers.ts';
import { createPersonDataHandlers } from './person-data/handlers.ts';
import { createRender } from './render/handlers.ts';

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
