/** Statements of search, summary and browse. Everything is read from a cursor. */
import { statement, type Statement } from '#libs/orm';
import type { Scope } from '../access.ts';
import { scopeSql, titleColumns } from '../statements.ts';

const shownColumns = `c.id, c.journey_id, c.step_id, c.event_id,
  c.participant_ids::text as participants, c.connected_ids::text as connected,
  c.start_at at time zone 'UTC' as start, c.finish_at at time zone 'UTC' as finish`;

export type SortOrder = 'date_desc' | 'date_asc';

/** Both orders are those of an index, conversations without a start last. */
const orders: Record<SortOrder, string> = {
  date_desc: 'c.start_at desc nulls last, c.id',
  date_asc: 'c.start_at, c.id',
};

/** Everything is read, yet in an order that an index has: the plan is made for the first rows, and never reads the whole table to sort it. */
export const searchPlanner = { cursor_tuple_fraction: '0.1', enable_seqscan: 'off' };
/** All rows are read: the plan is made for all of them. */
export const browsePlanner = { cursor_tuple_fraction: '1' };

/** What a search is narrowed by; undefined = not. */
export interface SearchFilters {
  /** Owning events. */
  readonly eventIds: readonly number[] | undefined;
  /** Linked holon. */
  readonly connectedId: number | undefined;
  /** Participant. */
  readonly personId: number | undefined;
  /** What the caller may know of them (D69). */
  readonly scope: Scope | undefined;
}

/** One statement for each combination, so that each gets the plan that fits it. */
export function searchConversations(filters: SearchFilters, sort: SortOrder): { statement: Statement; params: unknown[] } {
  const params: unknown[] = [];
  const conditions: string[] = [];
  const names: string[] = [];
  const narrow = (name: string, value: unknown, condition: (place: string) => string): void => {
    if (value === undefined) return;
    params.push(value);
    names.push(name);
    conditions.push(condition(`$${params.length}`));
  };
  narrow('event', filters.eventIds, (place) => `c.event_id = any(${place}::integer[])`);
  narrow('connected', filters.connectedId, (place) => `c.connected_ids @> array[${place}::integer]`);
  narrow('person', filters.personId, (place) => `c.participant_ids @> array[${place}::integer]`);
  if (filters.scope !== undefined) {
    names.push('scope');
    conditions.push(scopeSql('c', params.length + 1));
    params.push(filters.scope.personId, filters.scope.eventIds);
  }
  const text = `select ${shownColumns}, ${titleColumns}
    from conversations.conversations c ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
    order by ${orders[sort]}`;
  return { statement: statement(['conversations.search', sort.replace('_', '-'), ...names].join('.'), text), params };
}

export const summarizeConversation = statement(
  'conversations.summarize',
  `select ${shownColumns}, ${titleColumns} from conversations.conversations c where c.id = $1`,
);

/** All of a journey, or what of it is within the scope. */
export function browseJourney(journeyId: number, scope: Scope | undefined): { statement: Statement; params: unknown[] } {
  const text = (condition: string): string => `select ${shownColumns}, c.infos -> 'publishing' as publishing, 1 as place
    from conversations.conversations c where c.journey_id = $1${condition} order by c.start_at desc nulls last, c.id`;
  if (scope === undefined) return { statement: statement('browse.journey', text('')), params: [journeyId] };
  const params = [journeyId, scope.personId, scope.eventIds];
  return { statement: statement('browse.journey.scope', text(` and ${scopeSql('c', 2)}`)), params };
}

/** One group for each pair of event and journey. Rows by group, newest first; what an event both owns and is linked to is there once. */
export function browseGroups(
  pairs: readonly { readonly eventId: number; readonly journeyId: number }[],
  scope: Scope | undefined,
): { statement: Statement; params: unknown[] } {
  const params: unknown[] = [pairs.map(({ eventId }) => eventId), pairs.map(({ journeyId }) => journeyId)];
  if (scope === undefined) return { statement: statement('browse.groups', groupsSql('')), params };
  params.push(scope.personId, scope.eventIds);
  return { statement: statement('browse.groups.scope', groupsSql(`where ${scopeSql('c', 3)}`)), params };
}

const groupsSql = (condition: string): string =>
  `select ${shownColumns}, c.infos -> 'publishing' as publishing, g.place::integer as place
   from unnest($1::integer[], $2::integer[]) with ordinality as g (event_id, journey_id, place)
   cross join lateral (
     select o.* from conversations.conversations o where o.event_id = g.event_id and o.journey_id = g.journey_id
     union all
     select l.* from conversations.conversations l
     where l.connected_ids @> array[g.event_id] and l.journey_id = g.journey_id and l.event_id is distinct from g.event_id
   ) c ${condition}
   order by g.place, c.start_at desc nulls last, c.id`;
