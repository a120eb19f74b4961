/** What the rules of memberships and relationships ask the database: catalogue, steps, who may be responsible. */
import { statement } from '#libs/orm';

export interface JourneyRow {
  readonly id: number;
  readonly slug: string;
  readonly bulk_add: boolean;
  /** In the effective catalogue of the holon's class: its own journeys and those of its ancestors. */
  readonly allowed: boolean;
  /** JSON list of JourneyStep. */
  readonly steps: string;
}

/** `$1` = holon, `$2` = slugs; a JourneyRow for each journey that exists. */
export const findJourneysFor = statement(
  'workflow.find-journeys',
  `select j.id, j.slug, j.bulk_add,
     exists (select from directory.class_journeys a
             where a.journey_id = j.id and (a.class_id = c.id or a.class_id = any(c.ancestor_ids))) as allowed,
     coalesce((
       select json_agg(json_build_object('id', s.id, 'slug', s.slug, 'position', s.position, 'is_archived', s.is_archived)
         order by s.position, s.id)
       from directory.journey_steps s where s.journey_id = j.id), '[]')::text as steps
   from directory.holons h join directory.object_classes c on c.id = h.class_id
   join directory.journeys j on j.slug = any($2::text[])
   where h.id = $1::integer`,
);

/** `$1` = journey; one row with the JSON list of its steps. */
export const findJourneySteps = statement(
  'workflow.find-steps',
  `select coalesce(json_agg(json_build_object('id', s.id, 'slug', s.slug, 'position', s.position, 'is_archived', s.is_archived)
     order by s.position, s.id), '[]')::text as steps
   from directory.journey_steps s where s.journey_id = $1::integer`,
);

/** `$1` = ids; those of people who have a user account. They stay until the transaction ends. */
export const findAccountable = statement(
  'workflow.find-accountable',
  `select p.id from directory.people p
   where p.id = any($1::integer[]) and exists (select from directory.accounts a where a.person_id = p.id)
   for key share of p`,
);

/** `$1` = ids; those of people who exist. They stay until the transaction ends. */
export const findPeople = statement(
  'workflow.find-people',
  'select p.id from directory.people p where p.id = any($1::integer[]) order by p.id for key share',
);

/** `$1` = holon; a row when it exists. */
export const findHolon = statement('workflow.find-holon', 'select h.id from directory.holons h where h.id = $1::integer for key share');
