/** Statements of new experiences and their logos (rules/holons#experiences; D51, D51a). */
import { statement } from '#libs/orm';
import { infoFieldGroupsSql } from '../info-field-groups.ts';
import { holonPublicSql } from '../public-json.ts';
import { canEditHolonSql, holonVisibleSql } from '../visibility.ts';
import { experienceClassSlug } from './contract.ts';

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
