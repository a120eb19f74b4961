import { auditHandlers } from '#libs/infrastructure/audit';
import { jobAdminHandlers } from '#libs/infrastructure/jobs';
import type { FeatureHandlers } from '#libs/infrastructure/service';
import type { events } from './contract.ts';
import { createDeliveryHandlers } from './delivery-log/handlers.ts';
import type { Dependencies } from './dependencies.ts';
import { createEndpointHandlers } from './endpoints/handlers.ts';
import { createFeedHandlers } from './feed/handlers.ts';
import { createPersonDataHandlers } from './person-data/handlers.ts';

export function createHandlers(deps: Dependencies): FeatureHandlers<typeof events> {
  return {
    ...jobAdminHandlers(deps.jobs),
    ...auditHandlers(deps.db),
    ...createFeedHandlers(deps),
    ...createEndpointHandlers(deps),
    ...createDeliveryHandlers(deps),
    ...createPersonDataHandlers(deps),
  };
}
