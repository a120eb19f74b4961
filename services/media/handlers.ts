/** Combines the operation handlers of the media service. */
import { auditHandlers } from '#libs/audit';
import { jobAdminHandlers } from '#libs/jobs';
import type { FeatureHandlers } from '#libs/service';
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
