/** Steps of journeys and their configuration (rules/steps#step-configuration; D16b). */
import { type RowOf, type Sql, sql, type SqlPart, statement, t } from '#libs/sql';
import { bodyRow } from '../body.ts';

/** Remembers who changed which dotted paths, through `api` or `workspace`. */
export const addConfigAudit = statement.none({
  name: 'steps.add-config-audit',
  params: { stepId: t.integer, accountId: t.integer.nullable, source: t.text, paths: t.text.array },
  sql: ({ stepId, accountId, source, paths }) =>
    sql`insert into directory.step_config_audit (step_id, account_id, source, paths) values (${stepId}, ${accountId}, ${source}, ${paths})`,
});

/** The registered job's name and the stored configuration as JSON. */
export const findStepConfig = statement.maybeOne({
  name: 'steps.find-config',
  params: { stepId: t.integer },
  row: { pipeline_job: t.text.nullable, config: t.text },
  sql: ({ stepId }) => sql`select pipeline_job, config::text as config from directory.journey_steps where id = ${stepId}`,
});

/** The reply of `steps.find`. */
export const findSteps = statement.one({
  name: 'steps.find',
  params: { slug: t.text },
  row: bodyRow,
  sql: ({ slug }) => sql`
    select json_build_object('ids', coalesce(json_agg(id order by id), '[]'))::text as body from directory.journey_steps where slug = ${slug}`,
});

/** The list of StepItem, none when no journey has the slug. */
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

/** Holds back other writers of these steps until the transaction ends. */
export const lockSteps = statement.none({
  name: 'steps.lock',
  params: { ids: t.integer.array },
  sql: ({ ids }) => sql`select id from directory.journey_steps where id = any(${ids}) order by id for no key update`,
});

const stepConfigRow = {
  id: t.integer,
  /** Whatever the step names, registered or not. */
  pipeline_job: t.text.nullable,
  /** Stored configuration as JSON. */
  config: t.text,
  /** As clients see it (rules/http#datetimes-out). */
  updated_at: t.text,
};
export type StepConfigRow = RowOf<typeof stepConfigRow>;

/** Slugs of a journey and of a step of it. */
const stepPlace = { journey: t.text, step: t.text };

const byPlaceSql = ({ journey, step }: { readonly journey: SqlPart; readonly step: SqlPart }): Sql => sql`
  select s.id, s.pipeline_job, s.config::text as config, directory.iso_utc(s.updated_at) as updated_at
   from directory.journey_steps s join directory.journeys j on j.id = s.journey_id
   where j.slug = ${journey} and s.slug = ${step}`;

export const findStepByPlace = statement.maybeOne({
  name: 'steps.find-by-place',
  params: stepPlace,
  row: stepConfigRow,
  sql: byPlaceSql,
});

/** As `findStepByPlace`; other writers of the row wait until the transaction ends. */
export const lockStepByPlace = statement.maybeOne({
  name: 'steps.lock-by-place',
  params: stepPlace,
  row: stepConfigRow,
  sql: (place) => sql`${byPlaceSql(place)} for no key update of s`,
});

/** The row as it is stored now, whose `updated_at` moved only when something changed. */
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

/** The list of audit entries, newest first, none without such a step. */
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
