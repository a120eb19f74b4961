/** The access policy for holons (D18f, D48, D49). Every statement that reads or writes holons for a caller contains it, with `readViewer` as its `viewerParams`. */
import type { Actor } from '#libs/contract';
import { type Sql, sql, type SqlPart, t } from '#libs/sql';

/** Who looks at holons. */
export interface Viewer {
  readonly seesAll: boolean;
  /** Null = nobody in particular: no team authority counts. */
  readonly accountId: number | null;
}

/** The viewer as parameters of a statement. */
export const viewerParams = { seesAll: t.boolean, accountId: t.integer.nullable };

/** The viewer in a fragment of SQL. */
export interface ViewerSql {
  readonly seesAll: SqlPart;
  readonly accountId: SqlPart;
}

/**
 * What the caller's class says about private holons (D18f, D48, D49): superusers and global editors see all, a person what
 * their team authority covers, the shared token none. Whoever comes without an actor sees no more than that.
 */
export function readViewer(actor: Actor | undefined): Viewer {
  return actor?.kind === 'user'
    ? { seesAll: actor.superuser || actor.globalEditor, accountId: actor.accountId }
    : { seesAll: false, accountId: null };
}

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

/** Ids of the private classes: read once for a statement. */
export const privateClassesSql = sql`array(select closed.id from directory.object_classes closed where closed.effective_private)`;

/**
 * SQL condition: the caller may see the holon that a membership or a relationship hangs on. It is `holonVisibleSql`, asked only of rows whose
 * kept class is private; what hangs on a public holon is decided without reading the holon, from an index.
 *
 * @param classColumn kept class of the holon, e.g. `m.holon_class_id`
 * @param holonColumn e.g. `m.holon_id`
 */
export function belongsToVisibleHolonSql(classColumn: string, holonColumn: string, viewer: ViewerSql): Sql {
  return sql`(${viewer.seesAll} or ${sql.id(classColumn)} <> all (${privateClassesSql})
    or exists (
      select from directory.holons seen join directory.object_classes seen_class on seen_class.id = seen.class_id
      where seen.id = ${sql.id(holonColumn)} and ${holonVisibleSql('seen', 'seen_class', viewer)} offset 0))`;
}

/** The parent is named to those who may see it. */
function holonFieldsSql(holon: Sql, objectClass: Sql, viewer: ViewerSql): Sql {
  return sql`'id', ${holon}.id, 'name', ${holon}.name, 'slug', ${holon}.slug, 'type', ${objectClass}.slug, 'description', ${holon}.description,
    'parent_id', (select outer_holon.id from directory.holons outer_holon join directory.object_classes outer_class on outer_class.id = outer_holon.class_id
      where outer_holon.id = ${holon}.parent_id and ${holonVisibleSql('outer_holon', 'outer_class', viewer)}),
    'logo_url', ${holon}.logo_url, 'links', ${holon}.links`;
}

/** HolonPublic of a row of `holons` and its class. */
export function holonPublicSql(holon: string, objectClass: string, viewer: ViewerSql): Sql {
  return sql`json_build_object(${holonFieldsSql(sql.id(holon), sql.id(objectClass), viewer)})`;
}

/** HolonListItem; parameters as in `holonPublicSql`. */
export function holonListItemSql(holon: string, objectClass: string, viewer: ViewerSql): Sql {
  const row = sql.id(holon);
  return sql`json_build_object(${holonFieldsSql(row, sql.id(objectClass), viewer)}, 
    'created_at', directory.iso_utc(${row}.created_at), 'updated_at', directory.iso_utc(${row}.updated_at))`;
}
