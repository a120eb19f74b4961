/** Classes of the open API, and the info fields of a class (rules/journeys#classes). */
import { sql, type Sql, statement, t } from '#libs/infrastructure/sql';
import { journeyListItemSql } from '../journeys/index.ts';
import { bodyRow } from '../lists/index.ts';

/**
 * Journeys of the class, then of its ancestors, nearest first, in catalogue order. A duplicate counts at its first
 * position.
 */
const catalogueSql = sql`coalesce((
  select json_agg(${journeyListItemSql('j')} order by found.depth, found.position, found.journey_id)
  from (select distinct on (a.journey_id) a.journey_id, line.depth, a.position
        from unnest(c.id || c.ancestor_ids) with ordinality as line(class_id, depth)
        join directory.class_journeys a on a.class_id = line.class_id
        order by a.journey_id, line.depth) as found
  join directory.journeys j on j.id = found.journey_id), '[]')`;

/** The configuration of a holon class always includes its info fields. */
const configSql = sql`case when c.object_kind <> 'holon' then c.config
  else c.config || jsonb_build_object('info_field_groups', ${infoFieldGroupsSql('c')}) end`;

const classSql = sql`json_build_object('object_kind', c.object_kind, 'slug', c.slug, 'label', c.label, 'plural_label', c.plural_label,
  'description', c.description, 'sort_order', c.sort_order, 'is_system', c.is_system, 'is_active', c.is_active, 'icon_url', c.icon_url,
  'config', ${configSql}, 'journeys', ${catalogueSql},
  'parent', (select p.slug from directory.object_classes p where p.id = c.parent_id), 'conversation_event', c.conversation_event,
  'private', c.private, 'name_read_only', c.name_read_only,
  'allowed_children', coalesce((select json_agg(k.slug order by a.position, k.id) from directory.class_allowed_children a
    join directory.object_classes k on k.id = a.child_class_id where a.class_id = c.id), '[]'),
  'own_journeys', coalesce((select json_agg(j.slug order by a.position, j.id) from directory.class_journeys a
    join directory.journeys j on j.id = a.journey_id where a.class_id = c.id), '[]'),
  'own_config', c.config)`;

/** Returns active classes, optionally of one kind. */
export const listClasses = statement.one({
  name: 'v1.classes.list',
  params: { kind: t.text.nullable },
  row: bodyRow,
  sql: ({ kind }) => sql`
    select coalesce(json_agg(${classSql} order by c.sort_order, c.slug), '[]')::text as body
    from directory.object_classes c where c.is_active and (${kind} is null or c.object_kind = ${kind})`,
});

/** Returns the class if it is active. */
export const getClass = statement.maybeOne({
  name: 'v1.classes.get',
  params: { kind: t.text, slug: t.text },
  row: bodyRow,
  sql: ({ kind, slug }) =>
    sql`select ${classSql}::text as body from directory.object_classes c where c.object_kind = ${kind} and c.slug = ${slug} and c.is_active`,
});

/** Returns a class, retired or not. */
export const getClassById = statement.one({
  name: 'v1.classes.get-by-id',
  params: { id: t.integer },
  row: bodyRow,
  sql: ({ id }) => sql`select ${classSql}::text as body from directory.object_classes c where c.id = ${id}`,
});

/**
 * Returns the SQL of a class's effective `info_field_groups` as JSON: its own groups, then the groups of its ancestors,
 * nearest first. The first declaration of a field wins.
 * @param objectClass alias of `directory.object_classes`
 */
export function infoFieldGroupsSql(objectClass: string): Sql {
  const row = sql.id(objectClass);
  return sql`(select coalesce(jsonb_agg(declared.item order by lineage.depth, declared.place), '[]')
     from unnest(${row}.id || ${row}.ancestor_ids) with ordinality as lineage(id, depth)
     join directory.object_classes declaring on declaring.id = lineage.id
     cross join lateral jsonb_array_elements(case when jsonb_typeof(declaring.config -> 'info_field_groups') = 'array'
       then declaring.config -> 'info_field_groups' else '[]' end) with ordinality as declared(item, place))`;
}
