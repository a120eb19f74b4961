/**
 * The one policy about who sees and who edits holons (D18f, D48, D49): whoever reads or writes holons for a caller puts it into the
 * statement, and passes what `readViewer` says as the parameters `viewerParams`.
 */
import { type Sql, sql } from '#libs/sql';
import type { ViewerSql } from './viewer.ts';

/**
 * SQL condition: the caller may see the holon. A public class costs nothing; whether the caller has any authority is asked once for a
 * statement; the way up from a private holon is walked only for callers who have some.
 *
 * @param holon alias of `directory.holons`
 * @param objectClass alias of its `directory.object_classes`
 */
export function holonVisibleSql(holon: string, objectClass: string, viewer: ViewerSql): Sql {
  return sql`(not ${sql.id(objectClass)}.effective_private or ${hasAuthoritySql(holon, viewer)})`;
}

/**
 * SQL condition: the caller may edit the holon and its content: global editors and superusers every one, others what their active team authority
 * covers, that is the holon of the authority and everything below it (D49). Whether a holon is private makes no difference.
 *
 * @param holon alias of `directory.holons`
 */
export function canEditHolonSql(holon: string, viewer: ViewerSql): Sql {
  return sql`(${hasAuthoritySql(holon, viewer)})`;
}

/** Authority over everything, or over the holon or an ancestor of it. */
function hasAuthoritySql(holon: string, { seesAll, accountId }: ViewerSql): Sql {
  return sql`${seesAll}
    or (exists (select from directory.team_authority own where own.account_id = ${accountId} and own.is_active)
      and directory.has_team_authority(${sql.id(holon)}.id, ${accountId}))`;
}

/**
 * SQL of common table expressions (of `with recursive`): the same policy read from above. `name` gets the ids of the private holons that the
 * caller sees by team authority alone; none for those who see all. For counts, which start from few private holons instead of from many rows.
 */
export function coveredHolonsSql(name: string, { seesAll, accountId }: ViewerSql): Sql {
  const [covered, tree] = [sql.id(name), sql.id(`${name}_tree`)];
  return sql`${tree} as (
      select team.holon_id as id from directory.team_authority team where not ${seesAll} and team.account_id = ${accountId} and team.is_active
      union select below.id from directory.holons below join ${tree} on below.parent_id = ${tree}.id
    ), ${covered} as (
      select own.id from ${tree} join directory.holons own on own.id = ${tree}.id
      join directory.object_classes own_class on own_class.id = own.class_id where own_class.effective_private
    )`;
}
