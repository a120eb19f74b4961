/**
 * Statements for browse, look-ups, conversation events and their journeys, limited to what the caller can see (D10,
 * D11, D18d, D18f). PostgreSQL builds the JSON.
 */
import { type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { infoFieldGroupsSql } from '../classes/index.ts';
import { bodyRow } from '../lists/index.ts';
import { holonVisibleSql, viewerParams, type ViewerSql } from '../visibility/index.ts';

function refSql(holon: string, objectClass: string): Sql {
  const row = sql.id(holon);
  return sql`'id', ${row}.id, 'slug', ${row}.slug, 'name', ${row}.name, 'type', ${sql.id(objectClass)}.slug`;
}

/** Returns a BrowsedHolon. Returns no row if the holon does not exist or is invisible (D18c). */
export const browseHolon = statement.maybeOne({
  name: 'browse.holon',
  params: { slug: t.text, ...viewerParams },
  row: bodyRow,
  sql: ({ slug, ...viewer }) => sql`
    select json_build_object(
      'holon', json_build_object(${refSql('h', 'c')}),
      'events', coalesce((
        select json_agg(json_build_object(${refSql('e', 'k')}, 'journeys', json_build_object('scope', 'direct', 'items', coalesce((
          select json_agg(json_build_object('id', j.id, 'slug', j.slug, 'name', j.name, 'description', j.description, 'source', 'direct')
            order by a.position, j.id)
          from directory.holon_journeys a join directory.journeys j on j.id = a.journey_id and j.is_conversation
          where a.holon_id = e.id), '[]'))) order by e.search_name, e.id)
        from directory.holons e join directory.object_classes k on k.id = e.class_id and k.conversation_event
        where e.parent_id = h.id and ${holonVisibleSql('e', 'k', viewer)}), '[]'))::text as body
    from directory.holons h join directory.object_classes c on c.id = h.class_id
    where h.slug = ${slug} and ${holonVisibleSql('h', 'c', viewer)}`,
});

/** Returns a list of PublicPerson. */
export const lookUpPeople = statement.one({
  name: 'browse.people',
  params: { ids: t.integer.array },
  row: bodyRow,
  sql: ({ ids }) => sql`
    select coalesce(json_agg(json_build_object('id', p.id, 'name', p.name, 'photo', p.photo_url, 'contact', p.contact) order by p.id),
      '[]')::text as body
    from directory.people p where p.id = any(${ids})`,
});

/** Returns a list of PublicHolon. `infos` contains only fields that the class declares (D18e). */
export const lookUpHolons = statement.one({
  name: 'browse.holons',
  params: { ids: t.integer.array, ...viewerParams },
  row: bodyRow,
  sql: ({ ids, ...viewer }) => sql`
    select coalesce(json_agg(json_build_object(${refSql('h', 'c')}, 'description', h.description, 'logo', h.logo_url, 'links', h.links,
      'infos', coalesce((
        select json_object_agg(info.key, info.value) from jsonb_each(h.infos) info
        where info.key in ('locations', 'spheres') or info.key in (
          select field ->> 'key' from jsonb_path_query(${infoFieldGroupsSql('c')}, '$[*].fields[*]') as declared(field))), '{}'))
      order by h.id), '[]')::text as body
    from directory.holons h join directory.object_classes c on c.id = h.class_id
    where h.id = any(${ids}) and ${holonVisibleSql('h', 'c', viewer)}`,
});

/** Returns the SQL of a list of ConversationEvent. Invisible parents are null. */
function eventListSql(from: Sql, viewer: ViewerSql): Sql {
  return sql`select coalesce(json_agg(json_build_object('id', h.id, 'slug', h.slug, 'name', h.name, 'type', c.slug,
       'parent_id', p.id, 'parent_slug', p.slug) order by h.search_name, h.id), '[]')::text as body
     from ${from}
     join directory.object_classes c on c.id = h.class_id and c.conversation_event
     left join (directory.holons p join directory.object_classes k on k.id = p.class_id)
       on p.id = h.parent_id and ${holonVisibleSql('p', 'k', viewer)}
     where ${holonVisibleSql('h', 'c', viewer)}`;
}

/** Returns all conversation events. */
export const listAllEvents = statement.one({
  name: 'events.list-all',
  params: viewerParams,
  row: bodyRow,
  sql: (viewer) => eventListSql(sql`directory.holons h`, viewer),
});

/**
 * Returns the conversation events in the subtree of a holon. The body is null if the holon does not exist or is
 * invisible. `offset 0` forces a look-up by id, whatever tree size the planner expects.
 */
export const listEventsBelow = statement.one({
  name: 'events.list-below',
  params: { slug: t.text, ...viewerParams },
  row: { body: t.text.nullable },
  sql: ({ slug, ...viewer }) => sql`
    with recursive root as (
      select r.id from directory.holons r join directory.object_classes t on t.id = r.class_id
      where r.slug = ${slug} and ${holonVisibleSql('r', 't', viewer)}
    ), tree as (
      select id from root
      union select below.id from directory.holons below join tree on below.parent_id = tree.id
    )
    select case when exists (select from root) then events.body end as body
    from (${eventListSql(sql`tree cross join lateral (select * from directory.holons where id = tree.id offset 0) h`, viewer)}) as events`,
});

/** Returns a list of EventJourney. Returns no row if the event does not exist or is invisible. */
export const listEventJourneys = statement.maybeOne({
  name: 'events.list-journeys',
  params: { slug: t.text, ...viewerParams },
  row: bodyRow,
  sql: ({ slug, ...viewer }) => sql`
    select coalesce((
      select json_agg(json_build_object('id', j.id, 'slug', j.slug, 'name', j.name, 'description', j.description, 'step_count',
        (select count(*) from directory.journey_steps s where s.journey_id = j.id and not s.is_archived)) order by a.position, j.id)
      from directory.holon_journeys a join directory.journeys j on j.id = a.journey_id and j.is_conversation
      where a.holon_id = h.id), '[]')::text as body
    from directory.holons h join directory.object_classes c on c.id = h.class_id and c.conversation_event
    where h.slug = ${slug} and ${holonVisibleSql('h', 'c', viewer)}`,
});
