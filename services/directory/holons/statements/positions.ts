/** Statements on the position of a holon in the tree: parent, class, slug, and what depends on it (W2, W13, W14). */
import { sql, statement, t } from '#libs/infrastructure/sql';
import { infoFieldGroupsSql } from '../../classes/index.ts';
import { canEditHolonSql, holonVisibleSql, viewerParams } from '../../visibility/index.ts';

/** Returns an active class of holons, locked until the commit. */
export const findHolonClass = statement.maybeOne({
  name: 'holons.find-class',
  params: { slug: t.text },
  row: { id: t.integer, info_field_groups: t.text },
  sql: ({ slug }) => sql`
    select c.id, ${infoFieldGroupsSql('c')}::text as info_field_groups
    from directory.object_classes c where c.slug = ${slug} and c.object_kind = 'holon' and c.is_active for key share of c`,
});

/**
 * Returns the rights of the caller below a holon, which is locked against deletion until the commit. Returns no row if
 * the holon does not exist or is invisible.
 */
export const findParent = statement.maybeOne({
  name: 'holons.find-parent',
  params: { id: t.integer.nullable, classId: t.integer, ...viewerParams },
  row: { can_edit: t.boolean, allows_class: t.boolean },
  sql: ({ id, classId, ...viewer }) => sql`
    select ${canEditHolonSql('h', viewer)} as can_edit,
      exists (select from directory.class_allowed_children a where a.class_id = h.class_id and a.child_class_id = ${classId}) as allows_class
    from directory.holons h join directory.object_classes c on c.id = h.class_id
    where h.id = ${id} and ${holonVisibleSql('h', 'c', viewer)} for key share of h`,
});

/** Returns a row if the holon is the ancestor or one of its descendants. */
export const findAncestor = statement.maybeOne({
  name: 'holons.find-ancestor',
  params: { id: t.integer, ancestorId: t.integer },
  row: { id: t.integer },
  sql: ({ id, ancestorId }) => sql`
    with recursive up as (
      select h.id, h.parent_id from directory.holons h where h.id = ${id}
      union select h.id, h.parent_id from directory.holons h join up on h.id = up.parent_id
    ) select id from up where id = ${ancestorId}`,
});

/** Returns the first free slug among `<base>`, `<base>-2`, `<base>-3`, …. */
export const findFreeSlug = statement.one({
  name: 'holons.find-free-slug',
  params: { base: t.text },
  row: { slug: t.text },
  sql: ({ base }) => sql`
    with recursive candidate as (
      select 1 as number, ${base}::text as slug
      union all
      select number + 1, ${base}::text || '-' || (number + 1) from candidate
      where exists (select from directory.holons h where h.slug = candidate.slug)
    ) select slug from candidate order by number desc limit 1`,
});

/** Inserts a holon. Returns no row if the slug is taken. */
export const insertHolon = statement.maybeOne({
  name: 'holons.insert',
  params: {
    slug: t.text,
    name: t.text,
    description: t.text,
    classId: t.integer,
    parentId: t.integer.nullable,
    links: t.json,
    infos: t.json,
  },
  row: { id: t.integer },
  sql: ({ slug, name, description, classId, parentId, links, infos }) => sql`
    insert into directory.holons (slug, name, description, class_id, parent_id, links, infos)
    values (${slug}, ${name}, ${description}, ${classId}, ${parentId}, ${links}, ${infos})
    on conflict (slug) do nothing returning id`,
});
