/** Collects the handlers of all operations of the service. */
import { auditHandlers } from '#libs/infrastructure/audit';
import { jobAdminHandlers, listFailedJobs } from '#libs/infrastructure/jobs';
import type { FeatureHandlers } from '#libs/infrastructure/service';
import { createAgentSetupHandlers } from './agent/handlers/setup.ts';
import { createAgentHandlers } from './agent/handlers/workspace.ts';
import { createChatHandlers } from './chat/handlers.ts';
import type { agents } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { createHandoverHandlers } from './handover/handlers.ts';
import { createLanguageModelHandlers } from './language-model/handlers.ts';
import { createMemoryHandlers } from './memory/handlers.ts';
import { createReceiptHandlers } from './receipts/handlers.ts';
import { createRecordHandlers } from './record/handlers.ts';
import { createTelegramHandlers } from './telegram/handlers.ts';

export function createHandlers(deps: Dependencies): FeatureHandlers<typeof agents> {
  return {
    ...jobAdminHandlers(deps.jobs),
    ...auditHandlers(deps.db),
    readTimeline: async ({ conversation_id: id }) => ({ items: await listFailedJobs(deps.db, id) }),
    ...createAgentHandlers(deps),
    ...createAgentSetupHandlers(deps),
    ...createChatHandlers(deps),
    ...createHandoverHandlers(deps),
    ...createLanguageModelHandlers(deps),
    ...createMemoryHandlers(deps),
    ...createReceiptHandlers(deps),
    ...createRecordHandlers(deps),
    ...createTelegramHandlers(deps),
  };
}
