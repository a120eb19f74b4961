/** Collects the handlers of all operations of the transcripts service. */
import { auditHandlers } from '#libs/infrastructure/audit';
import { jobAdminHandlers } from '#libs/infrastructure/jobs';
import type { FeatureHandlers } from '#libs/infrastructure/service';
import type { transcripts } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { createEvidenceHandlers } from './evidence/handlers.ts';
import { createLegacyHandlers } from './legacy/handlers.ts';
import { createPersonDataHandlers } from './person-data/handlers.ts';
import { createTimelineHandlers } from './timeline/handlers.ts';
import { createRenderHandlers } from './render/handlers.ts';
import { createSearchHandlers } from './search/handlers.ts';

export function createHandlers(deps: Dependencies): FeatureHandlers<typeof transcripts> {
  return {
    ...jobAdminHandlers(deps.jobs),
    ...auditHandlers(deps.db),
    ...createPersonDataHandlers(deps),
    ...createTimelineHandlers(deps),
    ...createRenderHandlers(deps),
    ...createEvidenceHandlers(deps),
    ...createSearchHandlers(deps),
    ...createLegacyHandlers(deps),
  };
}
