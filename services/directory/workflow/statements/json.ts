/**
 * SQL of memberships, relationships and worklist items as the open API shows them (rules/memberships#membership-lists; D46, D47a), and the joins that
 * their aliases come from. The viewer is the place of the first of the two viewer parameters, as in `holonVisibleSql`.
 */
import { holonPublicSql, personOrNullSql, personPublicSql } from '../../public-json.ts';

/** Journey, step and responsible person of a row; aliases `j`, `s`, `responsible`. */
const workflowJoinsSql = (row: string): string => `left join directory.journeys j on j.id = ${row}.journey_id
    left join directory.journey_steps s on s.id = ${row}.step_id
    left join directory.people responsible on responsible.id = ${row}.responsible_person_id`;

const workflowEndSql = (row: string): string =>
  `'follow_up_after', ${row}.follow_up_after, 'responsible_person', ${personOrNullSql('responsible')}`;

const counterpartJoinsSql = {
  person: 'join directory.people p on p.id = m.person_id',
  holon: 'join directory.holons h on h.id = m.holon_id join directory.object_classes c on c.id = h.class_id',
} as const;

/** What follows `directory.memberships m` so that every field of an item with these counterparts is there. */
export const membershipJoinsSql = (...counterparts: readonly (keyof typeof counterpartJoinsSql)[]): string =>
  [...counterparts.map((counterpart) => counterpartJoinsSql[counterpart]), workflowJoinsSql('m')].join(' ');

const holonSql = (viewer: number): string => `'holon', ${holonPublicSql('h', 'c', viewer)}`;
const personSql = `'person', ${personPublicSql('p')}`;

function membershipSql(...counterparts: string[]): string {
  return `json_build_object('membership_id', m.id, ${counterparts.join(', ')}, 'journey_name', j.name, 'journey_slug', j.slug,
    'step_title', s.title, 'step_slug', s.slug, ${workflowEndSql('m')})`;
}

/** Item of a person's memberships. */
export const membershipWithHolonSql = (viewer: number): string => membershipSql(holonSql(viewer));
/** Item of a holon's memberships. */
export const membershipWithPersonSql = membershipSql(personSql);
/** The membership in answers to writes: with both. */
export const membershipWithBothSql = (viewer: number): string => membershipSql(personSql, holonSql(viewer));

/** What follows `directory.relationships r`. */
export const relationshipJoinsSql = `join directory.holons fh on fh.id = r.from_holon_id join directory.object_classes fc on fc.id = fh.class_id
    join directory.holons th on th.id = r.to_holon_id join directory.object_classes tc on tc.id = th.class_id
    ${workflowJoinsSql('r')}`;

const sidesSql = (viewer: number): string =>
  `'from_holon', ${holonPublicSql('fh', 'fc', viewer)}, 'to_holon', ${holonPublicSql('th', 'tc', viewer)}`;

/** Relationship list item. */
export const relationshipSql = (viewer: number): string =>
  `json_build_object('relationship_id', r.id, ${sidesSql(viewer)}, 'journey_name', j.name, 'step_title', s.title, ${workflowEndSql('r')})`;

const worklistSql = (kind: 'person' | 'holon', row: string, counterparts: string): string =>
  `json_build_object('kind', '${kind}', 'id', ${row}.id, 'follow_up_after', ${row}.follow_up_after, 'journey_name', j.name,
    'step_title', s.title, 'responsible_person', ${personOrNullSql('responsible')}, ${counterparts})`;

/** Worklist item of a membership. */
export const worklistMembershipSql = (viewer: number): string => worklistSql('person', 'm', `${personSql}, ${holonSql(viewer)}`);
/** Worklist item of a relationship. */
export const worklistRelationshipSql = (viewer: number): string => worklistSql('holon', 'r', sidesSql(viewer));
