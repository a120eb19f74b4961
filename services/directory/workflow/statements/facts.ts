/** What the rules of memberships and relationships ask the database: catalogue, steps, who may be responsible. */
import { sql, statement, t } from '#libs/sql';

export const findJourneysFor = statement.many({
  name: 'workflow.find-journeys',
  params: { holonId: t.integer, slugs: t.text.array },
  row: {
    id: t.integer,
    slug: t.text,
    bulk_add: t.boolean,
    /** In the effective catalogue of the holon's class: its own journeys and those of its ancestors. */
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

/** The JSON list of its steps. */
export const findJourneySteps = statement.one({
  name: 'workflow.find-steps',
  params: { journeyId: t.integer },
  row: { steps: t.text },
  sql: ({ journeyId }) => sql`
    select coalesce(json_agg(json_build_object('id', s.id, 'slug', s.slug, 'position', s.position, 'is_archived', s.is_archived)
      order by s.position, s.id), '[]')::text as steps
    from directory.journey_steps s where s.journey_id = ${journeyId}`,
});

/** Those of the people who exist, and whether they have a user account. They stay until the transaction ends. */
export const findPeople = statement.many({
  name: 'workflow.find-people',
  params: { ids: t.integer.array },
  row: { id: t.integer, has_account: t.boolean },
  sql: ({ ids }) => sql`
    select p.id, exists (select from directory.accounts a where a.person_id = p.id) as has_account
    from directory.people p where p.id = any(${ids}) order by p.id for key share of p`,
});

export const findHolon = statement.maybeOne({
  name: 'workflow.find-holon',
  params: { id: t.integer },
  row: { id: t.integer },
  sql: ({ id }) => sql`select h.id from directory.holons h where h.id = ${id} for key share`,
});
