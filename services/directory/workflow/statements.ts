/**
 * Statements on memberships and relationships at steps of journeys: JSON, state, and the data that updates check
 * (rules/memberships#updates; D46, D46a, D47a).
 */
import { type RowOf, sql, type Sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';
import { personOrNullSql, personPublicSql } from '../api-objects/index.ts';
import {
  canEditHolonSql,
  holonPublicSql,
  holonTagSql,
  holonVisibleSql,
  viewerParams,
  type ViewerSql,
} from '../visibility/index.ts';

export const findJourneysFor = statement.many({
  name: 'workflow.find-journeys',
  params: { holonId: t.integer, slugs: t.text.array },
  row: {
    id: t.integer,
    slug: t.text,
    bulk_add: t.boolean,
    /**
     * Whether the journey is in the effective catalogue of the holon's class: the journeys of the class and of its
     * ancestor classes.
     */
    allowed: t.boolean,
    /** JSON list of JourneyStep. */
    steps: t.text,
  },
  sql: ({ holonId, slugs }) => sql`
    select j.id, j.slug, j.bulk_add,
      exists (select from directory.class_journeys a
              where a.journey_id = j.id and (a.class_id = c.id or a.class_id = any(c.ancestor_ids))) as allowed,
      coalesce((
        select json_agg(json_build_object('id', s.id, 'slug', s.slug, 'position', s.position, 'is_archived', s.is_archived)
          order by s.position, s.id)
        from directory.journey_steps s where s.journey_id = j.id), '[]')::text as steps
    from directory.holons h join directory.object_classes c on c.id = h.class_id
    join directory.journeys j on j.slug = any(${slugs})
    where h.id = ${holonId}`,
});

/** Returns the steps of a journey as a JSON list. */
export const findJourneySteps = statement.one({
  name: 'workflow.find-steps',
  params: { journeyId: t.integer },
  row: { steps: t.text },
  sql: ({ journeyId }) => sql`
    select coalesce(json_agg(json_build_object('id', s.id, 'slug', s.slug, 'position', s.position, 'is_archived', s.is_archived)
      order by s.position, s.id), '[]')::text as steps
    from directory.journey_steps s where s.journey_id = ${journeyId}`,
});

/**
 * Returns the existing people among the ids and whether they have an account. They are share-locked until the
 * transaction ends.
 */
export const findPeople = statement.many({
  name: 'workflow.find-people',
  params: { ids: t.integer.array },
  row: { id: t.integer, has_account: t.boolean },
  sql: ({ ids }) => sql`
    select p.id, exists (select from directory.accounts a where a.person_id = p.id) as has_account
    from directory.people p where p.id = any(${ids}) order by p.id for key share of p`,
});

/** Returns what the caller may do with the holons. They are share-locked until the transaction ends. */
export const findHolons = statement.many({
  name: 'workflow.find-holons',
  params: { ids: t.integer.array, ...viewerParams },
  row: { id: t.integer, visible: t.boolean, editable: t.boolean },
  sql: ({ ids, ...viewer }) => sql`
    select h.id, ${holonVisibleSql('h', 'c', viewer)} as visible, ${canEditHolonSql('h', viewer)} as editable
    from directory.holons h join directory.object_classes c on c.id = h.class_id
    where h.id = any(${ids}) order by h.id for key share of h`,
});

/** Returns SQL that joins journey, step and responsible person of a row, as `j`, `s`, `responsible`. */
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

/** Returns the joins after `directory.memberships m` for items with these counterparts (person, holon). */
export const membershipJoinsSql = (...counterparts: readonly (keyof typeof counterpartJoinsSql)[]): Sql =>
  sql.join([...counterparts.map((counterpart) => counterpartJoinsSql[counterpart]), workflowJoinsSql('m')], sql` `);

const holonSql = (viewer: ViewerSql): Sql => sql`'holon', ${holonPublicSql('h', 'c', viewer)}`;
const personSql = sql`'person', ${personPublicSql('p')}`;

function membershipSql(...counterparts: Sql[]): Sql {
  return sql`json_build_object('membership_id', m.id, ${sql.join(counterparts, sql`, `)}, 'journey_name', j.name, 'journey_slug', j.slug,
    'step_title', s.title, 'step_slug', s.slug, ${workflowEndSql('m')})`;
}

/** Returns the SQL of an item in a person's list of memberships. */
export const membershipWithHolonSql = (viewer: ViewerSql): Sql => membershipSql(holonSql(viewer));
/** SQL of an item in a holon's list of memberships. */
export const membershipWithPersonSql = membershipSql(personSql);
/** Returns the SQL of a membership in replies to writes, with person and holon. */
export const membershipWithBothSql = (viewer: ViewerSql): Sql => membershipSql(personSql, holonSql(viewer));
/** SQL of the text whose digest is the ETag of a membership, the same for all callers (W12). */
export const membershipTagSql = sql`${membershipSql(personSql, sql`'holon', ${holonTagSql('h', 'c')}`)}::text`;

/** Joins after `directory.relationships r`. */
export const relationshipJoinsSql = sql`join directory.holons fh on fh.id = r.from_holon_id join directory.object_classes fc on fc.id = fh.class_id
    join directory.holons th on th.id = r.to_holon_id join directory.object_classes tc on tc.id = th.class_id
    ${workflowJoinsSql('r')}`;

function relationshipOfSql(sides: Sql): Sql {
  return sql`json_build_object('relationship_id', r.id, ${sides}, 'journey_name', j.name, 'step_title', s.title, ${workflowEndSql('r')})`;
}

const sidesSql = (viewer: ViewerSql): Sql =>
  sql`'from_holon', ${holonPublicSql('fh', 'fc', viewer)}, 'to_holon', ${holonPublicSql('th', 'tc', viewer)}`;

/** Returns the SQL of an item in a list of relationships. */
export const relationshipSql = (viewer: ViewerSql): Sql => relationshipOfSql(sidesSql(viewer));
/** SQL of the text whose digest is the ETag of a relationship, the same for all callers (W12). */
export const relationshipTagSql = sql`${relationshipOfSql(sql`'from_holon', ${holonTagSql('fh', 'fc')}, 'to_holon', ${holonTagSql('th', 'tc')}`)}::text`;

function worklistSql(kind: 'person' | 'holon', alias: string, counterparts: Sql): Sql {
  const row = sql.id(alias);
  return sql`json_build_object('kind', ${sql.literal(kind)}, 'id', ${row}.id, 'follow_up_after', ${row}.follow_up_after, 'journey_name', j.name,
    'step_title', s.title, 'responsible_person', ${personOrNullSql('responsible')}, ${counterparts})`;
}

/** Returns the SQL of a membership's worklist item. */
export const worklistMembershipSql = (viewer: ViewerSql): Sql =>
  worklistSql('person', 'm', sql`${personSql}, ${holonSql(viewer)}`);
/** Returns the SQL of a relationship's worklist item. */
export const worklistRelationshipSql = (viewer: ViewerSql): Sql => worklistSql('holon', 'r', sidesSql(viewer));

/** Parameters of queries about one row for a caller. */
export const rowParams = { id: t.integer, ...viewerParams };

/** Row of a statement that returns the JSON of a membership or relationship. */
export const writtenRow = {
  /** As the caller sees it. */
  body: t.text,
  /** Text whose digest is the entity tag. */
  tag: t.text,
};

/** Columns of the current state of a membership or relationship, with the caller's rights. */
export const workflowRow = {
  /** People and holons in whose feeds the row's notes appear. */
  person_ids: t.integer.array,
  holon_ids: t.integer.array,
  journey_id: t.integer.nullable,
  journey_slug: t.text.nullable,
  step_id: t.integer.nullable,
  step_slug: t.text.nullable,
  follow_up_after: t.text.nullable,
  responsible_person_id: t.integer.nullable,
  visible: t.boolean,
  editable: t.boolean,
};
export type WorkflowRow = RowOf<typeof workflowRow>;

export function stateSql(alias: string): Sql {
  const row = sql.id(alias);
  return sql`${row}.journey_id, j.slug as journey_slug, ${row}.step_id, s.slug as step_slug,
     ${row}.follow_up_after::text as follow_up_after, ${row}.responsible_person_id`;
}

/** Parameters with the new values of a row. */
export const stateParams = {
  id: t.integer,
  journeyId: t.integer.nullable,
  stepId: t.integer.nullable,
  followUpAfter: t.date.nullable,
  responsiblePersonId: t.integer.nullable,
};

export function saveSql(table: string, state: Readonly<Record<keyof typeof stateParams, SqlPart>>): Sql {
  return sql`update ${sql.id(table)}
   set journey_id = ${state.journeyId}, step_id = ${state.stepId}, follow_up_after = ${state.followUpAfter},
     responsible_person_id = ${state.responsiblePersonId}
   where id = ${state.id}`;
}
