/** Imports of recordings: one per conversation, worked by one job at a time, remembered from one attempt to the next. */
import { statement, type Queryable, type Tx } from '#libs/orm';

export interface RecordingImport {
  readonly recording_id: string;
  readonly object_key: string;
  readonly etag: string | null;
  /** Null until the whole recording is stored. */
  readonly size_bytes: number | null;
  readonly sha256: string | null;
}

const columns = `recording_id, object_key, etag, size_bytes::float8 as size_bytes, sha256`;

const beginStatement = statement(
  'media.begin-import',
  `insert into media.recording_imports as i (conversation_id, recording_id, object_key, worker_job_id, worked_until)
   values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5))
   on conflict (conversation_id) do update
     set recording_id = excluded.recording_id, object_key = excluded.object_key, etag = null, size_bytes = null, sha256 = null,
       worker_job_id = excluded.worker_job_id, worked_until = excluded.worked_until, begun_at = clock_timestamp()
     where i.worked_until is null or i.worked_until < clock_timestamp() or i.worker_job_id = excluded.worker_job_id
   returning 1`,
);
const claimStatement = statement(
  'media.claim-import',
  `update media.recording_imports set worker_job_id = $2, worked_until = clock_timestamp() + make_interval(secs => $3)
   where conversation_id = $1 and (worked_until is null or worked_until < clock_timestamp() or worker_job_id = $2)
   returning ${columns}`,
);
const findStatement = statement('media.find-import', `select ${columns} from media.recording_imports where conversation_id = $1`);
const releaseStatement = statement(
  'media.release-import',
  `update media.recording_imports set worker_job_id = null, worked_until = null where conversation_id = $1 and worker_job_id = $2`,
);
const setEtagStatement = statement(
  'media.set-import-etag',
  `update media.recording_imports set etag = $3 where conversation_id = $1 and object_key = $2`,
);
const setStoredStatement = statement(
  'media.set-import-stored',
  `update media.recording_imports set size_bytes = $3, sha256 = $4 where conversation_id = $1 and object_key = $2`,
);
const dropStatement = statement('media.drop-import', `delete from media.recording_imports where conversation_id = $1 returning object_key`);

/** The import so far, now this job's; `busy` while another job works at it; undefined when there is none. */
export async function claimImport(
  db: Queryable,
  conversationId: number,
  jobId: string,
  seconds: number,
): Promise<RecordingImport | 'busy' | undefined> {
  const [claimed] = await db.query<RecordingImport>(claimStatement, [conversationId, jobId, seconds]);
  if (claimed !== undefined) return claimed;
  return (await db.query(findStatement, [conversationId])).length > 0 ? 'busy' : undefined;
}

/** Begins anew, in place of what was; false while another job works at it. */
export async function beginImport(
  db: Queryable,
  conversationId: number,
  begun: { recordingId: string; objectKey: string; jobId: string; seconds: number },
): Promise<boolean> {
  const values = [conversationId, begun.recordingId, begun.objectKey, begun.jobId, begun.seconds];
  return (await db.query(beginStatement, values)).length > 0;
}

export async function releaseImport(db: Queryable, conversationId: number, jobId: string): Promise<void> {
  await db.query(releaseStatement, [conversationId, jobId]);
}

export async function setImportEtag(db: Queryable, conversationId: number, objectKey: string, etag: string | null): Promise<void> {
  await db.query(setEtagStatement, [conversationId, objectKey, etag]);
}

export async function setImportStored(
  db: Queryable,
  conversationId: number,
  objectKey: string,
  stored: { sizeBytes: number; sha256: string },
): Promise<void> {
  await db.query(setStoredStatement, [conversationId, objectKey, stored.sizeBytes, stored.sha256]);
}

/** Forgets the import of a conversation that is gone; the key of what it had stored. */
export async function dropImport(tx: Tx, conversationId: number): Promise<string | undefined> {
  const [row] = await tx.query<{ object_key: string }>(dropStatement, [conversationId]);
  return row?.object_key;
}
