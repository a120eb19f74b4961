/**
 * Statements on journeys with usage counts, on steps and on their configuration (rules/journeys#journeys,
 * rules/steps#step-configuration; D16b).
 */
import { type RowOf, type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';
import { bodyRow, containsSql, journeyGramsOf, listSql, pageParams } from '../lists/index.ts';

/** Returns the SQL of one configuration flag. A flag counts as set if it differs from the default. */
const flagSql = (key: string, value: Sql, isSet: Sql): Sql =>
  sql`json_build_object('key', ${sql.literal(key)}, 'value', ${value}, 'is_set', ${isSet})`;

/** Returns the SQL of JSON fields, one per usage count. */
function usageSql(counts: Readonly<Record<string, string>>, id: Sql): Sql {
  const fields = Object.entries(counts).map(
    ([field, what]) => sql`${sql.literal(field)}, directory.usage_count(${sql.literal(what)}, ${id})`,
  );
  return sql`json_build_object(${sql.join(fields, sql`, `)})`;
}

/** Returns the SQL of the JourneyListItem fields. Usage counts include holons that the caller cannot see (D48). */
function journeyFieldsSql(alias: string): Sql {
  const row = sql.id(alias);
  return sql`'id', ${row}.id, 'slug', ${row}.slug, 'name', ${row}.name, 'description', ${row}.description, 'svc_app_slug', ${row}.svc_app,
  'applies_to_slug', (select applied.slug from directory.object_classes applied where applied.id = ${row}.applies_to_class_id),
  'applies_to_label', (select applied.label from directory.object_classes applied where applied.id = ${row}.applies_to_class_id),
  'object_kind', ${row}.object_kind, 'is_conversation', ${row}.is_conversation, 'public_visible', ${row}.public_visible,
  'config_flags', json_build_array(${flagSql('bulk_add', sql`${row}.bulk_add`, sql`${row}.bulk_add`)}),
  'step_count', (select count(*) from directory.journey_steps counted where counted.journey_id = ${row}.id and not counted.is_archived),
  'usage', ${usageSql(
    {
      holon_direct_count: 'journey_holons',
      membership_count: 'journey_memberships',
      relationship_count: 'journey_relationships',
    },
    sql`${row}.id`,
  )}`;
}

/** Returns the SQL of JourneyListItem for a row of `journeys`. */
export function journeyListItemSql(alias: string): Sql {
  return sql`json_build_object(${journeyFieldsSql(alias)})`;
}

/** Returns the reply of `journeys.get-many`. */
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
      'archived_questions', coalesce((
        select json_agg(json_build_object('id', q.id, 'text', q.text) order by q.id)
        from directory.journey_questions q where q.journey_id = j.id and q.is_retired), '[]'),
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

/** SQL of the JourneyStepItem fields of a row `s` of `journey_steps`. */
const stepFieldsSql = sql`'slug', s.slug, 'order', s.position, 'title', s.title, 'goal', s.goal,
  'success_criteria', s.success_criteria, 'starter_message', s.starter_message, 'is_archived', s.is_archived,
  'config_flags', json_build_array(${flagSql('pipeline_job', sql`s.pipeline_job`, sql`s.pipeline_job is not null`)}),
  'usage', ${usageSql({ membership_count: 'step_memberships', relationship_count: 'step_relationships' }, sql`s.id`)}`;

/** Returns a step by id, with its own fields besides JourneyStepItem. */
export const getStep = statement.one({
  name: 'v1.steps.get',
  params: { id: t.integer },
  row: bodyRow,
  sql: ({ id }) => sql`
    select json_build_object(${stepFieldsSql}, 'id', s.id, 'position', s.position, 'pipeline_job', s.pipeline_job)::text as body
    from directory.journey_steps s where s.id = ${id}`,
});

/** Returns a journey with its steps. */
export const getJourney = statement.maybeOne({
  name: 'v1.journeys.get',
  params: { slug: t.text },
  row: bodyRow,
  sql: ({ slug }) => sql`select json_build_object(${journeyFieldsSql('j')}, 'texts', j.texts, 'steps', coalesce((
     select json_agg(json_build_object(${stepFieldsSql}) order by s.position, s.id)
     from directory.journey_steps s where s.journey_id = j.id), '[]'))::text as body
   from directory.journeys j where j.slug = ${slug}`,
});

/** Lists journeys. All filters are optional, and the parameters have the names of the query. */
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
  sql: ({
    svc_app: app,
    object_kind: kind,
    applies_to: objectClass,
    is_conversation: isConversation,
    q: text,
    limit,
    offset,
  }) =>
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
 * Sums the rows of each usage count into one row. It deletes and inserts in one statement, so readers always see the
 * full count; concurrent runs process different rows.
 */
export const foldUsageCounts = statement.none({
  name: 'v1.usage.join-counts',
  sql: () => sql`
    with taken as (delete from directory.usage_counts returning what, id, amount)
    insert into directory.usage_counts (what, id, amount)
    select what, id, sum(amount) from taken group by what, id having sum(amount) <> 0`,
});

/** Records the changed dotted paths of a configuration and whether the change was made through `api` or `workspace`. */
export const addConfigAudit = statement.none({
  name: 'steps.add-config-audit',
  params: { stepId: t.integer, accountId: t.integer.nullable, source: t.text, paths: t.text.array },
  sql: ({ stepId, accountId, source, paths }) =>
    sql`insert into directory.step_config_audit (step_id, account_id, source, paths) values (${stepId}, ${accountId}, ${source}, ${paths})`,
});

/** Returns the job name and the stored configuration (JSON) of a step. */
export const findStepConfig = statement.maybeOne({
  name: 'steps.find-config',
  params: { stepId: t.integer },
  row: { pipeline_job: t.text.nullable, config: t.text },
  sql: ({ stepId }) =>
    sql`select pipeline_job, config::text as config from directory.journey_steps where id = ${stepId}`,
});

/** Returns the reply of `steps.find`. */
export const findSteps = statement.one({
  name: 'steps.find',
  params: { slug: t.text },
  row: bodyRow,
  sql: ({ slug }) => sql`
    select json_build_object('ids', coalesce(json_agg(id order by id), '[]'))::text as body from directory.journey_steps where slug = ${slug}`,
});

/** Returns a list of StepItem. Returns no row if the journey does not exist. */
export const listSteps = statement.maybeOne({
  name: 'steps.list',
  params: { journey: t.text },
  row: bodyRow,
  sql: ({ journey }) => sql`
    select coalesce((
      select json_agg(json_build_object('id', s.id, 'slug', s.slug, 'order', s.position, 'title', s.title, 'goal', s.goal,
        'success_criteria', s.success_criteria, 'starter_message', s.starter_message, 'is_archived', s.is_archived,
        'pipeline_job', s.pipeline_job, 'updated_at', directory.iso_utc(s.updated_at)) order by s.position, s.id)
      from directory.journey_steps s where s.journey_id = j.id), '[]')::text as body
    from directory.journeys j where j.slug = ${journey}`,
});

/**
 * Returns the id of a journey and locks it against other writers until the transaction ends. Writers lock a journey
 * before its steps.
 */
export const lockJourneyBySlug = statement.maybeOne({
  name: 'journeys.lock-by-slug',
  params: { slug: t.text },
  row: { id: t.integer },
  sql: ({ slug }) => sql`select id from directory.journeys where slug = ${slug} for no key update`,
});

/** Locks steps against other writers until the transaction ends. */
export const lockSteps = statement.none({
  name: 'steps.lock',
  params: { ids: t.integer.array },
  sql: ({ ids }) => sql`select id from directory.journey_steps where id = any(${ids}) order by id for no key update`,
});

const stepConfigRow = {
  id: t.integer,
  /** Name of the job, whether or not a job of that name is registered. */
  pipeline_job: t.text.nullable,
  /** Stored configuration as JSON. */
  config: t.text,
  /** Time of the last change in the format of the API (rules/http#datetimes-out). */
  updated_at: t.text,
};
export type StepConfigRow = RowOf<typeof stepConfigRow>;

/** Slugs of a journey and one of its steps. */
const stepRef = { journey: t.text, step: t.text };

const stepBySlugsSql = ({ journey, step }: { readonly journey: SqlPart; readonly step: SqlPart }): Sql => sql`
  select s.id, s.pipeline_job, s.config::text as config, directory.iso_utc(s.updated_at) as updated_at
   from directory.journey_steps s join directory.journeys j on j.id = s.journey_id
   where j.slug = ${journey} and s.slug = ${step}`;

export const findStepBySlugs = statement.maybeOne({
  name: 'steps.find-by-place',
  params: stepRef,
  row: stepConfigRow,
  sql: stepBySlugsSql,
});

/** Returns a step like `findStepBySlugs` and locks the row against other writers. */
export const lockStepBySlugs = statement.maybeOne({
  name: 'steps.lock-by-place',
  params: stepRef,
  row: stepConfigRow,
  sql: (slugs) => sql`${stepBySlugsSql(slugs)} for no key update of s`,
});

/** Saves the configuration and returns the stored row. `updated_at` changes only if the configuration changed. */
export const saveStepConfig = statement.one({
  name: 'steps.save-config',
  params: { id: t.integer, config: t.json },
  row: stepConfigRow,
  sql: ({ id, config }) => sql`
    update directory.journey_steps set config = ${config}, updated_at = case when config is distinct from ${config}
      then greatest(clock_timestamp(), updated_at + interval '1 microsecond') else updated_at end
    where id = ${id}
    returning id, pipeline_job, config::text as config, directory.iso_utc(updated_at) as updated_at`,
});

/** Returns the audit entries of a step, newest first. Returns no row if the step does not exist. */
export const listConfigAudit = statement.maybeOne({
  name: 'steps.list-config-audit',
  params: { journey: t.text, step: t.text, limit: t.integer },
  row: { items: t.text },
  sql: ({ journey, step, limit }) => sql`
    select coalesce((
      select json_agg(entry.body order by entry.id desc) from (
        select a.id, json_build_object('id', a.id, 'changed_at', directory.iso_utc(a.changed_at), 'source', a.source,
          'account', case when u.id is not null then json_build_object('id', u.id, 'email', u.email) end, 'paths', a.paths) as body
        from directory.step_config_audit a left join directory.accounts u on u.id = a.account_id
        where a.step_id = s.id order by a.id desc limit ${limit}) as entry), '[]')::text as items
    from directory.journey_steps s join directory.journeys j on j.id = s.journey_id
    where j.slug = ${journey} and s.slug = ${step}`,
});
