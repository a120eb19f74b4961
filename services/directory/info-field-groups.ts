/** The custom fields that hold for holons of a class (rules/journeys#classes). */
import { type Sql, sql } from '#libs/sql';

/**
 * SQL of a class's effective `info_field_groups` as JSON: its own groups, then those of its ancestors, nearest first. A field that is declared
 * more than once is what the first declaration says.
 *
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
