/** Relationships of the open API (rules/memberships#relationship-list, rules/memberships#updates). */
import { byUsers, rpc, Type } from '#libs/contract';
import { anyId, HolonPublic, ifMatch, limitParameter, NoteItem, placeParameter, v1Errors } from '../api-objects/contract.ts';
import { workflowChanges, workflowFields, workflowUpdateFields } from '../workflow/contract.ts';

export const Relationship = Type.Object(
  { relationship_id: Type.Integer(), from_holon: HolonPublic, to_holon: HolonPublic, ...workflowFields },
  { $id: 'Relationship', description: 'A relation between two holons, at a point of a journey.' },
);

/** Items of a page when the caller does not say (rules/http#limits). */
export const relationshipsPerPage = 50;

export const holonRelationshipsQuery = Type.Object({
  limit: limitParameter({ usual: relationshipsPerPage, most: 200 }),
  offset: placeParameter,
});

export const RelationshipUpdate = Type.Object(workflowUpdateFields, { $id: 'RelationshipUpdate' });

/** To be spread into the contract of the directory. */
export const relationshipRpcs = {
  listHolonRelationships: rpc({
    subject: 'directory.holons.list-relationships',
    callers: byUsers,
    summary: 'Relationships of a holon whose other side the caller may see (rules/memberships#relationship-list).',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...holonRelationshipsQuery.properties }),
    reply: Type.Object({
      count: Type.Integer({ minimum: 0, description: 'Matches in total, not only those returned.' }),
      items: Type.Array(Relationship, { description: 'By journey name, name of the other side and id.' }),
    }),
    errors: v1Errors.notFound('No holon has the id, or the caller may not see it.'),
  }),
  updateRelationship: rpc({
    subject: 'directory.relationships.update',
    callers: byUsers,
    idempotent: true,
    summary: 'Moves or dates a relationship, with a note; all or nothing (rules/memberships#updates).',
    request: Type.Object({ relationship_id: anyId('Id of the relationship.'), ...RelationshipUpdate.properties, ...ifMatch }),
    reply: Type.Object({
      relationship: Relationship,
      note: NoteItem,
      changes: Type.Object(workflowChanges, {
        $id: 'RelationshipChanges',
        description: 'Only what changed; `current_step` also when another step has the same slug.',
      }),
    }),
    errors: {
      ...v1Errors.precondition,
      ...v1Errors.validation('A field cannot be as it is sent, or there is no such step.'),
      ...v1Errors.denied('The caller may edit neither side.'),
      ...v1Errors.notFound('No relationship has the id, or the caller may not see one of its sides.'),
    },
  }),
} as const;
