/**
 * Statements that read and update single holons, and the ordered attachments of holons and classes
 * (rules/holons#update-a-holon; D46a, D47a, D48).
 */
import { type RowOf, type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { infoFieldGroupsSql } from '../../classes/index.ts';
import { bodyRow } from '../../lists/index.ts';
import {
  canEditHolonSql,
  holonDetailSql,
  holonPublicSql,
  holonTagSql,
  holonVisibleSql,
  seenParentSql,
  viewerParams,
  type ViewerSql,
} from '../../visibility/index.ts';

/** Returns the reply of `holons.get-many`. */
export const getHolons = statement.one({
  name: 'holons.get-many',
  params: { ids: t.integer.array, slugs: t.text.array },
  row: bodyRow,
  sql: ({ ids, slugs }) => sql`
    select json_build_object('items', coalesce(json_agg(json_build_object('id', h.id, 'slug', h.slug, 'name', h.name, 'type', c.slug,
      'description', h.description, 'parent_id', h.parent_id, 'private', c.effective_private, 'conversation_event', c.conversation_event)
      order by h.id), '[]'))::text as body
    from (select id from directory.holons where id = any(${ids})
          union select id from directory.holons where slug = any(${slugs})) as requested
    join directory.holons h on h.id = requested.id join directory.object_classes c on c.id = h.class_id`,
});

/** A reply body and the text whose digest is the ETag. */
const taggedRow = { ...bodyRow, tag: t.text };

/** Returns HolonDetail by id. */
export const getHolon = statement.maybeOne({
  name: 'v1.holons.get',
  params: { id: t.integer, ...viewerParams },
  row: taggedRow,
  sql: ({ id, ...viewer }) => oneSql(sql`h.id = ${id}`, viewer),
});
/** Returns HolonDetail by slug. */
export const getHolonBySlug = statement.maybeOne({
  name: 'v1.holons.get-by-slug',
  params: { slug: t.text, ...viewerParams },
  row: taggedRow,
  sql: ({ slug, ...viewer }) => oneSql(sql`h.slug = ${slug}`, viewer),
});

function oneSql(condition: Sql, viewer: ViewerSql): Sql {
  return sql`
    select (${holonDetailSql('h', 'c', viewer)})::text as body, ${holonTagSql('h', 'c')} as tag
    from directory.holons h join directory.object_classes c on c.id = h.class_id where ${condition} and ${holonVisibleSql('h', 'c', viewer)}`;
}

/** Values of a holon that an update can change. JSON values are text. */
const savedHolonRow = {
  name: t.text,
  slug: t.text,
  description: t.text,
  links: t.text,
  infos: t.text,
};
export type SavedHolon = RowOf<typeof savedHolonRow>;

/** Columns of a holon that is locked for an update. */
const lockedHolonRow = {
  ...savedHolonRow,
  class_id: t.integer,
  parent_id: t.integer.nullable,
  /** Null if the caller cannot see the parent. */
  seen_parent_id: t.integer.nullable,
  name_read_only: t.boolean,
  info_field_groups: t.text,
  journey_ids: t.integer.array,
  can_edit: t.boolean,
};
export type LockedHolon = RowOf<typeof lockedHolonRow>;

/** Locks the holon. Returns no row if it does not exist or is invisible. */
export const lockHolon = statement.maybeOne({
  name: 'holons.lock',
  params: { id: t.integer, ...viewerParams },
  row: lockedHolonRow,
  sql: ({ id, ...viewer }) => sql`
    select h.name, h.slug, h.description, h.links::text as links, h.infos::text as infos, h.class_id, h.parent_id,
      ${seenParentSql(sql.id('h'), viewer)} as seen_parent_id, c.effective_name_read_only as name_read_only,
      ${infoFieldGroupsSql('c')}::text as info_field_groups,
      array(select a.journey_id from directory.holon_journeys a where a.holon_id = h.id order by a.position, a.journey_id) as journey_ids,
      ${canEditHolonSql('h', viewer)} as can_edit
    from directory.holons h join directory.object_classes c on c.id = h.class_id
    where h.id = ${id} and ${holonVisibleSql('h', 'c', viewer)}
    for update of h`,
});

/** Saves a holon; null leaves a field unchanged. Returns no row if nothing changed. `updated_at` strictly increases. */
export const saveHolon = statement.maybeOne({
  name: 'holons.save',
  params: {
    id: t.integer,
    name: t.text.nullable,
    slug: t.text.nullable,
    /** Whether to set `parentId`, which can be null. */
    moves: t.boolean,
    parentId: t.integer.nullable,
    description: t.text.nullable,
    links: t.json.nullable,
    infosToRemove: t.text.array,
    infosToSet: t.json,
  },
  row: savedHolonRow,
  sql: ({ id, name, slug, moves, parentId, description, links, infosToRemove, infosToSet }) => sql`
    update directory.holons h
    set name = given.name, slug = given.slug, parent_id = given.parent_id, description = given.description, links = given.links, infos = given.infos,
      updated_at = greatest(clock_timestamp(), h.updated_at + interval '1 microsecond')
    from (select id, coalesce(${name}, name) as name, coalesce(${slug}, slug) as slug,
            case when ${moves} then ${parentId} else parent_id end as parent_id, coalesce(${description}, description) as description,
            coalesce(${links}, links) as links, (infos - ${infosToRemove}) || ${infosToSet} as infos
          from directory.holons where id = ${id}) as given
    where h.id = given.id and (h.name, h.slug, h.parent_id, h.description, h.links, h.infos)
      is distinct from (given.name, given.slug, given.parent_id, given.description, given.links, given.infos)
    returning h.name, h.slug, h.description, h.links::text as links, h.infos::text as infos`,
});

/** Returns HolonPublic of a visible holon after a write. */
export const getWrittenHolon = statement.one({
  name: 'holons.get-written',
  params: { id: t.integer, ...viewerParams },
  row: bodyRow,
  sql: ({ id, ...viewer }) => sql`
    select ${holonPublicSql('h', 'c', viewer)}::text as body
    from directory.holons h join directory.object_classes c on c.id = h.class_id
    where h.id = ${id} and ${holonVisibleSql('h', 'c', viewer)}`,
});

/** Returns the text whose digest is the ETag of a holon. */
export const getTag = statement.one({
  name: 'holons.get-tag',
  params: { id: t.integer },
  row: bodyRow,
  sql: ({ id }) => sql`
    select ${holonTagSql('h', 'c')} as body from directory.holons h join directory.object_classes c on c.id = h.class_id where h.id = ${id}`,
});

/** Returns the ids of active spheres among the given ids. */
export const findActiveSpheres = statement.many({
  name: 'spheres.find-active',
  params: { ids: t.integer.array },
  row: { id: t.integer },
  sql: ({ ids }) => sql`select id from directory.spheres where is_active and id = any(${ids})`,
});

/** Returns the ids of journeys among the given ids. */
export const findJourneyIds = statement.many({
  name: 'journeys.find-ids',
  params: { ids: t.integer.array },
  row: { id: t.integer },
  sql: ({ ids }) => sql`select id from directory.journeys where id = any(${ids})`,
});

const attachedRow = { owner_id: t.integer, old: t.integer.array, new: t.integer.array };
export type AttachedRow = RowOf<typeof attachedRow>;

/**
 * Replaces the attachments of the given owners by a JSON list of `{owner_id, targets}`; the order of the targets is
 * stored. Returns the changed owners with their old and new targets.
 */
export const attach = {
  class_journeys: attachment('class_journeys', 'class_id', 'journey_id'),
  holon_journeys: attachment('holon_journeys', 'holon_id', 'journey_id'),
  class_allowed_children: attachment('class_allowed_children', 'class_id', 'child_class_id'),
} as const;

function attachment(name: string, ownerColumn: string, targetColumn: string) {
  const [table, owner, target] = [sql.id(`directory.${name}`), sql.id(ownerColumn), sql.id(targetColumn)];
  return statement.many({
    name: `workspace.attach-${name}`,
    params: { attachments: t.json },
    row: attachedRow,
    sql: ({ attachments }) => sql`
     with input as (
       select i.owner_id, coalesce(i.targets, '{}') as targets from jsonb_to_recordset(${attachments}) as i(owner_id integer, targets integer[])
     ), current as (
       select i.owner_id, i.targets, coalesce(array_agg(a.${target} order by a.position, a.${target}) filter (where a.${target} is not null), '{}') as stored
       from input i left join ${table} a on a.${owner} = i.owner_id group by i.owner_id, i.targets
     ), changed as (
       select * from current where stored is distinct from targets
     ), removed as (
       delete from ${table} a using changed c where a.${owner} = c.owner_id and a.${target} <> all(c.targets)
     ), added as (
       insert into ${table} (${owner}, ${target}, position)
       select c.owner_id, t.id, t.position - 1 from changed c, unnest(c.targets) with ordinality as t(id, position)
       on conflict (${owner}, ${target}) do update set position = excluded.position
     )
     select owner_id, stored as old, targets as new from changed`,
  });
}
