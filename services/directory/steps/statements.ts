import { statement } from '#libs/orm';

/** `$1` = step, `$2` = account or null, `$3` = `api` or `workspace`, `$4` = dotted paths. */
export const addConfigAudit = statement(
  'steps.add-config-audit',
  'insert into directory.step_config_audit (step_id, account_id, source, paths) values ($1::integer, $2::integer, $3::text, $4::text[])',
);

/** `$1` = step; one row with the registered job's name and the stored configuration as JSON text. */
export const findStepConfig = statement(
  'steps.find-config',
  'select pipeline_job, config::text as config from directory.journey_steps where id = $1::integer',
);

/** `$1` = journey slug; one row with the list of StepItem, none when there is no such journey. */
export const listSteps = statement(
  'steps.list',
  `select coalesce((
     select json_agg(json_build_object('id', s.id, 'slug', s.slug, 'order', s.position, 'title', s.title, 'goal', s.goal,
       'success_criteria', s.success_criteria, 'starter_message', s.starter_message, 'is_archived', s.is_archived,
       'pipeline_job', s.pipeline_job, 'updated_at', directory.iso_utc(s.updated_at)) order by s.position, s.id)
     from directory.journey_steps s where s.journey_id = j.id), '[]')::text as body
   from directory.journeys j where j.slug = $1::text`,
);

/** `$1` = ids; holds back other writers of these steps until the transaction ends. */
export const lockSteps = statement(
  'steps.lock',
  'select id from directory.journey_steps where id = any($1::integer[]) order by id for no key update',
);

export interface StepConfigRow {
  readonly id: number;
  /** Whatever the step names, registered or not. */
  readonly pipeline_job: string | null;
  /** Stored configuration as JSON text. */
  readonly config: string;
  /** As clients see it (rules/http#datetimes-out). */
  readonly updated_at: string;
}

const findByPlace = `select s.id, s.pipeline_job, s.config::text as config, directory.iso_utc(s.updated_at) as updated_at
   from directory.journey_steps s join directory.journeys j on j.id = s.journey_id
   where j.slug = $1::text and s.slug = $2::text`;

/** `$1` = journey slug, `$2` = step slug; a StepConfigRow. */
export const findStepByPlace = statement('steps.find-by-place', findByPlace);

/** As `findStepByPlace`; other writers of the row wait until the transaction ends. */
export const lockStepByPlace = statement('steps.lock-by-place', `${findByPlace} for no key update of s`);

/** `$1` = step, `$2` = configuration as JSON text; the row as it is stored now, whose `updated_at` moved only when something changed. */
export const saveStepConfig = statement(
  'steps.save-config',
  `update directory.journey_steps set config = $2::jsonb, updated_at = case when config is distinct from $2::jsonb
     then greatest(clock_timestamp(), updated_at + interval '1 microsecond') else updated_at end
   where id = $1::integer
   returning id, pipeline_job, config::text as config, directory.iso_utc(updated_at) as updated_at`,
);

/** `$1` = journey slug, `$2` = step slug, `$3` = limit; one row with the list of audit entries, newest first, none without such a step. */
export const listConfigAudit = statement(
  'steps.list-config-audit',
  `select coalesce((
     select json_agg(entry.body order by entry.id desc) from (
       select a.id, json_build_object('id', a.id, 'changed_at', directory.iso_utc(a.changed_at), 'source', a.source,
         'account', case when u.id is not null then json_build_object('id', u.id, 'email', u.email) end, 'paths', a.paths) as body
       from directory.step_config_audit a left join directory.accounts u on u.id = a.account_id
       where a.step_id = s.id order by a.id desc limit $3::integer) as entry), '[]')::text as items
   from directory.journey_steps s join directory.journeys j on j.id = s.journey_id
   where j.slug = $1::text and s.slug = $2::text`,
);
