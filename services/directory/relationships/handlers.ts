/** Relationships: the list of a holon, and updates, all or nothing (rules/memberships#relationship-list, rules/memberships#updates; D46, D46a, D48). */
import type { EventOutbox } from '#libs/feed';
import type { IdempotencyStore } from '#libs/idempotency';
import type { HandlersOf } from '#libs/nats';
import type { Database } from '#libs/orm';
import { tellRelationship } from '../events/index.ts';
import { bodyOf } from '../lists/index.ts';
import { readViewer } from '../visibility/index.ts';
import { updateWorkflow, type WorkflowKind } from '../workflow/index.ts';
import { type relationshipRpcs, relationshipsPerPage } from './contract.ts';
import { findRelationship, listHolonRelationships, lockRelationship, readRelationship, saveRelationship } from './statements.ts';

const relationship: WorkflowKind = {
  name: 'relationship',
  lock: lockRelationship,
  find: findRelationship,
  save: saveRelationship,
  read: readRelationship,
  tell: (eventOutbox, tx, id, { holonIds: [fromId = 0, toId = 0], journey_id, journey }) =>
    tellRelationship(eventOutbox, tx, 'updated', id, { from_holon_id: fromId, to_holon_id: toId, journey_id, journey }),
};

export function createRelationshipHandlers({
  db,
  idempotency,
  eventOutbox,
}: {
  db: Database;
  idempotency: IdempotencyStore;
  eventOutbox: EventOutbox;
}): HandlersOf<typeof relationshipRpcs> {
  return {
    listHolonRelationships: async ({ holon_id: holonId, limit = relationshipsPerPage, offset = 0 }, { actor }) =>
      bodyOf(await listHolonRelationships(db, { holonId, limit, offset, ...readViewer(actor) })),
    updateRelationship: (request, context) =>
      idempotency.run(context, request, (tx) => {
        const { relationship_id: id, ...update } = request;
        return updateWorkflow(eventOutbox, tx, relationship, id, update, context.actor);
      }),
  };
}
