/** Which holons a caller sees, for filters of other services (D18f, D48, D49). */
import { statement } from '#libs/orm';
import { holonVisibleSql } from '../../visibility.ts';

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
