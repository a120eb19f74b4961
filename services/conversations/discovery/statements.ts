/** Statements of search, summary and browse. Lists are read from a cursor. */
import type { Database } from '#libs/infrastructure/orm';
import {
  type Parameter,
  type ParamsOf,
  type RowOf,
  type Sql,
  sql,
  statement,
  type StreamOptions,
  t,
} from '#libs/infrastructure/sql';
import { type Scope, scopeParams, scopeValues, withinScope } from '../access.ts';
import { conversationSummary, titleSource } from '../statements.ts';

const searchRow = { ...conversationSummary.row, ...titleSource.row };
export type SearchRow = RowOf<typeof searchRow>;

export type SortOrder = 'date_desc' | 'date_asc';

/** Both orders match an index; conversations without a start come last. */
const orders: Record<SortOrder, Sql> = {
  date_desc: sql`c.start_at desc nulls last, c.id`,
  date_asc: sql`c.start_at, c.id`,
};

/**
 * Makes PostgreSQL plan for the first rows. All rows are read, but in index order, and the planner must not sort the
 * whole table.
 */
export const searchPlanner = { cursor_tuple_fraction: '0.1', enable_seqscan: 'off' };

const searchParams = {
  /** Events that own the conversations. */
  eventIds: t.integer.array.nullable,
  /** Holon to which the conversations are linked. */
  connectedId: t.integer.nullable,
  /** Participant of the conversations. */
  personId: t.integer.nullable,
  scopePersonId: t.integer.nullable,
  scopeEventIds: t.integer.array.nullable,
};
type SearchParams = typeof searchParams;
const absent = Object.fromEntries(Object.keys(searchParams).map((name) => [name, null])) as Record<
  keyof SearchParams,
  null
>;

interface Filter {
  readonly params: readonly (keyof SearchParams)[];
  readonly condition: (params: Readonly<Record<keyof SearchParams, Parameter>>) => Sql;
}

/** Filters of a search. `scope` restricts it to conversations that the caller can access (D69). */
const filters = {
  event: { params: ['eventIds'], condition: ({ eventIds }) => sql`c.event_id = any(${eventIds})` },
  connected: { params: ['connectedId'], condition: ({ connectedId }) => sql`c.connected_ids @> array[${connectedId}]` },
  person: { params: ['personId'], condition: ({ personId }) => sql`c.participant_ids @> array[${personId}]` },
  scope: { params: ['scopePersonId', 'scopeEventIds'], condition: withinScope },
} as const satisfies Record<string, Filter>;
type FilterName = keyof typeof filters;
const filterNames = Object.keys(filters) as FilterName[];

/** Declares a search with the filters `names`; parameters of other filters are ignored. */
function declareSearch(sort: SortOrder, names: readonly FilterName[]) {
  const used = names.flatMap((name): Filter['params'] => filters[name].params);
  const conditions = (params: Readonly<Record<keyof SearchParams, Parameter>>): Sql =>
    names.length === 0
      ? sql.empty
      : sql`where ${sql.join(
          names.map((name) => filters[name].condition(params)),
          sql` and `,
        )}`;
  return statement.many({
    name: searchName(sort, names),
    params: Object.fromEntries(used.map((name) => [name, searchParams[name]])) as SearchParams,
    row: searchRow,
    sql: (params) => sql`
      select ${conversationSummary.columns}, ${titleSource.columns}
      from conversations.conversations c ${conditions(params)}
      order by ${orders[sort]}`,
  });
}

/**
 * Returns the name of a search statement, which is short because PostgreSQL truncates statement names to 63 characters.
 */
const searchName = (sort: SortOrder, names: readonly FilterName[]): string =>
  ['search', sort.replace('date_', ''), ...names].join('.');

const combinations = filterNames.reduce<FilterName[][]>(
  (sets, name) => [...sets, ...sets.map((set) => [...set, name])],
  [[]],
);

/** One statement per combination of filters, so that each combination gets a fitting plan. */
export const searches: ReadonlyMap<string, ReturnType<typeof declareSearch>> = new Map(
  (['date_desc', 'date_asc'] as const).flatMap((sort) =>
    combinations.map((names) => [searchName(sort, names), declareSearch(sort, names)] as const),
  ),
);

/** Filter values by parameter name. An absent value does not filter. */
export interface SearchFilters extends Partial<Omit<ParamsOf<SearchParams>, keyof typeof scopeParams>> {
  readonly scope: Scope | undefined;
}

/** Returns the statement for the filters, and its parameter values. */
export function chooseSearch({ scope, ...given }: SearchFilters, sort: SortOrder) {
  const within = scope === undefined ? undefined : scopeValues(scope);
  const values: Partial<ParamsOf<SearchParams>> = { ...given, ...within };
  const isUsed = (name: FilterName): boolean =>
    name === 'scope' ? within !== undefined : filters[name].params.some((param) => values[param] !== undefined);
  const name = searchName(sort, filterNames.filter(isUsed));
  const search = searches.get(name);
  if (search === undefined) throw new Error(`No search is named ${name}`);
  return { search, values: { ...absent, ...values } };
}

/** Returns the events that own a conversation, deleted ones included. */
export const listOwningEvents = statement.many({
  name: 'search.events',
  row: { id: t.integer },
  sql: () => sql`select distinct event_id as id from conversations.all_conversations where event_id is not null`,
});

const filterParams = {
  ...searchParams,
  journeyId: t.integer.nullable,
  stepIds: t.integer.array.nullable,
  from: t.instant.nullable,
  to: t.instant.nullable,
  /** Events whose conversations the caller cannot see (D18f). */
  hiddenEventIds: t.integer.array,
};
type FilterParams = Readonly<Record<keyof typeof filterParams, Parameter>>;

