/** Operations on relationships of the open API (rules/memberships#relationship-list, rules/memberships#updates). */
import { byUsers, nullable, rpc, singleLine, Type } from '#libs/infrastructure/contract';
import {
  anyId,
  HolonPublic,
  ifMatch,
  limitParameter,
  NoteItem,
  countedOffsetParameter,
  v1Errors,
} from '../api-objects/contract.ts';
import { newWorkflowFields, workflowChanges, workflowFields, workflowUpdateFields } from '../workflow/contract.ts';

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

export const NewRelationship = Type.Object(
  {
    from_holon_id: Type.Integer({ description: 'One holon.' }),
    to_holon_id: Type.Integer({ description: 'The other holon.' }),
    journey_slug: Type.Optional(nullable(singleLine({ description: 'Slug of a journey.' }))),
    ...newWorkflowFields,
  },
  { $id: 'RelationshipCreate' },
);

/** Error for a relationship that exists (W3). */
export const ExistingRelationship = Type.Object(
  {
    code: Type.Literal('already_present'),
    message: Type.String(),
    retryable: Type.Literal(false),
    relationship_id: Type.Integer({ description: 'The existing relationship.' }),
  },
  { $id: 'ExistingRelationship', description: 'The same relationship of the holons on that journey exists.' },
);

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
  createRelationship: rpc({
    subject: 'directory.relationships.create',
    callers: byUsers,
    idempotent: true,
    summary: 'Creates a relationship with an optional note, in one transaction (W3).',
    request: NewRelationship,
    reply: Type.Object({ relationship: Relationship }),
    errors: {
      ...v1Errors.validation(
        'A holon, journey, step, date or responsible person is unknown or not allowed, both holons are the same, or the note is blank.',
      ),
      ...v1Errors.denied('The caller cannot edit either side.'),
      already_present: {
        code: 'conflict',
        when: 'The holons have a relationship in this direction on that journey; `relationship_id` is its id.',
      },
    },
  }),
  deleteRelationship: rpc({
    subject: 'directory.relationships.delete',
    callers: byUsers,
    summary: 'Deletes a relationship. Its notes remain (W3).',
    request: Type.Object({ relationship_id: anyId('Id of the relationship.'), ...ifMatch }),
    reply: Type.Object({}),
    errors: {
      ...v1Errors.precondition,
      ...v1Errors.denied('The caller cannot edit either side.'),
      ...v1Errors.notFound('The relationship does not exist, or the caller cannot see one of its sides.'),
    },
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
