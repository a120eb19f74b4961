/** Memberships, relationships, notes and the worklist of the open API (rules/memberships#lists). */
import type { Database } from '#libs/orm';
import type { Clock } from '#libs/time';
import type { DirectoryConfig } from '../../config.ts';
import { createBulkAddHandlers } from '../../memberships/handlers/bulk-add.ts';
import { createWorkflowListHandlers } from '../../memberships/handlers/lists.ts';
import { createWorkflowUpdateHandlers } from '../../workflow/update.ts';

export function createWorkflowHandlers({ db, config, clock }: { db: Database; config: DirectoryConfig; clock: Clock }) {
  return {
    ...createWorkflowListHandlers({ db, clock, timeZone: config.WORKLIST_TIME_ZONE }),
    ...createWorkflowUpdateHandlers(db),
    ...createBulkAddHandlers({ db, waitMs: config.BULK_ADD_WAIT_MS }),
  };
}
