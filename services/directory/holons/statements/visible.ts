/** Which holons a caller sees, for filters of other services (D18f, D48, D49). */
import { sql, statement, t } from '#libs/sql';
import { bodyRow } from '../../body.ts';
import { viewerParams } from '../../viewer.ts';
import { holonVisibleSql } from '../../visibility.ts';

/** The reply of `holons.covered` for some holons: looks up from each of them. */
export const findCoveredHolons = statement.one({
  name: 'holons.find-covered',
  params: { accountId: t.integer, ids: t.integer.array },
  row: bodyRow,
  sql: ({ accountId, ids }) => sql`
    select json_build_object('ids', coalesce(json_agg(distinct given.id), '[]'))::text as body
    from unnest(${ids}) as given(id) where directory.has_team_authority(given.id, ${accountId})`,
});

/** The same for all, looking down from the account's holons. */
export const listCoveredHolons = statement.one({
  name: 'holons.list-covered',
  params: { accountId: t.integer },
  row: bodyRow,
  sql: ({ accountId }) => sql`
    with recursive covered as (
      select team.holon_id as id from directory.team_authority team where team.account_id = ${accountId} and team.is_active
      union select below.id from directory.holons below join covered on below.parent_id = covered.id
    )
    select json_build_object('ids', coalesce(json_agg(covered.id order by covered.id), '[]'))::text as body
    from covered`,
});

/** The reply of `holons.subtree`. */
export const getHolonSubtree = statement.one({
  name: 'holons.subtree',
  params: { slug: t.text, ...viewerParams },
  row: bodyRow,
  sql: ({ slug, ...viewer }) => sql`
    with recursive root as (
      select h.id, h.class_id from directory.holons h join directory.object_classes c on c.id = h.class_id
      where h.slug = ${slug} and ${holonVisibleSql('h', 'c', viewer)}
    ), tree as (
      select id, class_id from root
      union select h.id, h.class_id from directory.holons h join tree on h.parent_id = tree.id
    )
    select json_build_object('found', exists (select from root), 'holon_id', (select id from root), 'ids', coalesce((
      select json_agg(h.id order by h.id)
      from tree h join directory.object_classes c on c.id = h.class_id
      where ${holonVisibleSql('h', 'c', viewer)}), '[]'))::text as body`,
});

/** The reply of `holons.visible`. Whether an account sees all is looked up here. */
export const getVisibleHolons = statement.one({
  name: 'holons.visible',
  params: { ids: t.integer.array, slugs: t.text.array, accountId: t.integer.nullable },
  row: bodyRow,
  sql: ({ ids, slugs, accountId }) => sql`
    select json_build_object('items', coalesce(json_agg(json_build_object('id', h.id, 'slug', h.slug) order by h.id), '[]'))::text as body
   from (select id from directory.holons where id = any(${ids})
         union select id from directory.holons where slug = any(${slugs})) as wanted
   join directory.holons h on h.id = wanted.id join directory.object_classes c on c.id = h.class_id
   where ${holonVisibleSql('h', 'c', { seesAll: sql`false`, accountId })}
     or exists (select from directory.accounts a where a.id = ${accountId} and a.is_active and (a.superuser or a.global_editor))`,
});
