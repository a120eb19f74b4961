/**
 * Handlers of relationships: list of a holon, and updates (rules/memberships#relationship-list,
 * rules/memberships#updates; D46, D46a, D48).
 */
import type { HandlersOf } from '#libs/nats';
import type { Dependencies } from '../dependencies.ts';
import { emitRelationship } from '../events/index.ts';
import { bodyOf } from '../lists/index.ts';
import { readViewer } from '../visibility/index.ts';
import { updateWorkflow, type WorkflowKind } from '../workflow/index.ts';
import { type relationshipRpcs, relationshipsPerPage } from './contract.ts';
import {
  findRelationship,
  listHolonRelationships,
  lockRelationship,
  readRelationship,
  saveRelationship,
} from './statements.ts';

const relationship: WorkflowKind = {
  name: 'relationship',
  lock: lockRelationship,
  find: findRelationship,
  save: saveRelationship,
  read: readRelationship,
  emit: (eventOutbox, tx, id, { holonIds: [fromId = 0, toId = 0], journey_id, journey }) =>
    emitRelationship(eventOutbox, tx, 'updated', id, { from_holon_id: fromId, to_holon_id: toId, journey_id, journey }),
};

export function createRelationshipHandlers({
  db,
  idempotency,
  eventOutbox,
}: Pick<Dependencies, 'db' | 'idempotency' | 'eventOutbox'>): HandlersOf<typeof relationshipRpcs> {
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
