/** Statements of holon updates (rules/holons#update-a-holon; D46a). */
import { type RowOf, sql, statement, t } from '#libs/sql';
import { bodyRow } from '../../body.ts';
import { infoFieldGroupsSql } from '../../info-field-groups.ts';
import { holonPublicSql } from '../../public-json.ts';
import { viewerParams } from '../../viewer.ts';
import { canEditHolonSql, holonVisibleSql } from '../../visibility.ts';

/** What an update may change; JSON as text. */
const savedHolonRow = { name: t.text, description: t.text, links: t.text, infos: t.text };
export type SavedHolon = RowOf<typeof savedHolonRow>;

/** A holon that is locked for an update. */
const lockedHolonRow = {
  ...savedHolonRow,
  name_read_only: t.boolean,
  info_field_groups: t.text,
  journey_ids: t.integer.array,
  can_edit: t.boolean,
};
export type LockedHolon = RowOf<typeof lockedHolonRow>;

/** No row when the holon is absent or invisible. Other updates of it wait. */
export const lockHolon = statement.maybeOne({
  name: 'holons.lock',
  params: { id: t.integer, ...viewerParams },
  row: lockedHolonRow,
  sql: ({ id, ...viewer }) => sql`
    select h.name, h.description, h.links::text as links, h.infos::text as infos, c.effective_name_read_only as name_read_only,
      ${infoFieldGroupsSql('c')}::text as info_field_groups,
      array(select a.journey_id from directory.holon_journeys a where a.holon_id = h.id order by a.position, a.journey_id) as journey_ids,
      ${canEditHolonSql('h', viewer)} as can_edit
    from directory.holons h join directory.object_classes c on c.id = h.class_id
    where h.id = ${id} and ${holonVisibleSql('h', 'c', viewer)}
    for update of h`,
});

/** Null leaves a field as it is. No row when everything is as it was; the instant of the change is strictly later than the last one. */
export const saveHolon = statement.maybeOne({
  name: 'holons.save',
  params: {
    id: t.integer,
    name: t.text.nullable,
    description: t.text.nullable,
    links: t.json.nullable,
    infosToRemove: t.text.array,
    infosToSet: t.json,
  },
  row: savedHolonRow,
  sql: ({ id, name, description, links, infosToRemove, infosToSet }) => sql`
    update directory.holons h
    set name = given.name, description = given.description, links = given.links, infos = given.infos,
      updated_at = greatest(clock_timestamp(), h.updated_at + interval '1 microsecond')
    from (select id, coalesce(${name}, name) as name, coalesce(${description}, description) as description, coalesce(${links}, links) as links,
            (infos - ${infosToRemove}) || ${infosToSet} as infos
          from directory.holons where id = ${id}) as given
    where h.id = given.id and (h.name, h.description, h.links, h.infos) is distinct from (given.name, given.description, given.links, given.infos)
    returning h.name, h.description, h.links::text as links, h.infos::text as infos`,
});

/** HolonPublic of a holon that the caller may see. */
export const getWrittenHolon = statement.one({
  name: 'holons.get-written',
  params: { id: t.integer, ...viewerParams },
  row: bodyRow,
  sql: ({ id, ...viewer }) => sql`
    select ${holonPublicSql('h', 'c', viewer)}::text as body
    from directory.holons h join directory.object_classes c on c.id = h.class_id
    where h.id = ${id} and ${holonVisibleSql('h', 'c', viewer)}`,
});

/** Those of the ids that are active spheres. */
export const findActiveSpheres = statement.many({
  name: 'spheres.find-active',
  params: { ids: t.integer.array },
  row: { id: t.integer },
  sql: ({ ids }) => sql`select id from directory.spheres where is_active and id = any(${ids})`,
});

/** Those of the ids that are journeys. */
export const findJourneyIds = statement.many({
  name: 'journeys.find-ids',
  params: { ids: t.integer.array },
  row: { id: t.integer },
  sql: ({ ids }) => sql`select id from directory.journeys where id = any(${ids})`,
});
