/** Statements of holon updates, new experiences and logos (rules/holons#update-a-holon, rules/holons#experiences; D46a, D51, D51a). */
import { statement } from '#libs/orm';
import { experienceClassSlug } from '../../contract.ts';
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

/** The class and everything below it that experiences have. */
const isExperienceClassSql = (objectClass: string): string =>
  `(${objectClass}.slug = '${experienceClassSlug}' or exists (select from directory.object_classes experience_root
     where experience_root.slug = '${experienceClassSlug}' and experience_root.id = any(${objectClass}.ancestor_ids)))`;

export interface ParentRow {
  readonly class_id: number;
  readonly can_edit: boolean;
}

/** `$1` = id, `$2`, `$3` = viewer; no row when the holon is absent or invisible. */
export const findParent = statement(
  'experiences.find-parent',
  `select h.class_id, ${canEditHolonSql('h', 2)} as can_edit
   from directory.holons h join directory.object_classes c on c.id = h.class_id
   where h.id = $1::integer and ${holonVisibleSql('h', 'c', 2)}`,
);

export interface ExperienceClassRow {
  readonly id: number;
  readonly slug: string;
  readonly info_field_groups: string;
}

/** `$1` = class of the parent; the active experience classes that it allows as children, in its order. */
export const listExperienceClasses = statement(
  'experiences.list-classes',
  `select c.id, c.slug, ${infoFieldGroupsSql('c')}::text as info_field_groups
   from directory.class_allowed_children allowed join directory.object_classes c on c.id = allowed.child_class_id
   where allowed.class_id = $1::integer and c.is_active and ${isExperienceClassSql('c')}
   order by allowed.position, c.id`,
);

/** `$1` = slug, `$2` = name, `$3` = description, `$4` = class, `$5` = parent, `$6` = infos; no row when the slug is taken. */
export const insertExperience = statement(
  'experiences.insert',
  `insert into directory.holons (slug, name, description, class_id, parent_id, infos)
   values ($1::text, $2::text, $3::text, $4::integer, $5::integer, $6::jsonb)
   on conflict (slug) do nothing returning id`,
);

export interface ExperienceRow {
  readonly body: string;
  readonly can_edit: boolean;
}

/** `$1` = id, `$2`, `$3` = viewer; no row when it is absent, invisible or no experience. */
export const findExperience = statement(
  'experiences.find',
  `select ${holonPublicSql('h', 'c', 2)}::text as body, ${canEditHolonSql('h', 2)} as can_edit
   from directory.holons h join directory.object_classes c on c.id = h.class_id
   where h.id = $1::integer and ${isExperienceClassSql('c')} and ${holonVisibleSql('h', 'c', 2)}`,
);

/** `$1` = id; the address of its logo. */
export const getLogo = statement('experiences.get-logo', 'select logo_url from directory.holons where id = $1::integer');

/** `$1` = id, `$2` = address, `$3` = blob; no row when the holon is absent or has this logo or a newer one. */
export const saveLogo = statement(
  'experiences.save-logo',
  `update directory.holons set logo_url = $2::text, logo_blob_id = $3::integer,
     updated_at = greatest(clock_timestamp(), updated_at + interval '1 microsecond')
   where id = $1::integer and coalesce(logo_blob_id, 0) < $3::integer returning id`,
);
