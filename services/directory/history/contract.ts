/** History of people, holons, memberships, relationships, journeys, classes and accounts (W10). */
import { byGateway, byUsers, nullable, rowId, rpc, Type, withoutActor } from '#libs/infrastructure/contract';
import { historyItem } from '#libs/product/history';
import { limitParameter, v1Errors } from '../api-objects/contract.ts';

/** Default page size (rules/http#limits). */
export const historyPerPage = 50;

export const historyQuery = Type.Object({
  limit: limitParameter({ usual: historyPerPage, most: 200 }),
  cursor: Type.Optional(Type.String({ maxLength: 20, description: '`next` of the previous page.' })),
});

export const historyRpcs = {
  listHistory: rpc({
    subject: 'directory.history.list',
    callers: byUsers,
    summary: 'Lists changes of one object for callers that may edit it (W10).',
    request: Type.Object({
      kind: Type.Enum(['people', 'holons', 'memberships', 'relationships', 'journeys', 'classes', 'accounts']),
      id: Type.String({ maxLength: 300, description: 'Id of the object; slug of a journey or holon class.' }),
      ...historyQuery.properties,
    }),
    reply: Type.Object({
      items: Type.Array(historyItem, { description: 'Newest first.' }),
      next: nullable(Type.String({ description: '`cursor` of the next page; null after the last one.' })),
    }),
    errors: {
      ...v1Errors.notFound('The object does not exist, or the caller cannot see it.'),
      ...v1Errors.denied('The caller may not edit the object.'),
      ...v1Errors.validation('The cursor is invalid.'),
    },
  }),
  nameActors: rpc({
    subject: 'directory.history.name-actors',
    callers: { agents: withoutActor, ...byGateway },
    summary: 'Returns the names of the people of accounts, for histories of other services and timelines (W9, W10).',
    request: Type.Object({ ids: Type.Array(rowId, { maxItems: 200, description: 'Accounts.' }) }),
    reply: Type.Object({
      items: Type.Array(Type.Object({ account_id: rowId, name: Type.String() }), {
        description: 'Accounts that exist and have a person.',
      }),
    }),
  }),
} as const;