/** The conversations that match all filters; a filter that is null matches all. Deleted ones or all others. */
const matchesSql = (isDeleted: boolean, params: FilterParams): Sql => sql`
  from conversations.all_conversations c
  where c.deleted_at is ${isDeleted ? sql`not null` : sql`null`}
    and (${params.eventIds} is null or c.event_id = any(${params.eventIds}))
    and (${params.connectedId} is null or c.connected_ids @> array[${params.connectedId}])
    and (${params.personId} is null or c.participant_ids @> array[${params.personId}])
    and (${params.journeyId} is null or c.journey_id = ${params.journeyId})
    and (${params.stepIds} is null or c.step_id = any(${params.stepIds}))
    and (${params.from} is null or c.start_at >= ${params.from}) and (${params.to} is null or c.start_at < ${params.to})
    and (c.event_id is null or c.event_id <> all(${params.hiddenEventIds}))
    and (${params.scopeEventIds} is null
      or c.participant_ids @> array[${params.scopePersonId}] or c.event_id = any(${params.scopeEventIds}))`;

/** Statements of the search with the filters of W8, for deleted conversations and for all others. */
const declareFiltered = (isDeleted: boolean) => {
  const name = isDeleted ? 'search.deleted' : 'search.filtered';
  const declarePage = (sort: SortOrder) =>
    statement.many({
      name: `${name}.${sort}`,
      planned: 'each-call',
      params: { ...filterParams, limit: t.integer.nullable, offset: t.integer },
      row: searchRow,
      sql: ({ limit, offset, ...params }) => sql`
        select ${conversationSummary.columns}, ${titleSource.columns} ${matchesSql(isDeleted, params)}
        order by ${orders[sort]} limit ${limit} offset ${offset}`,
    });
  return {
    pages: { date_desc: declarePage('date_desc'), date_asc: declarePage('date_asc') },
    count: statement.one({
      name: `${name}.count`,
      planned: 'each-call',
      params: filterParams,
      row: { count: t.integer },
      sql: (params) => sql`select count(*)::integer as count ${matchesSql(isDeleted, params)}`,
    }),
  };
};
export const filteredSearch = declareFiltered(false);
export const deletedSearch = declareFiltered(true);

/** Values of the filters of W8. */
export type FilterValues = ParamsOf<typeof filterParams>;

/** Returns the columns of a summary. Returns no row when the conversation does not exist. */
export const summarizeConversation = statement.maybeOne({
  name: 'conversations.summarize',
  params: { id: t.integer },
  row: searchRow,
  sql: ({ id }) =>
    sql`select ${conversationSummary.columns}, ${titleSource.columns} from conversations.conversations c where c.id = ${id}`,
});

const publicRow = {
  ...conversationSummary.row,
  /** JSON text of `infos.publishing`. */
  publishing: t.json.nullable,
  /** Position of the row's group in the request, starting with 1. */
  ordinal: t.integer,
};
export type PublicRow = RowOf<typeof publicRow>;

/** All rows are read, so the plan is optimised for the whole result. */
export const browsePlanner = { cursor_tuple_fraction: '1' };
/**
 * Number of rows that are rendered at once. It is smaller than for search, because publishing payloads are larger than
 * search items.
 */
const streamOptions: StreamOptions = { batchSize: 500, planner: browsePlanner };

const journeySql = (journeyId: Parameter, condition: Sql = sql.empty): Sql => sql`
  select ${conversationSummary.columns}, c.infos -> 'publishing' as publishing, 1 as ordinal
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

/** Streams the conversations of a journey within the scope. */
export function streamJourney(db: Database, journeyId: number, scope: Scope | undefined): AsyncIterable<PublicRow[]> {
  return scope === undefined
    ? listOfJourney.stream(db, { journeyId }, streamOptions)
    : listOfJourneyWithin.stream(db, { journeyId, ...scopeValues(scope) }, streamOptions);
}

const groupParams = { eventIds: t.integer.array, journeyIds: t.integer.array };

/**
 * Selects conversations by group, newest first. A conversation that is both owned by and linked to an event appears
 * once.
 */
const groupsSql = (
  { eventIds, journeyIds }: Readonly<Record<keyof typeof groupParams, Parameter>>,
  condition: Sql = sql.empty,
): Sql => sql`
  select ${conversationSummary.columns}, c.infos -> 'publishing' as publishing, g.ordinal::integer as ordinal
  from unnest(${eventIds}, ${journeyIds}) with ordinality as g (event_id, journey_id, ordinal)
  cross join lateral (
    select o.* from conversations.conversations o where o.event_id = g.event_id and o.journey_id = g.journey_id
    union all
    select l.* from conversations.conversations l
    where l.connected_ids @> array[g.event_id] and l.journey_id = g.journey_id and l.event_id is distinct from g.event_id
  ) c ${condition}
  order by g.ordinal, c.start_at desc nulls last, c.id`;

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

/** Streams the conversations of each pair of event and journey within the scope. */
export function streamGroups(
  db: Database,
  pairs: readonly { readonly eventId: number; readonly journeyId: number }[],
  scope: Scope | undefined,
): AsyncIterable<PublicRow[]> {
  const groups = { eventIds: pairs.map(({ eventId }) => eventId), journeyIds: pairs.map(({ journeyId }) => journeyId) };
  return scope === undefined
    ? listOfGroups.stream(db, groups, streamOptions)
    : listOfGroupsWithin.stream(db, { ...groups, ...scopeValues(scope) }, streamOptions);
}
