/** Merges the operations of all features, with access checks and error translation. */
import { auditHandlers } from '#libs/infrastructure/audit';
import { jobAdminHandlers } from '#libs/infrastructure/jobs';
import { isJsonObject } from '#libs/infrastructure/json';
import type { RequestContext } from '#libs/infrastructure/nats';
import { createBookingHandlers } from './booking/handlers.ts';
import { createBulkImportHandlers } from './bulk-import/handlers.ts';
import { createFindOrCreateHandlers } from './conversation/handlers/find-or-create.ts';
import { createLookupHandlers } from './conversation/handlers/lookup.ts';
import { createReadAndPatchHandlers } from './conversation/handlers/read-and-patch.ts';
import { createRecordedHandlers } from './conversation/handlers/recorded.ts';
import { createDeletionHandlers } from './deletion/handlers.ts';
import { createDiscoveryHandlers } from './discovery/handlers.ts';
import { createEditingHandlers } from './editing/handlers.ts';
import { createNoteHandlers } from './notes/handlers.ts';
import { createOperatorHandlers } from './operator/handlers.ts';
import { createPersonDataHandlers } from './person-data/handlers.ts';
import { createQuestionHandlers } from './questions/handlers.ts';
import { createReconcileHandlers } from './reconcile/handlers.ts';
import { createRoomHandlers } from './room/handlers.ts';
import { createTimelineHandlers } from './timeline/handlers.ts';
import { createTranscriptSearchScopeHandlers } from './transcript-search-scope/handlers.ts';
import type { Dependencies, Operations } from './dependencies.ts';
import { createPipelineHandlers } from './pipeline/handlers.ts';
import { createWebhookHandlers } from './receipts/handlers.ts';

export function createHandlers(dependencies: Dependencies): Operations {
  return {
    ...jobAdminHandlers(dependencies.jobs),
    ...auditHandlers(dependencies.db),
    ...createWebhookHandlers(dependencies),
    ...createPipelineHandlers(dependencies),
    ...guard(dependencies, {
      ...createBookingHandlers(dependencies),
      ...createBulkImportHandlers(dependencies),
      ...createFindOrCreateHandlers(dependencies),
      ...createReadAndPatchHandlers(dependencies),
      ...createRecordedHandlers(dependencies),
      ...createLookupHandlers(dependencies),
      ...createDeletionHandlers(dependencies),
      ...createDiscoveryHandlers(dependencies),
      ...createEditingHandlers(dependencies),
      ...createNoteHandlers(dependencies),
      ...createOperatorHandlers(dependencies),
      ...createPersonDataHandlers(dependencies),
      ...createQuestionHandlers(dependencies),
      ...createReconcileHandlers(dependencies),
      ...createRoomHandlers(dependencies),
      ...createTimelineHandlers(dependencies),
      ...createTranscriptSearchScopeHandlers(dependencies),
    }),
  };
}

/**
 * Before an operation, checks access to the conversation in the field `conversation_id` of the request; afterwards
 * translates errors of the operation (D63, D69). `exists` and `describe` use the field `id` and check access
 * themselves, because other services call them on behalf of their callers.
 */
function guard<Guarded extends Partial<Operations>>({ access, refusals }: Dependencies, operations: Guarded): Guarded {
  const guarded = Object.entries(operations).map(([name, operation]) => [
    name,
    async (request: unknown, context: RequestContext): Promise<unknown> => {
      try {
        const id: unknown = isJsonObject(request) ? request['conversation_id'] : undefined;
        if (typeof id === 'number') await access.require(id, context);
        return await operation(request as never, context);
      } catch (error) {
        throw refusals.explain(error);
      }
    },
  ]);
  return Object.fromEntries(guarded) as Guarded;
}
