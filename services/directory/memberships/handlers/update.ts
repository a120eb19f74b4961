/** Updates of memberships: the moves and the note of one request, all or nothing (rules/memberships#updates; D46, D46a). */
import type { Handler } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { directory } from '../../contract.ts';
import { updateWorkflow, type WorkflowKind } from '../../workflow/index.ts';
import { translateDuplicate } from '../new-membership.ts';
import { findMembership, lockMembership, readMembership, saveMembership } from '../statements/writes.ts';

const membership: WorkflowKind = {
  name: 'membership',
  lock: lockMembership,
  find: findMembership,
  save: saveMembership,
  read: readMembership,
};

export function createUpdateMembership(db: Database): Handler<typeof directory.rpcs.updateMembership> {
  return async ({ membership_id: id, ...request }, { actor }) => {
    try {
      return await db.transaction((tx) => updateWorkflow(tx, membership, id, request, actor));
    } catch (error) {
      throw translateDuplicate(error);
    }
  };
}
