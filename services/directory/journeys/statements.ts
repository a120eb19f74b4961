/** Reads of journeys, and the counts of their use (rules/journeys#journeys). JSON is made by SQL. */
import { type Sql, sql, statement, t } from '#libs/sql';
import { bodyRow } from '../body.ts';
import { listSql, pageParams } from '../list-statement.ts';
import { containsSql, journeyGramsOf } from '../text-match.ts';

/** A setting counts as set when it is not the default. */
const flagSql = (key: string, value: Sql, isSet: Sql): Sql =>
  sql`json_build_object('key', ${sql.literal(key)}, 'value', ${value}, 'is_set', ${isSet})`;

/** Fields of the JSON, each with the name of its count. */
function usageSql(counts: Readonly<Record<string, string>>, id: Sql): Sql {
  const fields = Object.entries(counts).map(
    ([field, what]) => sql`${sql.literal(field)}, directory.usage_count(${sql.literal(what)}, ${id})`,
  );
  return sql`json_build_object(${sql.join(fields, sql`, `)})`;
}

/** Fields of JourneyListItem for a row of `journeys`; usage is that of everything, whoever asks (D48). */
function journeyFieldsSql(alias: string): Sql {
  const row = sql.id(alias);
  return sql`'slug', ${row}.slug, 'name', ${row}.name, 'description', ${row}.description, 'svc_app_slug', ${row}.svc_app,
  'applies_to_slug', (select applied.slug from directory.object_classes applied where applied.id = ${row}.applies_to_class_id),
  'applies_to_label', (select applied.label from directory.object_classes applied where applied.id = ${row}.applies_to_class_id),
  'object_kind', ${row}.object_kind, 'is_conversation', ${row}.is_conversation, 'public_visible', ${row}.public_visible,
  'config_flags', json_build_array(${flagSql('bulk_add', sql`${row}.bulk_add`, sql`${row}.bulk_add`)}),
  'step_count', (select count(*) from directory.journey_steps counted where counted.journey_id = ${row}.id and not counted.is_archived),
  'usage', ${usageSql(
    { holon_direct_count: 'journey_holons', membership_count: 'journey_memberships', relationship_count: 'journey_relationships' },
    sql`${row}.id`,
  )}`;
}

/** JourneyListItem of a row of `journeys`. */
export function journeyListItemSql(alias: string): Sql {
  return sql`json_build_object(${journeyFieldsSql(alias)})`;
}

/** The reply of `journeys.get-many`. */
export const getJourneys = statement.one({
  name: 'journeys.get-many',
  params: { ids: t.integer.array, slugs: t.text.array },
  row: bodyRow,
  sql: ({ ids, slugs }) => sql`
    select json_build_object('items', coalesce(json_agg(json_build_object('id', j.id, 'slug', j.slug, 'name', j.name,
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
    from (select id from directory.journeys where id = any(${ids})
          union select id from directory.journeys where slug = any(${slugs})) as wanted
    join directory.journeys j on j.id = wanted.id`,
});

/** The journey and its steps. */
export const getJourney = statement.maybeOne({
  name: 'v1.journeys.get',
  params: { slug: t.text },
  row: bodyRow,
  sql: ({ slug }) => sql`select json_build_object(${journeyFieldsSql('j')}, 'steps', coalesce((
     select json_agg(json_build_object('slug', s.slug, 'order', s.position, 'title', s.title, 'goal', s.goal,
       'success_criteria', s.success_criteria, 'starter_message', s.starter_message, 'is_archived', s.is_archived,
       'config_flags', json_build_array(${flagSql('pipeline_job', sql`s.pipeline_job`, sql`s.pipeline_job is not null`)}),
       'usage', ${usageSql({ membership_count: 'step_memberships', relationship_count: 'step_relationships' }, sql`s.id`)}) order by s.position, s.id)
     from directory.journey_steps s where s.journey_id = j.id), '[]'))::text as body
   from directory.journeys j where j.slug = ${slug}`,
});

/** Narrowed where something is given; parameters have the names of the query. */
export const listJourneys = statement.one({
  name: 'v1.journeys.list',
  planned: 'each-call',
  params: {
    svc_app: t.text.nullable,
    object_kind: t.text.nullable,
    applies_to: t.text.nullable,
    is_conversation: t.boolean.nullable,
    q: t.text.nullable,
    ...pageParams,
  },
  row: bodyRow,
  sql: ({ svc_app: app, object_kind: kind, applies_to: objectClass, is_conversation: isConversation, q: text, limit, offset }) =>
    listSql({
      from: sql`directory.journeys j`,
      where: sql`(${app} is null or j.svc_app = ${app}) and (${kind} is null or j.object_kind = ${kind})
    and (${objectClass} is null or j.applies_to_class_id = (select k.id from directory.object_classes k where k.slug = ${objectClass}))
    and (${isConversation} is null or j.is_conversation = ${isConversation})
    and (${text} is null or ${containsSql(sql`j.search_text`, text, journeyGramsOf('j'))})`,
      key: sql`j.id`,
      order: sql`j.search_name, j.id`,
      itemFrom: sql`directory.journeys j on j.id = page.key`,
      item: journeyListItemSql('j'),
      limit,
      offset,
    }),
});

/**
 * Joins the rows of each count of use into one. Takes rows and puts their sum in their place in one statement, so that a reader sees either; two at
 * a time take different rows.
 */
export const joinUsageCounts = statement.none({
  name: 'v1.usage.join-counts',
  sql: () => sql`
    with taken as (delete from directory.usage_counts returning what, id, amount)
    insert into directory.usage_counts (what, id, amount)
    select what, id, sum(amount) from taken group by what, id having sum(amount) <> 0`,
});
