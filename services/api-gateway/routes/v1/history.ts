/** History of the directory's objects (W10). */
import { type CallingRoute, route, type Scope, Type } from '#libs/infrastructure/contract';
import { directory, historyQuery } from '#services/directory';

const { listHistory } = directory.rpcs;

type Kind = 'people' | 'holons' | 'memberships' | 'relationships' | 'journeys' | 'classes' | 'accounts';

interface HistoryOf {
  readonly kind: Kind;
  readonly operationId: string;
  readonly tag: string;
  readonly name: string;
  readonly scope: Scope;
}

/** Objects whose path has one segment. */
const objects: readonly HistoryOf[] = [
  { kind: 'people', operationId: 'listPersonHistory', tag: 'people', name: 'person', scope: 'directory:read' },
  { kind: 'holons', operationId: 'listHolonHistory', tag: 'holons', name: 'holon', scope: 'directory:read' },
  {
    kind: 'memberships',
    operationId: 'listMembershipHistory',
    tag: 'memberships',
    name: 'membership',
    scope: 'directory:read',
  },
  {
    kind: 'relationships',
    operationId: 'listRelationshipHistory',
    tag: 'relationships',
    name: 'relationship',
    scope: 'directory:read',
  },
  { kind: 'journeys', operationId: 'listJourneyHistory', tag: 'journeys', name: 'journey', scope: 'workspace:read' },
  { kind: 'accounts', operationId: 'listAccountHistory', tag: 'accounts', name: 'account', scope: 'accounts:write' },
];

const description =
  'Newest first. Entries are stored for `HISTORY_RETENTION_DAYS`. Values of secrets are not stored; an entry says only that they changed.';
const replies = { 200: { description: 'A page of changes.', schema: listHistory.reply } };

const routeOf = ({ kind, operationId, tag, name, scope }: HistoryOf): CallingRoute =>
  route({
    method: 'GET',
    path: `/api/v1/${kind}/{id}/history`,
    operationId,
    tag,
    summary: `List changes of a ${name}`,
    description,
    auth: 'v1',
    scope,
    params: Type.Object({
      id:
        kind === 'journeys'
          ? Type.String({ description: 'Id or slug of the journey.' })
          : Type.Integer({ description: `Id of the ${name}.` }),
    }),
    query: historyQuery,
    rpc: listHistory,
    toRequest: ({ params, query }) => ({ ...query, kind, id: String(params.id) }),
    replies,
  });

export const historyRoutes = [
  ...objects.map(routeOf),
  route({
    method: 'GET',
    path: '/api/v1/classes/{object_kind}/{slug}/history',
    operationId: 'listClassHistory',
    tag: 'classes',
    summary: 'List changes of a class',
    description,
    auth: 'v1',
    scope: 'workspace:read',
    params: Type.Object({
      object_kind: Type.String({ description: 'For example `holon`.' }),
      slug: Type.String({ description: 'Slug of the class.' }),
    }),
    query: historyQuery,
    rpc: listHistory,
    toRequest: ({ params, query }) => ({
      ...query,
      kind: 'classes' as const,
      id: `${params.object_kind}/${params.slug}`,
    }),
    replies,
  }),
];
