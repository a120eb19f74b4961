import { type Sql, sql } from '#libs/sql';
import type { ViewerSql } from '../../viewer.ts';
import { holonVisibleSql } from '../../visibility.ts';

/** Ids of the private classes: read once for a statement. */
export const privateClassesSql = sql`array(select closed.id from directory.object_classes closed where closed.effective_private)`;

/**
 * SQL condition: the caller may see the holon that a membership or a relationship hangs on. It is `holonVisibleSql`, asked only of rows whose
 * kept class is private; what hangs on a public holon is decided without reading the holon, from an index.
 *
 * @param classColumn kept class of the holon, e.g. `m.holon_class_id`
 * @param holonColumn e.g. `m.holon_id`
 */
export function hangsOnVisibleSql(classColumn: string, holonColumn: string, viewer: ViewerSql): Sql {
  return sql`(${viewer.seesAll} or ${sql.id(classColumn)} <> all (${privateClassesSql})
    or exists (
      select from directory.holons seen join directory.object_classes seen_class on seen_class.id = seen.class_id
      where seen.id = ${sql.id(holonColumn)} and ${holonVisibleSql('seen', 'seen_class', viewer)} offset 0))`;
}
