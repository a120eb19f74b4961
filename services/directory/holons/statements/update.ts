/** Statements of holon updates (rules/holons#update-a-holon; D46a). */
import { statement } from '#libs/orm';
import { infoFieldGroupsSql } from '../../info-field-groups.ts';
import { holonPublicSql } from '../../public-json.ts';
import { canEditHolonSql, holonVisibleSql } from '../../visibility.ts';

/** A holon that is locked for an update. JSON comes as text. */
export interface LockedHolon {
  readonly name: string;
  readonly description: string;
  readonly links: string;
  readonly infos: string;
  readonly name_read_only: boolean;
  readonly info_field_groups: string;
  readonly journey_ids: readonly number[];
  readonly can_edit: boolean;
}

/** `$1` = id, `$2`, `$3` = viewer; no row when the holon is absent or invisible. Other updates of it wait. */
export const lockHolon = statement(
  'holons.lock',
  `select h.name, h.description, h.links::text as links, h.infos::text as infos, c.effective_name_read_only as name_read_only,
     ${infoFieldGroupsSql('c')}::text as info_field_groups,
     array(select a.journey_id from directory.holon_journeys a where a.holon_id = h.id order by a.position, a.journey_id) as journey_ids,
     ${canEditHolonSql('h', 2)} as can_edit
   from directory.holons h join directory.object_classes c on c.id = h.class_id
   where h.id = $1::integer and ${holonVisibleSql('h', 'c', 2)}
   for update of h`,
);

export interface SavedHolon {
  readonly name: string;
  readonly description: string;
  readonly links: string;
  readonly infos: string;
}

/**
 * `$1` = id, `$2` = name, `$3` = description, `$4` = links (null = as it is), `$5` = keys to take out of the infos, `$6` = infos to set. No row when
 * everything is as it was; the instant of the change is strictly later than the last one.
 */
export const saveHolon = statement(
  'holons.save',
  `update directory.holons h
   set name = given.name, description = given.description, links = given.links, infos = given.infos,
     updated_at = greatest(clock_timestamp(), h.updated_at + interval '1 microsecond')
   from (select id, coalesce($2::text, name) as name, coalesce($3::text, description) as description, coalesce($4::jsonb, links) as links,
           (infos - $5::text[]) || $6::jsonb as infos
         from directory.holons where id = $1::integer) as given
   where h.id = given.id and (h.name, h.description, h.links, h.infos) is distinct from (given.name, given.description, given.links, given.infos)
   returning h.name, h.description, h.links::text as links, h.infos::text as infos`,
);

/** `$1` = id, `$2`, `$3` = viewer; HolonPublic of a holon that the caller may see. */
export const getWrittenHolon = statement(
  'holons.get-written',
  `select ${holonPublicSql('h', 'c', 2)}::text as body
   from directory.holons h join directory.object_classes c on c.id = h.class_id
   where h.id = $1::integer and ${holonVisibleSql('h', 'c', 2)}`,
);

/** `$1` = ids; those of them that are active spheres. */
export const findActiveSpheres = statement(
  'spheres.find-active',
  'select id from directory.spheres where is_active and id = any($1::integer[])',
);

/** `$1` = ids; those of them that are journeys. */
export const findJourneyIds = statement('journeys.find-ids', 'select id from directory.journeys where id = any($1::integer[])');
