/** The follow-up worklist of the open API (rules/memberships#worklist; D47a, D50). */
import { byUsers, listParameter, rpc, type Static, Type } from '#libs/contract';
import { anyId, HolonPublic, limitParameter, offsetParameter, page, PersonPublic, v1Errors } from '../api-objects/contract.ts';
import { workflowFields } from '../workflow/contract.ts';

export const WorklistItem = Type.Union(
  [
    Type.Object(
      { kind: Type.Literal('person'), id: Type.Integer(), ...workflowFields, person: PersonPublic, holon: HolonPublic },
      { $id: 'WorklistMembership' },
    ),
    Type.Object(
      { kind: Type.Literal('holon'), id: Type.Integer(), ...workflowFields, from_holon: HolonPublic, to_holon: HolonPublic },
      { $id: 'WorklistRelationship' },
    ),
  ],
  { $id: 'WorklistItem', description: 'Something to follow up: a membership (`person`) or a relationship (`holon`), with its id.' },
);

/** Items of a page when the caller does not say (rules/http#limits). */
export const worklistItemsPerPage = 100;

export const worklistQuery = Type.Object({
  responsible: Type.Optional(anyId('Person who is responsible; absent = whoever, nobody included.')),
  type: Type.Optional(
    listParameter({
      description: '`person` for memberships; slugs of classes for relationships that involve the class or one below it. Absent = all.',
    }),
  ),
  when: Type.Optional(
    listParameter({
      words: ['overdue', 'today', 'future'],
      description: 'Subset of `overdue`, `today` and `future`; leaves undated items out. Today is that of `WORKLIST_TIME_ZONE`.',
    }),
  ),
  limit: limitParameter({ usual: worklistItemsPerPage, most: 100 }),
  offset: offsetParameter,
});
export type WorklistQuery = Static<typeof worklistQuery>;

/** To be spread into the contract of the directory. */
export const worklistRpcs = {
  listResponsible: rpc({
    subject: 'directory.worklist.list',
    callers: byUsers,
    summary: 'Memberships and relationships to follow up, by date, undated last (rules/memberships#worklist).',
    request: worklistQuery,
    reply: page(WorklistItem),
    errors: v1Errors.validation('`type` names neither `person` nor a class of holons, or `when` none of its choices.'),
  }),
} as const;
