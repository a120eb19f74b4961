/** Statements that create experiences and set their logos (rules/holons#experiences; D51, D51a). */
import { type RowOf, type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { infoFieldGroupsSql } from '../classes/index.ts';
import { canEditHolonSql, holonPublicSql, holonVisibleSql, viewerParams } from '../visibility/index.ts';
import { experienceClassSlug } from './contract.ts';

/** Returns SQL that tests whether a class is `experience` or below it. */
function isExperienceClassSql(alias: string): Sql {
  const [objectClass, slug] = [sql.id(alias), sql.literal(experienceClassSlug)];
  return sql`(${objectClass}.slug = ${slug} or exists (select from directory.object_classes experience_root
     where experience_root.slug = ${slug} and experience_root.id = any(${objectClass}.ancestor_ids)))`;
}

/** Returns the parent holon. Returns no row if the holon does not exist or is invisible. */
export const findParent = statement.maybeOne({
  name: 'experiences.find-parent',
  params: { id: t.integer, ...viewerParams },
  row: { class_id: t.integer, can_edit: t.boolean },
  sql: ({ id, ...viewer }) => sql`
    select h.class_id, ${canEditHolonSql('h', viewer)} as can_edit
    from directory.holons h join directory.object_classes c on c.id = h.class_id
    where h.id = ${id} and ${holonVisibleSql('h', 'c', viewer)}`,
});

const experienceClassRow = { id: t.integer, slug: t.text, info_field_groups: t.text };
export type ExperienceClassRow = RowOf<typeof experienceClassRow>;

/** Returns the active experience classes that a class allows as children, in its order. */
export const listExperienceClasses = statement.many({
  name: 'experiences.list-classes',
  params: { classId: t.integer },
  row: experienceClassRow,
  sql: ({ classId }) => sql`
    select c.id, c.slug, ${infoFieldGroupsSql('c')}::text as info_field_groups
    from directory.class_allowed_children allowed join directory.object_classes c on c.id = allowed.child_class_id
    where allowed.class_id = ${classId} and c.is_active and ${isExperienceClassSql('c')}
    order by allowed.position, c.id`,
});

/** Returns an experience. Returns no row if it does not exist, is invisible or is not an experience. */
export const findExperience = statement.maybeOne({
  name: 'experiences.find',
  params: { id: t.integer, ...viewerParams },
  row: { body: t.text, can_edit: t.boolean },
  sql: ({ id, ...viewer }) => sql`
    select ${holonPublicSql('h', 'c', viewer)}::text as body, ${canEditHolonSql('h', viewer)} as can_edit
    from directory.holons h join directory.object_classes c on c.id = h.class_id
    where h.id = ${id} and ${isExperienceClassSql('c')} and ${holonVisibleSql('h', 'c', viewer)}`,
});

/** Returns the URL of the logo. */
export const getLogo = statement.maybeOne({
  name: 'experiences.get-logo',
  params: { id: t.integer },
  row: { logo_url: t.text.nullable },
  sql: ({ id }) => sql`select logo_url from directory.holons where id = ${id}`,
});

/** Locks the holon. Returns no row if it does not exist. */
export const lockForLogo = statement.maybeOne({
  name: 'experiences.lock-for-logo',
  params: { id: t.integer },
  row: { id: t.integer },
  sql: ({ id }) => sql`select id from directory.holons where id = ${id} for update`,
});

/** Saves a logo. Returns no row if the holon does not exist or already has this logo or a newer one. */
export const saveLogo = statement.maybeOne({
  name: 'experiences.save-logo',
  params: { id: t.integer, url: t.text, blobId: t.integer },
  row: { id: t.integer },
  sql: ({ id, url, blobId }) => sql`
    update directory.holons set logo_url = ${url}, logo_blob_id = ${blobId},
      updated_at = greatest(clock_timestamp(), updated_at + interval '1 microsecond')
    where id = ${id} and coalesce(logo_blob_id, 0) < ${blobId} returning id`,
});
