/** Operations on the follow-up worklist of the open API (rules/memberships#worklist; D47a, D50). */
import { byUsers, listParameter, rpc, type Static, Type } from '#libs/infrastructure/contract';
import {
  anyId,
  HolonPublic,
  limitParameter,
  offsetParameter,
  page,
  PersonPublic,
  v1Errors,
} from '../api-objects/contract.ts';
import { workflowFields } from '../workflow/contract.ts';

export const WorklistItem = Type.Union(
  [
    Type.Object(
      { kind: Type.Literal('person'), id: Type.Integer(), ...workflowFields, person: PersonPublic, holon: HolonPublic },
      { $id: 'WorklistMembership' },
    ),
    Type.Object(
      {
        kind: Type.Literal('holon'),
        id: Type.Integer(),
        ...workflowFields,
        from_holon: HolonPublic,
        to_holon: HolonPublic,
      },
      { $id: 'WorklistRelationship' },
    ),
  ],
  {
    $id: 'WorklistItem',
    description: 'An item to follow up: a membership (`person`) or relationship (`holon`), with its id.',
  },
);

/** Default page size (rules/http#limits). */
export const worklistItemsPerPage = 100;

export const worklistQuery = Type.Object({
  responsible: Type.Optional(anyId('Responsible person. Absent: any or no person.')),
  type: Type.Optional(
    listParameter({
      description:
        '`person` for memberships; class slugs for relationships that involve the class or a subclass. Absent: all.',
    }),
  ),
  when: Type.Optional(
    listParameter({
      words: ['overdue', 'today', 'future'],
      description:
        "Subset of `overdue`, `today` and `future`; excludes undated items. Today's date is in `WORKLIST_TIME_ZONE`.",
    }),
  ),
  limit: limitParameter({ usual: worklistItemsPerPage, most: 100 }),
  offset: offsetParameter,
});
export type WorklistQuery = Static<typeof worklistQuery>;

export const worklistRpcs = {
  listResponsible: rpc({
    subject: 'directory.worklist.list',
    callers: byUsers,
    summary: 'Lists memberships and relationships to follow up, by date, undated last (rules/memberships#worklist).',
    request: worklistQuery,
    reply: page(WorklistItem),
    errors: v1Errors.validation('`type` contains an unknown class, or `when` is invalid.'),
  }),
} as const;
