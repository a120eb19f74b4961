/** Relationships: the list of a holon, and updates, all or nothing (rules/memberships#relationship-list, rules/memberships#updates; D46, D46a, D48). */
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import { bodyOf } from '../body.ts';
import type { directory } from '../contract.ts';
import { readViewer } from '../viewer.ts';
import { updateWorkflow, type WorkflowKind } from '../workflow/index.ts';
import type { relationshipRpcs } from './contract.ts';
import { findRelationship, listHolonRelationships, lockRelationship, readRelationship, saveRelationship } from './statements.ts';

const relationship: WorkflowKind = {
  name: 'relationship',
  lock: lockRelationship,
  find: findRelationship,
  save: saveRelationship,
  read: readRelationship,
};

/** Items of a page when the caller does not say (rules/http#limits). */
const usualLimit = 50;

export function createRelationshipHandlers(db: Database): Pick<Handlers<typeof directory>, keyof typeof relationshipRpcs> {
  return {
    listHolonRelationships: async ({ holon_id: holonId, limit = usualLimit }, { actor }) =>
      bodyOf(await listHolonRelationships(db, { holonId, limit, ...readViewer(actor) })),
    updateRelationship: ({ relationship_id: id, ...request }, { actor }) =>
      db.transaction((tx) => updateWorkflow(tx, relationship, id, request, actor)),
  };
}
