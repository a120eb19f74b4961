/** Operations on relationships of the open API (rules/memberships#relationship-list, rules/memberships#updates). */
import { byUsers, rpc, Type } from '#libs/contract';
import {
  anyId,
  HolonPublic,
  ifMatch,
  limitParameter,
  NoteItem,
  countedOffsetParameter,
  v1Errors,
} from '../api-objects/contract.ts';
import { workflowChanges, workflowFields, workflowUpdateFields } from '../workflow/contract.ts';

export const Relationship = Type.Object(
  { relationship_id: Type.Integer(), from_holon: HolonPublic, to_holon: HolonPublic, ...workflowFields },
  { $id: 'Relationship', description: 'A relation between two holons, at a step of a journey.' },
);

/** Default page size (rules/http#limits). */
export const relationshipsPerPage = 50;

export const holonRelationshipsQuery = Type.Object({
  limit: limitParameter({ usual: relationshipsPerPage, most: 200 }),
  offset: countedOffsetParameter,
});

export const RelationshipUpdate = Type.Object(workflowUpdateFields, { $id: 'RelationshipUpdate' });

export const relationshipRpcs = {
  listHolonRelationships: rpc({
    subject: 'directory.holons.list-relationships',
    callers: byUsers,
    summary: 'Lists relationships of a holon whose other side is visible (rules/memberships#relationship-list).',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...holonRelationshipsQuery.properties }),
    reply: Type.Object({
      count: Type.Integer({ minimum: 0, description: 'Total number of matches.' }),
      items: Type.Array(Relationship, { description: 'By journey name, name of the other side and id.' }),
    }),
    errors: v1Errors.notFound('The holon does not exist, or the caller cannot see it.'),
  }),
  updateRelationship: rpc({
    subject: 'directory.relationships.update',
    callers: byUsers,
    idempotent: true,
    summary: 'Updates step and date of a relationship with a note, in one transaction (rules/memberships#updates).',
    request: Type.Object({
      relationship_id: anyId('Id of the relationship.'),
      ...RelationshipUpdate.properties,
      ...ifMatch,
    }),
    reply: Type.Object({
      relationship: Relationship,
      note: NoteItem,
      changes: Type.Object(workflowChanges, {
        $id: 'RelationshipChanges',
        description: 'Changed fields only; `current_step` also if the new step has the same slug.',
      }),
    }),
    errors: {
      ...v1Errors.precondition,
      ...v1Errors.validation('A field is invalid, or the step does not exist.'),
      ...v1Errors.denied('The caller cannot edit either side.'),
      ...v1Errors.notFound('The relationship does not exist, or the caller cannot see one of its sides.'),
    },
  }),
} as const;
