/** Reads of the conversation surface that depend on what the caller may see; JSON is made by SQL, one statement for each request. */
import { statement } from '#libs/orm';
import { infoFieldGroupsSql } from '../info-field-groups.ts';
import { holonVisibleSql } from '../visibility.ts';

const refSql = (holon: string, objectClass: string): string =>
  `'id', ${holon}.id, 'slug', ${holon}.slug, 'name', ${holon}.name, 'type', ${objectClass}.slug`;

/** `$1` = slug, `$2`, `$3` = viewer; one row with BrowsedHolon, none when the holon is absent or invisible (D18c). */
export const browseHolon = statement(
  'browse.holon',
  `select json_build_object(
     'holon', json_build_object(${refSql('h', 'c')}),
     'events', coalesce((
       select json_agg(json_build_object(${refSql('e', 'k')}, 'journeys', json_build_object('scope', 'direct', 'items', coalesce((
         select json_agg(json_build_object('id', j.id, 'slug', j.slug, 'name', j.name, 'description', j.description, 'source', 'direct')
           order by a.position, j.id)
         from directory.holon_journeys a join directory.journeys j on j.id = a.journey_id and j.is_conversation
         where a.holon_id = e.id), '[]'))) order by e.name, e.id)
       from directory.holons e join directory.object_classes k on k.id = e.class_id and k.conversation_event
       where e.parent_id = h.id and ${holonVisibleSql('e', 'k', 2)}), '[]'))::text as body
   from directory.holons h join directory.object_classes c on c.id = h.class_id
   where h.slug = $1::text and ${holonVisibleSql('h', 'c', 2)}`,
);

/** `$1` = ids; one row with the list of PublicPerson. */
export const lookUpPeople = statement(
  'browse.people',
  `select coalesce(json_agg(json_build_object('id', p.id, 'name', p.name, 'photo', p.photo_url, 'contact', p.contact) order by p.id),
     '[]')::text as body
   from directory.people p where p.id = any($1::integer[])`,
);

/** `$1` = ids, `$2`, `$3` = viewer; one row with the list of PublicHolon. Of `infos` only what the class declares (D18e). */
export const lookUpHolons = statement(
  'browse.holons',
  `select coalesce(json_agg(json_build_object(${refSql('h', 'c')}, 'description', h.description, 'logo', h.logo_url, 'links', h.links,
     'infos', coalesce((
       select json_object_agg(info.key, info.value) from jsonb_each(h.infos) info
       where info.key in ('locations', 'spheres') or info.key in (
         select field ->> 'key' from jsonb_path_query(${infoFieldGroupsSql('c')}, '$[*].fields[*]') as declared(field))), '{}'))
     order by h.id), '[]')::text as body
   from directory.holons h join directory.object_classes c on c.id = h.class_id
   where h.id = any($1::integer[]) and ${holonVisibleSql('h', 'c', 2)}`,
);

/** `$1` = account, `$2` = ids; one row with the reply of `holons.covered`. Looks up from each of them. */
export const findCoveredHolons = statement(
  'holons.find-covered',
  `select json_build_object('ids', coalesce(json_agg(distinct given.id), '[]'))::text as body
   from unnest($2::integer[]) as given(id) where directory.has_team_authority(given.id, $1::integer)`,
);

/** `$1` = account; the same of all, looking down from the account's holons. */
export const listCoveredHolons = statement(
  'holons.list-covered',
  `with recursive covered as (
     select team.holon_id as id from directory.team_authority team where team.account_id = $1::integer and team.is_active
     union select below.id from directory.holons below join covered on below.parent_id = covered.id
   )
   select json_build_object('ids', coalesce(json_agg(covered.id order by covered.id), '[]'))::text as body
   from covered`,
);

/** `$1` = slug, `$2`, `$3` = viewer; one row with the reply of `holons.subtree`. */
export const getHolonSubtree = statement(
  'holons.subtree',
  `with recursive root as (
     select h.id, h.class_id from directory.holons h join directory.object_classes c on c.id = h.class_id
     where h.slug = $1::text and ${holonVisibleSql('h', 'c', 2)}
   ), tree as (
     select id, class_id from root
     union select h.id, h.class_id from directory.holons h join tree on h.parent_id = tree.id
   )
   select json_build_object('found', exists (select from root), 'holon_id', (select id from root), 'ids', coalesce((
     select json_agg(h.id order by h.id)
     from tree h join directory.object_classes c on c.id = h.class_id
     where ${holonVisibleSql('h', 'c', 2)}), '[]'))::text as body`,
);

/** `$1` = ids, `$2` = slugs, `$3` = false, `$4` = account or null, whose flags are looked up here; one row with the reply of `holons.visible`. */
export const getVisibleHolons = statement(
  'holons.visible',
  `select json_build_object('items', coalesce(json_agg(json_build_object('id', h.id, 'slug', h.slug) order by h.id), '[]'))::text as body
   from (select id from directory.holons where id = any($1::integer[])
         union select id from directory.holons where slug = any($2::text[])) as wanted
   join directory.holons h on h.id = wanted.id join directory.object_classes c on c.id = h.class_id
   where ${holonVisibleSql('h', 'c', 3)}
     or exists (select from directory.accounts a where a.id = $4::integer and a.is_active and (a.superuser or a.global_editor))`,
);
