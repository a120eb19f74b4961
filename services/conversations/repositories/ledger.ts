/** Statements on what hangs on a conversation: notes, idempotency keys, pipeline entries. */
import { statement } from '#libs/orm';

/** $1 conversation, $2 key or null, $3 type, $4 body, $5 author, $6 instant. The same key adds the note once; no row then. */
export const addNote = statement(
  'notes.add',
  `insert into conversations.notes (conversation_id, key, note_type, body, author_person_id, created_at)
   values ($1, $2, $3, $4, $5, coalesce($6::timestamptz, clock_timestamp()))
   on conflict (conversation_id, key) do nothing
   returning id`,
);

/** Newest first. */
export const listNotes = statement(
  'notes.list',
  `select n.id, n.body, n.note_type, n.author_person_id, n.created_at at time zone 'UTC' as created_at
   from conversations.notes n where n.conversation_id = $1
     and ($2::integer is null or (n.created_at, n.id) <
       (select b.created_at, b.id from conversations.notes b where b.conversation_id = $1 and b.id = $2))
   order by n.created_at desc, n.id desc limit $3`,
);

/** $1 conversation, $2 operation, $3 key, $4 now. A row while the key is kept. */
export const findIdempotencyKey = statement(
  'idempotency.find',
  `select 1 as found from conversations.idempotency_keys
   where conversation_id = $1 and operation = $2 and key = $3 and expires_at > $4::timestamptz`,
);

/** $1 conversation, $2 operation, $3 key, $4 end of its life. Replaces an expired one. */
export const keepIdempotencyKey = statement(
  'idempotency.keep',
  `insert into conversations.idempotency_keys (conversation_id, operation, key, expires_at)
   values ($1, $2, $3, $4::timestamptz)
   on conflict (conversation_id, operation, key) do update set expires_at = excluded.expires_at`,
);

/** $1 now, $2 most rows. */
export const dropExpiredKeys = statement(
  'idempotency.drop-expired',
  `delete from conversations.idempotency_keys
   where ctid in (select ctid from conversations.idempotency_keys where expires_at <= $1::timestamptz limit $2 for update skip locked)`,
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
