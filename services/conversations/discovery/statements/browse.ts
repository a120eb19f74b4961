/** Statements of browse: what is shown of a journey, or of events with their journeys. Everything is read from a cursor. */
import type { Database } from '#libs/orm';
import { type Parameter, type RowOf, type Sql, sql, statement, type StreamOptions, t } from '#libs/sql';
import { type Scope, scopeParams, scopeValues, withinScope } from '../../scope.ts';
import { shown } from '../../statements.ts';

const publicRow = {
  ...shown.row,
  /** JSON text of `infos.publishing`. */
  publishing: t.json.nullable,
  /** Place of the group that the row belongs to, from 1; one row for each group. */
  place: t.integer,
};
export type PublicRow = RowOf<typeof publicRow>;

/** All rows are read: the plan is made for all of them. */
export const browsePlanner = { cursor_tuple_fraction: '1' };
/** Rows that are rendered together; publishing payloads are larger than search items. */
const reading: StreamOptions = { batchSize: 500, planner: browsePlanner };

const journeySql = (journeyId: Parameter, condition: Sql = sql.empty): Sql => sql`
  select ${shown.columns}, c.infos -> 'publishing' as publishing, 1 as place
  from conversations.conversations c where c.journey_id = ${journeyId} ${condition} order by c.start_at desc nulls last, c.id`;

export const listOfJourney = statement.many({
  name: 'browse.journey',
  params: { journeyId: t.integer },
  row: publicRow,
  sql: ({ journeyId }) => journeySql(journeyId),
});

export const listOfJourneyWithin = statement.many({
  name: 'browse.journey.scope',
  params: { journeyId: t.integer, ...scopeParams },
  row: publicRow,
  sql: (params) => journeySql(params.journeyId, sql`and ${withinScope(params)}`),
});

/** All of a journey, or what of it is within the scope. */
export function streamJourney(db: Database, journeyId: number, scope: Scope | undefined): AsyncIterable<PublicRow[]> {
  return scope === undefined
    ? listOfJourney.stream(db, { journeyId }, reading)
    : listOfJourneyWithin.stream(db, { journeyId, ...scopeValues(scope) }, reading);
}

const groupParams = { eventIds: t.integer.array, journeyIds: t.integer.array };

/** Rows by group, newest first; what an event both owns and is linked to is there once. */
const groupsSql = ({ eventIds, journeyIds }: Readonly<Record<keyof typeof groupParams, Parameter>>, condition: Sql = sql.empty): Sql => sql`
  select ${shown.columns}, c.infos -> 'publishing' as publishing, g.place::integer as place
  from unnest(${eventIds}, ${journeyIds}) with ordinality as g (event_id, journey_id, place)
  cross join lateral (
    select o.* from conversations.conversations o where o.event_id = g.event_id and o.journey_id = g.journey_id
    union all
    select l.* from conversations.conversations l
    where l.connected_ids @> array[g.event_id] and l.journey_id = g.journey_id and l.event_id is distinct from g.event_id
  ) c ${condition}
  order by g.place, c.start_at desc nulls last, c.id`;

export const listOfGroups = statement.many({
  name: 'browse.groups',
  params: groupParams,
  row: publicRow,
  sql: (params) => groupsSql(params),
});

export const listOfGroupsWithin = statement.many({
  name: 'browse.groups.scope',
  params: { ...groupParams, ...scopeParams },
  row: publicRow,
  sql: (params) => groupsSql(params, sql`where ${withinScope(params)}`),
});

/** One group for each pair of event and journey, or what of it is within the scope. */
export function streamGroups(
  db: Database,
  pairs: readonly { readonly eventId: number; readonly journeyId: number }[],
  scope: Scope | undefined,
): AsyncIterable<PublicRow[]> {
  const groups = { eventIds: pairs.map(({ eventId }) => eventId), journeyIds: pairs.map(({ journeyId }) => journeyId) };
  return scope === undefined
    ? listOfGroups.stream(db, groups, reading)
    : listOfGroupsWithin.stream(db, { ...groups, ...scopeValues(scope) }, reading);
}
