import { auditHandlers } from '#libs/audit';
import type { EventOutbox } from '#libs/feed';
import { jobAdminHandlers, type Jobs } from '#libs/jobs';
import type { Bus } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { FeatureHandlers } from '#libs/service';
import { createCaptionsChanged } from './captions-changed.ts';
import type { transcripts } from './contract.ts';
import { createGetEvidence, createFindLatestFormat, createListVerificationBases } from './evidence/handlers.ts';
import { createInstallLegacy } from './legacy/handlers.ts';
import { createPersonDataHandlers } from './person-data/handlers.ts';
import { createCaption, createRender } from './render/handlers.ts';
import { createRowsChanged } from './search/index.ts';
import { createSearches } from './search/handlers.ts';

/** One handler for each declared operation. */
export function createHandlers(deps: {
  bus: Bus;
  db: Database;
  jobs: Jobs<typeof transcripts>;
  eventOutbox: EventOutbox;
}): FeatureHandlers<typeof transcripts> {
  return {
    ...jobAdminHandlers(deps.jobs),
    ...auditHandlers(deps.db),
    ...createPersonDataHandlers({ ...deps, captionsChanged: createCaptionsChanged(deps.jobs) }),
    render: createRender(deps),
    renderAny: createRender(deps),
    caption: createCaption(deps),
    getEvidence: createGetEvidence(deps),
    listVerificationBases: createListVerificationBases(deps),
    findLatestFormat: createFindLatestFormat(deps),
    ...createSearches(deps),
    installLegacy: createInstallLegacy({ ...deps, rowsChanged: createRowsChanged(deps.jobs) }),
  };
}
