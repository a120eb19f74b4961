/**
 * Reads the objects that the measured requests use from a filled database. All callers can see them, and they have the
 * same number of conversations at every size.
 */
import type { Pool } from 'pg';
import { childrenPerHolon, conversationsPerJourney } from './seed-sql.ts';

export interface Targets {
  conversationIds: number[];
  /** Open events, each of which owns the conversations of one journey. */
  events: string[];
  /** Holons whose ten children are such events. */
  locations: string[];
  /** Holons with about 30 links. */
  linked: string[];
  /** People in about ten conversations. */
  guests: number[];
  /** Combined filters that at least one conversation matches. The location has ten children. */
  combinations: { holon_slug: string; connected_holon_slug: string; person_id: number }[];
  journeys: { id: number; slug: string; event_slug: string }[];
  /** Guest, journey and time of existing conversations. */
  meetings: { person_id: number; journey: string; time: string }[];
}

const usualLinks = 30;
const usualMeetings = 10;

/**
 * Shortens each list to the number of objects that both sizes have: with more objects on one side, the difference of
 * caches would be measured.
 */
export function alignTargets(left: Targets, right: Targets): [Targets, Targets] {
  const shorten = (targets: Targets, other: Targets): Targets => {
    const entries = Object.entries(targets) as [keyof Targets, Targets[keyof Targets]][];
    return Object.fromEntries(
      entries.map(([kind, list]) => [kind, list.slice(0, other[kind].length)]),
    ) as unknown as Targets;
  };
  return [shorten(left, right), shorten(right, left)];
}

/** @param most maximum number of objects of each type */
export async function readTargets(pool: Pool, most: number): Promise<Targets> {
  const list = async <Row extends object>(sql: string): Promise<Row[]> => {
    const { rows } = await pool.query<Row>(`${sql} limit ${most}`);
    if (rows.length === 0) throw new Error(`The filled database has no row for: ${sql}`);
    return rows;
  };
  const values = async <Value>(sql: string): Promise<Value[]> =>
    (await list<{ value: Value }>(sql)).map((row) => row.value);
  const owned = `select event_id, count(*) as owned from conversations.conversations group by event_id`;
  const conversations = 'conversations.conversations c';
  const isOpen = (holon: string): string =>
    `exists (select from directory.object_classes where id = ${holon}.class_id and not effective_private)`;
  return {
    conversationIds: await values(
      `select c.id as value from ${conversations} join directory.holons e on e.id = c.event_id where ${isOpen('e')} order by hashint4(c.id)`,
    ),
    events: await values(
      `select h.slug as value from (${owned}) as o join directory.holons h on h.id = o.event_id
       where o.owned = ${conversationsPerJourney} and ${isOpen('h')} order by hashint4(h.id)`,
    ),
    locations: await values(
      `select p.slug as value from (${owned}) as o join directory.holons h on h.id = o.event_id join directory.holons p on p.id = h.parent_id
       where o.owned = ${conversationsPerJourney} group by p.id having count(*) = ${childrenPerHolon} order by hashint4(p.id)`,
    ),
    linked: await values(
      `select h.slug as value from (select unnest(connected_ids) as id, count(*) as links from ${conversations} group by 1) as l
       join directory.holons h on h.id = l.id where ${isOpen('h')} order by abs(l.links - ${usualLinks}), hashint4(h.id)`,
    ),
    guests: await values(
      `select person as value from (select unnest(participant_ids[2:]) as person, count(*) as meetings from ${conversations} group by 1) as p
       order by abs(meetings - ${usualMeetings}), hashint4(person)`,
    ),
    combinations: await list(
      `select p.slug as holon_slug, l.slug as connected_holon_slug, c.participant_ids[2] as person_id
       from ${conversations} join directory.holons e on e.id = c.event_id join directory.holons p on p.id = e.parent_id
       join directory.holons l on l.id = c.connected_ids[1]
       join (select parent_id as id from directory.holons group by parent_id having count(*) = ${childrenPerHolon}) as whole on whole.id = p.id
       where ${isOpen('e')} and ${isOpen('l')} and p.parent_id is not null order by hashint4(c.id)`,
    ),
    journeys: await list(
      `select j.id, j.slug, h.slug as event_slug from directory.journeys j join directory.holon_journeys a on a.journey_id = j.id
       join directory.holons h on h.id = a.holon_id where ${isOpen('h')}
       order by hashint4(j.id)`,
    ),
    meetings: await list(
      `select c.participant_ids[2] as person_id, j.slug as journey, to_char(c.start_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as time
       from ${conversations} join directory.journeys j on j.id = c.journey_id where c.start_at is not null order by hashint4(c.id)`,
    ),
  };
}
