/**
 * The access policy for holons (D18f, D48, D49). Every statement that reads or writes holons for a caller contains this
 * policy, with the result of `readViewer` as its `viewerParams`.
 */
import type { Actor } from '#libs/infrastructure/contract';
import { type Sql, sql, type SqlPart, t } from '#libs/infrastructure/sql';

/** Rights of the caller for whom holons are read. */
export interface Viewer {
  readonly seesAll: boolean;
  /** Null when the caller has no account; team authority then does not apply. */
  readonly accountId: number | null;
}

/** Statement parameters of a viewer. */
export const viewerParams = { seesAll: t.boolean, accountId: t.integer.nullable };

/** A viewer as SQL fragments. */
export interface ViewerSql {
  readonly seesAll: SqlPart;
  readonly accountId: SqlPart;
}

/**
 * Returns the rights of the caller on private holons (D18f, D48, D49). Superusers and global editors see all, people
 * see the holons that their team authority covers, the shared token and calls without an actor see none.
 */
export function readViewer(actor: Actor | undefined): Viewer {
  return actor?.kind === 'user'
    ? { seesAll: actor.superuser || actor.globalEditor, accountId: actor.accountId }
    : { seesAll: false, accountId: null };
}

/**
 * SQL condition: the caller can see the holon. It costs nothing for public classes; otherwise it checks once per
 * statement whether the caller has any authority, and only then searches the ancestors.
 * @param holon alias of `directory.holons`
 * @param objectClass alias of its `directory.object_classes`
 */
export function holonVisibleSql(holon: string, objectClass: string, viewer: ViewerSql): Sql {
  return sql`(not ${sql.id(objectClass)}.effective_private or ${hasAuthoritySql(holon, viewer)})`;
}

/**
 * SQL condition: the caller can edit the holon. Global editors and superusers can edit all holons, others the holons of
 * their active team authority and below (D49). Privacy of the class has no influence.
 * @param holon alias of `directory.holons`
 */
export function canEditHolonSql(holon: string, viewer: ViewerSql): Sql {
  return sql`(${hasAuthoritySql(holon, viewer)})`;
}

/** SQL condition: the caller has authority over everything, the holon or one of its ancestors. */
function hasAuthoritySql(holon: string, { seesAll, accountId }: ViewerSql): Sql {
  return sql`${seesAll}
    or (exists (select from directory.team_authority own where own.account_id = ${accountId} and own.is_active)
      and directory.has_team_authority(${sql.id(holon)}.id, ${accountId}))`;
}

/**
 * Returns the same policy as CTEs (of `with recursive`), top-down: `name` contains the ids of private holons that the
 * caller sees through team authority. It is empty for callers with access to all holons. Counts use it, since they then
 * start from few private holons instead of many rows.
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

/** Ids of private classes, evaluated once per statement. */
export const privateClassesSql = sql`array(select closed.id from directory.object_classes closed where closed.effective_private)`;

/**
 * SQL condition: the caller can see the holon of a membership or relationship. Evaluates `holonVisibleSql` only if the
 * copied class is private; for public classes an index suffices.
 * @param classColumn copied class of the holon, e.g. `m.holon_class_id`
 * @param holonColumn e.g. `m.holon_id`
 */
export function belongsToVisibleHolonSql(classColumn: string, holonColumn: string, viewer: ViewerSql): Sql {
  return sql`(${viewer.seesAll} or ${sql.id(classColumn)} <> all (${privateClassesSql})
    or exists (
      select from directory.holons seen join directory.object_classes seen_class on seen_class.id = seen.class_id
      where seen.id = ${sql.id(holonColumn)} and ${holonVisibleSql('seen', 'seen_class', viewer)} offset 0))`;
}

/** Returns the SQL of the id of a holon, which is null if the caller cannot see it. */
export function seenHolonSql(id: Sql, viewer: ViewerSql): Sql {
  return sql`(select outer_holon.id from directory.holons outer_holon join directory.object_classes outer_class on outer_class.id = outer_holon.class_id
      where outer_holon.id = ${id} and ${holonVisibleSql('outer_holon', 'outer_class', viewer)})`;
}

