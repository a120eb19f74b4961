/** Statements on pipeline entries and `infos.publishing`. */
import { statement } from '#libs/orm';
import { nextUpdatedAt } from '../statements.ts';

/** `infos.publishing` as a whole ($2), computed under the row's lock. */
export const replacePublishing = statement(
  'conversations.replace-publishing',
  `update conversations.conversations c
   set infos = c.infos || jsonb_build_object('publishing', $2::jsonb), updated_at = ${nextUpdatedAt}
   where c.id = $1
   returning c.id`,
);

/** $1 conversation, $2 step, $3 pipeline job, $4 cause, $5 job or null. */
export const addPipelineEntry = statement(
  'pipeline.enter',
  `insert into conversations.pipeline_entries (conversation_id, step_id, pipeline_job, cause, job_id) values ($1, $2, $3, $4, $5)`,
);

/** The step of the latest entry with that job: $1 conversation, $2 pipeline job. */
export const findPipelineEntry = statement(
  'pipeline.find-entry',
  `select step_id from conversations.pipeline_entries where conversation_id = $1 and pipeline_job = $2 order by id desc limit 1`,
);
