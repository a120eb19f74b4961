/** Uploads to the video host: worked by one job at a time, remembered from one attempt to the next. */
import { type RowOf, sql, statement, t } from '#libs/sql';
import { publicColumns } from '../file-statements.ts';

export const findFirstThumbnail = statement.maybeOne({
  name: 'media.first-thumbnail',
  params: { conversationId: t.integer },
  row: publicColumns,
  sql: ({ conversationId }) => sql`select object_key, name, content_type, size_bytes, sha256 from media.blobs
    where conversation_id = ${conversationId} and kind = 'thumbnail' and retired_at is null order by id limit 1`,
});

const columns = {
  /** Address under which the upload goes on; a secret. */
  session: t.text.nullable,
  /** The last bytes may have been sent. */
  is_ending: t.boolean,
  /** PublishedVideo as JSON text. */
  video: t.json.nullable,
  lost_by_job_id: t.text.nullable,
};
export type VideohostUpload = RowOf<typeof columns>;

export interface UploadKey {
  readonly conversationId: number;
  readonly sha256: string;
  readonly jobId: string;
}
const key = { conversationId: t.integer, sha256: t.text, jobId: t.text };

/** The upload, now this job's; undefined while another job works at it. */
export const claimVideohostUpload = statement.maybeOne({
  name: 'media.claim-videohost-upload',
  params: { ...key, seconds: t.double },
  row: columns,
  sql: ({ conversationId, sha256, jobId, seconds }) => sql`insert into media.videohost_uploads as u
      (conversation_id, recording_sha256, worker_job_id, worked_until)
    values (${conversationId}, ${sha256}, ${jobId}, clock_timestamp() + make_interval(secs => ${seconds}))
    on conflict (conversation_id, recording_sha256) do update
      set worker_job_id = excluded.worker_job_id, worked_until = excluded.worked_until
      where u.worked_until is null or u.worked_until < clock_timestamp() or u.worker_job_id = excluded.worker_job_id
    returning session, is_ending, video, lost_by_job_id`,
});

export const releaseVideohostUpload = statement.none({
  name: 'media.release-videohost-upload',
  params: key,
  sql: ({ conversationId, sha256, jobId }) => sql`update media.videohost_uploads set worker_job_id = null, worked_until = null
    where conversation_id = ${conversationId} and recording_sha256 = ${sha256} and worker_job_id = ${jobId}`,
});

/** Undefined when another job has taken the upload over. */
export const saveVideohostUpload = statement.maybeOne({
  name: 'media.save-videohost-upload',
  params: { ...key, session: t.text.nullable, isEnding: t.boolean, video: t.json.nullable, lostByJobId: t.text.nullable },
  row: { conversation_id: t.integer },
  sql: ({ conversationId, sha256, jobId, session, isEnding, video, lostByJobId }) => sql`update media.videohost_uploads
    set session = ${session}, is_ending = ${isEnding}, video = ${video}, lost_by_job_id = ${lostByJobId}
    where conversation_id = ${conversationId} and recording_sha256 = ${sha256} and worker_job_id = ${jobId} returning conversation_id`,
});

export const dropVideohostUploads = statement.none({
  name: 'media.drop-videohost-uploads',
  params: { conversationId: t.integer },
  sql: ({ conversationId }) => sql`delete from media.videohost_uploads where conversation_id = ${conversationId}`,
});