/** Returns the SQL of the id of the holon's parent, which is null if the caller cannot see it. */
export function seenParentSql(holon: Sql, viewer: ViewerSql): Sql {
  return seenHolonSql(sql`${holon}.parent_id`, viewer);
}

/** Returns the SQL of the holon's fields. The parent is null if the caller cannot see it. */
function holonFieldsSql(holon: Sql, objectClass: Sql, viewer: ViewerSql): Sql {
  return sql`'id', ${holon}.id, 'name', ${holon}.name, 'slug', ${holon}.slug, 'type', ${objectClass}.slug, 'description', ${holon}.description,
    'parent_id', ${seenParentSql(holon, viewer)},
    'logo_url', ${holon}.logo_url, 'links', ${holon}.links`;
}

/** Returns the SQL of HolonPublic for a row of `holons` and its class. */
export function holonPublicSql(holon: string, objectClass: string, viewer: ViewerSql): Sql {
  return sql`json_build_object(${holonFieldsSql(sql.id(holon), sql.id(objectClass), viewer)})`;
}

/** Returns the SQL of HolonDetail: HolonPublic, with the remaining fields for callers who can edit the holon (W2). */
export function holonDetailSql(holon: string, objectClass: string, viewer: ViewerSql): Sql {
  const row = sql.id(holon);
  return sql`case when ${canEditHolonSql(holon, viewer)}
    then json_build_object(${holonFieldsSql(row, sql.id(objectClass), viewer)},
      'info_fields', ${row}.infos - 'locations' - 'spheres', 'locations', coalesce(${row}.infos -> 'locations', '[]'),
      'spheres', coalesce(${row}.infos -> 'spheres', '[]'), 'journey_ids', ${journeyIdsSql(row)})
    else ${holonPublicSql(holon, objectClass, viewer)} end`;
}

/**
 * Returns the SQL of the text whose digest is the ETag of a holon. It changes with every field, is the same for all
 * callers, and contains no value that a caller could guess by its digest (W12).
 */
export function holonTagSql(holon: string, objectClass: string): Sql {
  const row = sql.id(holon);
  return sql`json_build_array(${row}.id, ${sql.id(objectClass)}.slug, directory.iso_utc(${row}.updated_at), ${journeyIdsSql(row)})::text`;
}

/** Returns the SQL of the ids of a holon's own journeys as JSON, in order. */
function journeyIdsSql(holon: Sql): Sql {
  return sql`(select coalesce(json_agg(own_journey.journey_id order by own_journey.position, own_journey.journey_id), '[]')
    from directory.holon_journeys own_journey where own_journey.holon_id = ${holon}.id)`;
}

/** Returns the SQL of HolonListItem. The parameters are the same as in `holonPublicSql`. */
export function holonListItemSql(holon: string, objectClass: string, viewer: ViewerSql): Sql {
  const row = sql.id(holon);
  return sql`json_build_object(${holonFieldsSql(row, sql.id(objectClass), viewer)}, 
    'created_at', directory.iso_utc(${row}.created_at), 'updated_at', directory.iso_utc(${row}.updated_at))`;
}

/**
 * SQL condition: the note is in the feed of a person or holon, and the caller can see all of its holons.
 * @param note alias of `directory.notes`
 */
export function noteReadableSql(note: string, viewer: ViewerSql): Sql {
  const id = sql.id(`${note}.id`);
  return sql`(exists (select from directory.person_notes own where own.note_id = ${id})
      or exists (select from directory.holon_notes own where own.note_id = ${id}))
    and not exists (select from directory.holon_notes on_holon
      join directory.holons noted on noted.id = on_holon.holon_id join directory.object_classes noted_class on noted_class.id = noted.class_id
      where on_holon.note_id = ${id} and not ${holonVisibleSql('noted', 'noted_class', viewer)} offset 0)`;
}
