/** Conversation events and the journeys that they own, as far as the caller may see them (D10, D11, D18d, D18f). */
import { statement } from '#libs/orm';
import { holonVisibleSql } from '../visibility.ts';

/** List of ConversationEvent. The parent is named to those who may see it. */
function eventListSql(from: string, viewer: number): string {
  return `select coalesce(json_agg(json_build_object('id', h.id, 'slug', h.slug, 'name', h.name, 'type', c.slug,
       'parent_id', p.id, 'parent_slug', p.slug) order by h.name, h.id), '[]')::text as body
     from ${from}
     join directory.object_classes c on c.id = h.class_id and c.conversation_event
     left join (directory.holons p join directory.object_classes k on k.id = p.class_id)
       on p.id = h.parent_id and ${holonVisibleSql('p', 'k', viewer)}
     where ${holonVisibleSql('h', 'c', viewer)}`;
}

/** `$1`, `$2` = viewer; one row with every event. */
export const listAllEvents = statement('events.list-all', eventListSql('directory.holons h', 1));

/** `$1` = slug, `$2`, `$3` = viewer; the holon and its descendants, as far as they are events. The body is null when the holon is absent or
 * invisible. `offset 0` keeps the look-up by id, whatever the planner expects of the size of a tree. */
export const listEventsBelow = statement(
  'events.list-below',
  `with recursive root as (
     select r.id from directory.holons r join directory.object_classes t on t.id = r.class_id
     where r.slug = $1::text and ${holonVisibleSql('r', 't', 2)}
   ), tree as (
     select id from root
     union select below.id from directory.holons below join tree on below.parent_id = tree.id
   )
   select case when exists (select from root) then events.body end as body
   from (${eventListSql('tree cross join lateral (select * from directory.holons where id = tree.id offset 0) h', 2)}) as events`,
);

/** `$1` = slug, `$2`, `$3` = viewer; one row with the list of EventJourney, none when there is no such event for the caller. */
export const listEventJourneys = statement(
  'events.list-journeys',
  `select coalesce((
     select json_agg(json_build_object('id', j.id, 'slug', j.slug, 'name', j.name, 'description', j.description, 'step_count',
       (select count(*) from directory.journey_steps s where s.journey_id = j.id and not s.is_archived)) order by a.position, j.id)
     from directory.holon_journeys a join directory.journeys j on j.id = a.journey_id and j.is_conversation
     where a.holon_id = h.id), '[]')::text as body
   from directory.holons h join directory.object_classes c on c.id = h.class_id and c.conversation_event
   where h.slug = $1::text and ${holonVisibleSql('h', 'c', 2)}`,
);
