/** Combines the operation handlers of the media service. */
import { auditHandlers } from '#libs/infrastructure/audit';
import { jobAdminHandlers } from '#libs/infrastructure/jobs';
import type { FeatureHandlers } from '#libs/infrastructure/service';
import type { media } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { createDownloadHandlers } from './downloads/handlers.ts';
import { createTicketHandlers } from './http/handlers.ts';
import { createOperatorHandlers } from './operator/handlers.ts';
import { createPersonDataHandlers } from './person-data/handlers.ts';
import { createTimelineHandlers } from './timeline/handlers.ts';
import { createUploadHandlers } from './uploads/handlers.ts';

export function createHandlers(deps: Dependencies): FeatureHandlers<typeof media> {
  return {
    ...jobAdminHandlers(deps.jobs),
    ...auditHandlers(deps.db),
    ...createDownloadHandlers(deps),
    ...createTicketHandlers(deps),
    ...createUploadHandlers(deps),
    ...createOperatorHandlers(deps),
    ...createPersonDataHandlers(deps),
    ...createTimelineHandlers(deps),
  };
}
