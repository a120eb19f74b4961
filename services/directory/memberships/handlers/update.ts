/** Updates of memberships: the moves and the note of one request, all or nothing (rules/memberships#updates; D46, D46a). */
import type { EventOutbox } from '#libs/feed';
import type { IdempotencyStore } from '#libs/idempotency';
import type { Handler } from '#libs/nats';
import type { directory } from '../../contract.ts';
import { tellMembership } from '../../feed/index.ts';
import { updateWorkflow, type WorkflowKind } from '../../workflow/index.ts';
import { translateDuplicate } from '../new-membership.ts';
import { findMembership, lockMembership, readMembership, saveMembership } from '../statements/writes.ts';

const membership: WorkflowKind = {
  name: 'membership',
  lock: lockMembership,
  find: findMembership,
  save: saveMembership,
  read: readMembership,
  tell: (eventOutbox, tx, id, { personIds: [personId = 0], holonIds: [holonId = 0], ...onJourney }) =>
    tellMembership(eventOutbox, tx, 'updated', id, { person_id: personId, holon_id: holonId, ...onJourney }),
};

export function createUpdateMembership({
  idempotency,
  eventOutbox,
}: {
  idempotency: IdempotencyStore;
  eventOutbox: EventOutbox;
}): Handler<typeof directory.rpcs.updateMembership> {
  return (request, context) =>
    idempotency.run(context, request, async (tx) => {
      const { membership_id: id, ...update } = request;
      try {
        return await updateWorkflow(eventOutbox, tx, membership, id, update, context.actor);
      } catch (error) {
        throw translateDuplicate(error);
      }
    });
}
