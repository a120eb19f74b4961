/** Reads of single holons, for the open API as far as the caller may see them (rules/holons#holons; D47a, D48). */
import { type Sql, sql, statement, t } from '#libs/sql';
import { bodyRow } from '../../body.ts';
import { holonPublicSql } from '../../public-json.ts';
import { viewerParams, type ViewerSql } from '../../viewer.ts';
import { holonVisibleSql } from '../../visibility.ts';

/** The reply of `holons.get-many`. */
export const getHolons = statement.one({
  name: 'holons.get-many',
  params: { ids: t.integer.array, slugs: t.text.array },
  row: bodyRow,
  sql: ({ ids, slugs }) => sql`
    select json_build_object('items', coalesce(json_agg(json_build_object('id', h.id, 'slug', h.slug, 'name', h.name, 'type', c.slug,
      'description', h.description, 'parent_id', h.parent_id, 'private', c.effective_private, 'conversation_event', c.conversation_event)
      order by h.id), '[]'))::text as body
    from (select id from directory.holons where id = any(${ids})
          union select id from directory.holons where slug = any(${slugs})) as wanted
    join directory.holons h on h.id = wanted.id join directory.object_classes c on c.id = h.class_id`,
});

/** HolonPublic by id. */
export const getHolon = statement.maybeOne({
  name: 'v1.holons.get',
  params: { id: t.integer, ...viewerParams },
  row: bodyRow,
  sql: ({ id, ...viewer }) => oneSql(sql`h.id = ${id}`, viewer),
});
/** HolonPublic by slug. */
export const getHolonBySlug = statement.maybeOne({
  name: 'v1.holons.get-by-slug',
  params: { slug: t.text, ...viewerParams },
  row: bodyRow,
  sql: ({ slug, ...viewer }) => oneSql(sql`h.slug = ${slug}`, viewer),
});

function oneSql(condition: Sql, viewer: ViewerSql): Sql {
  return sql`
    select ${holonPublicSql('h', 'c', viewer)}::text as body
    from directory.holons h join directory.object_classes c on c.id = h.class_id where ${condition} and ${holonVisibleSql('h', 'c', viewer)}`;
}
