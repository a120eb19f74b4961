/** Reads of journeys, and the counts of their use (rules/journeys#journeys). JSON is made by SQL. */
import { statement } from '#libs/orm';
import { listStatement } from '../list-statement.ts';
import { containsSql, journeyGramsOf } from '../text-match.ts';

/** A setting counts as set when it is not the default. */
const flagSql = (key: string, value: string, isSet: string): string =>
  `json_build_object('key', '${key}', 'value', ${value}, 'is_set', ${isSet})`;

const usageSql = (counts: Readonly<Record<string, string>>, id: string): string =>
  `json_build_object(${Object.entries(counts)
    .map(([field, what]) => `'${field}', directory.usage_count('${what}', ${id})`)
    .join(', ')})`;

/** Fields of JourneyListItem for a row of `journeys`; usage is that of everything, whoever asks (D48). */
const journeyFieldsSql = (
  j: string,
): string => `'slug', ${j}.slug, 'name', ${j}.name, 'description', ${j}.description, 'svc_app_slug', ${j}.svc_app,
  'applies_to_slug', (select applied.slug from directory.object_classes applied where applied.id = ${j}.applies_to_class_id),
  'applies_to_label', (select applied.label from directory.object_classes applied where applied.id = ${j}.applies_to_class_id),
  'object_kind', ${j}.object_kind, 'is_conversation', ${j}.is_conversation, 'public_visible', ${j}.public_visible,
  'config_flags', json_build_array(${flagSql('bulk_add', `${j}.bulk_add`, `${j}.bulk_add`)}),
  'step_count', (select count(*) from directory.journey_steps counted where counted.journey_id = ${j}.id and not counted.is_archived),
  'usage', ${usageSql(
    { holon_direct_count: 'journey_holons', membership_count: 'journey_memberships', relationship_count: 'journey_relationships' },
    `${j}.id`,
  )}`;

/** JourneyListItem of a row of `journeys`. */
export function journeyListItemSql(j: string): string {
  return `json_build_object(${journeyFieldsSql(j)})`;
}

/** `$1` = ids, `$2` = slugs; one row with the reply of `journeys.get-many`. */
export const getJourneys = statement(
  'journeys.get-many',
  `select json_build_object('items', coalesce(json_agg(json_build_object('id', j.id, 'slug', j.slug, 'name', j.name,
     'description', j.description, 'texts', j.texts, 'is_conversation', j.is_conversation,
     'questions', coalesce((
       select json_agg(json_build_object('id', q.id, 'text', q.text, 'order', q.place) order by q.place)
       from (select id, text, row_number() over (order by position, id) - 1 as place
             from directory.journey_questions where journey_id = j.id and not is_retired) as q), '[]'),
     'steps', coalesce((
       select json_agg(json_build_object('id', s.id, 'slug', s.slug, 'title', s.title, 'order', s.position, 'is_archived', s.is_archived,
         'pipeline_job', s.pipeline_job) order by s.position, s.id)
       from directory.journey_steps s where s.journey_id = j.id), '[]'),
     'owner_event_ids', coalesce((
       select json_agg(h.id order by h.id)
       from directory.holon_journeys a join directory.holons h on h.id = a.holon_id
       join directory.object_classes c on c.id = h.class_id and c.conversation_event
       where a.journey_id = j.id), '[]')
     ) order by j.id), '[]'))::text as body
   from (select id from directory.journeys where id = any($1::integer[])
         union select id from directory.journeys where slug = any($2::text[])) as wanted
   join directory.journeys j on j.id = wanted.id`,
);

/** `$1` = slug; one row with the journey and its steps. */
export const getJourney = statement(
  'v1.journeys.get',
  `select json_build_object(${journeyFieldsSql('j')}, 'steps', coalesce((
     select json_agg(json_build_object('slug', s.slug, 'order', s.position, 'title', s.title, 'goal', s.goal,
       'success_criteria', s.success_criteria, 'starter_message', s.starter_message, 'is_archived', s.is_archived,
       'config_flags', json_build_array(${flagSql('pipeline_job', 's.pipeline_job', 's.pipeline_job is not null')}),
       'usage', ${usageSql({ membership_count: 'step_memberships', relationship_count: 'step_relationships' }, 's.id')}) order by s.position, s.id)
     from directory.journey_steps s where s.journey_id = j.id), '[]'))::text as body
   from directory.journeys j where j.slug = $1::text`,
);

/** `$1` = application, `$2` = kind, `$3` = class, `$4` = conversation or not, `$5` = text, each or null, `$6` = limit, `$7` = offset. */
export const listJourneys = listStatement({
  name: 'v1.journeys.list',
  planned: 'each-call',
  from: 'directory.journeys j',
  where: `($1::text is null or j.svc_app = $1::text) and ($2::text is null or j.object_kind = $2::text)
    and ($3::text is null or j.applies_to_class_id = (select k.id from directory.object_classes k where k.slug = $3::text))
    and ($4::boolean is null or j.is_conversation = $4::boolean)
    and ($5::text is null or ${containsSql('j.search_text', '$5', journeyGramsOf('j'))})`,
  key: 'j.id',
  order: 'j.name, j.id',
  itemFrom: 'directory.journeys j on j.id = page.key',
  item: journeyListItemSql('j'),
  limit: '$6::integer',
  offset: '$7::integer',
});

/**
 * Joins the rows of each count of use into one. Takes rows and puts their sum in their place in one statement, so that a reader sees either; two at
 * a time take different rows.
 */
export const joinUsageCounts = statement(
  'v1.usage.join-counts',
  `with taken as (delete from directory.usage_counts returning what, id, amount)
   insert into directory.usage_counts (what, id, amount)
   select what, id, sum(amount) from taken group by what, id having sum(amount) <> 0`,
);
