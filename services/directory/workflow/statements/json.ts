/**
 * SQL of memberships, relationships and worklist items as the open API shows them (rules/memberships#membership-lists; D46, D47a), and the joins that
 * their aliases come from.
 */
import { type Sql, sql } from '#libs/sql';
import { holonPublicSql, personOrNullSql, personPublicSql } from '../../public-json.ts';
import type { ViewerSql } from '../../viewer.ts';

/** Journey, step and responsible person of a row; aliases `j`, `s`, `responsible`. */
function workflowJoinsSql(alias: string): Sql {
  const row = sql.id(alias);
  return sql`left join directory.journeys j on j.id = ${row}.journey_id
    left join directory.journey_steps s on s.id = ${row}.step_id
    left join directory.people responsible on responsible.id = ${row}.responsible_person_id`;
}

const workflowEndSql = (alias: string): Sql =>
  sql`'follow_up_after', ${sql.id(alias)}.follow_up_after, 'responsible_person', ${personOrNullSql('responsible')}`;

const counterpartJoinsSql = {
  person: sql`join directory.people p on p.id = m.person_id`,
  holon: sql`join directory.holons h on h.id = m.holon_id join directory.object_classes c on c.id = h.class_id`,
} as const;

/** What follows `directory.memberships m` so that every field of an item with these counterparts is there. */
export const membershipJoinsSql = (...counterparts: readonly (keyof typeof counterpartJoinsSql)[]): Sql =>
  sql.join([...counterparts.map((counterpart) => counterpartJoinsSql[counterpart]), workflowJoinsSql('m')], sql` `);

const holonSql = (viewer: ViewerSql): Sql => sql`'holon', ${holonPublicSql('h', 'c', viewer)}`;
const personSql = sql`'person', ${personPublicSql('p')}`;

function membershipSql(...counterparts: Sql[]): Sql {
  return sql`json_build_object('membership_id', m.id, ${sql.join(counterparts, sql`, `)}, 'journey_name', j.name, 'journey_slug', j.slug,
    'step_title', s.title, 'step_slug', s.slug, ${workflowEndSql('m')})`;
}

/** Item of a person's memberships. */
export const membershipWithHolonSql = (viewer: ViewerSql): Sql => membershipSql(holonSql(viewer));
/** Item of a holon's memberships. */
export const membershipWithPersonSql = membershipSql(personSql);
/** The membership in answers to writes: with both. */
export const membershipWithBothSql = (viewer: ViewerSql): Sql => membershipSql(personSql, holonSql(viewer));

/** What follows `directory.relationships r`. */
export const relationshipJoinsSql = sql`join directory.holons fh on fh.id = r.from_holon_id join directory.object_classes fc on fc.id = fh.class_id
    join directory.holons th on th.id = r.to_holon_id join directory.object_classes tc on tc.id = th.class_id
    ${workflowJoinsSql('r')}`;

const sidesSql = (viewer: ViewerSql): Sql =>
  sql`'from_holon', ${holonPublicSql('fh', 'fc', viewer)}, 'to_holon', ${holonPublicSql('th', 'tc', viewer)}`;

/** Relationship list item. */
export const relationshipSql = (viewer: ViewerSql): Sql =>
  sql`json_build_object('relationship_id', r.id, ${sidesSql(viewer)}, 'journey_name', j.name, 'step_title', s.title, ${workflowEndSql('r')})`;

function worklistSql(kind: 'person' | 'holon', alias: string, counterparts: Sql): Sql {
  const row = sql.id(alias);
  return sql`json_build_object('kind', ${sql.literal(kind)}, 'id', ${row}.id, 'follow_up_after', ${row}.follow_up_after, 'journey_name', j.name,
    'step_title', s.title, 'responsible_person', ${personOrNullSql('responsible')}, ${counterparts})`;
}

/** Worklist item of a membership. */
export const worklistMembershipSql = (viewer: ViewerSql): Sql => worklistSql('person', 'm', sql`${personSql}, ${holonSql(viewer)}`);
/** Worklist item of a relationship. */
export const worklistRelationshipSql = (viewer: ViewerSql): Sql => worklistSql('holon', 'r', sidesSql(viewer));
