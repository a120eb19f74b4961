/** Uploads to the video host: worked by one job at a time, remembered from one attempt to the next. */
import { statement, type Queryable } from '#libs/orm';
import type { PublicBlob } from '../file-statements.ts';
import type { PublishedVideo } from './video-host.ts';

export interface VideohostUpload {
  /** Address under which the upload goes on; a secret. */
  readonly session: string | null;
  /** The last bytes may have been sent. */
  readonly is_ending: boolean;
  /** JSON text. */
  readonly video: string | null;
  readonly lost_by_job_id: string | null;
}

const claimStatement = statement(
  'media.claim-videohost-upload',
  `insert into media.videohost_uploads as u (conversation_id, recording_sha256, worker_job_id, worked_until)
   values ($1, $2, $3, clock_timestamp() + make_interval(secs => $4))
   on conflict (conversation_id, recording_sha256) do update
     set worker_job_id = excluded.worker_job_id, worked_until = excluded.worked_until
     where u.worked_until is null or u.worked_until < clock_timestamp() or u.worker_job_id = excluded.worker_job_id
   returning session, is_ending, video::text as video, lost_by_job_id`,
);
const releaseStatement = statement(
  'media.release-videohost-upload',
  `update media.videohost_uploads set worker_job_id = null, worked_until = null
   where conversation_id = $1 and recording_sha256 = $2 and worker_job_id = $3`,
);
const saveStatement = statement(
  'media.save-videohost-upload',
  `update media.videohost_uploads set session = $4, is_ending = $5, video = $6::jsonb, lost_by_job_id = $7
   where conversation_id = $1 and recording_sha256 = $2 and worker_job_id = $3 returning 1`,
);
const dropStatement = statement('media.drop-videohost-uploads', 'delete from media.videohost_uploads where conversation_id = $1');

const firstThumbnailStatement = statement(
  'media.first-thumbnail',
  `select object_key, name, content_type, size_bytes, sha256 from media.blobs
   where conversation_id = $1 and kind = 'thumbnail' and retired_at is null order by id limit 1`,
);

export interface UploadKey {
  readonly conversationId: number;
  readonly sha256: string;
  readonly jobId: string;
}

/** The upload, now this job's; undefined while another job works at it. */
export async function claimVideohostUpload(db: Queryable, key: UploadKey, seconds: number): Promise<VideohostUpload | undefined> {
  const [row] = await db.query<VideohostUpload>(claimStatement, [key.conversationId, key.sha256, key.jobId, seconds]);
  return row;
}

export async function releaseVideohostUpload(db: Queryable, { conversationId, sha256, jobId }: UploadKey): Promise<void> {
  await db.query(releaseStatement, [conversationId, sha256, jobId]);
}

export interface UploadProgress {
  readonly session: string | null;
  readonly isEnding: boolean;
  readonly video: PublishedVideo | null;
  readonly lostByJobId: string | null;
}

/** False when another job has taken the upload over. */
export async function saveVideohostUpload(db: Queryable, key: UploadKey, progress: UploadProgress): Promise<boolean> {
  const { session, isEnding, video, lostByJobId } = progress;
  const values = [key.conversationId, key.sha256, key.jobId, session, isEnding, video === null ? null : JSON.stringify(video), lostByJobId];
  return (await db.query(saveStatement, values)).length > 0;
}

export async function dropVideohostUploads(db: Queryable, conversationId: number): Promise<void> {
  await db.query(dropStatement, [conversationId]);
}

export async function findFirstThumbnail(db: Queryable, conversationId: number): Promise<PublicBlob | undefined> {
  const [row] = await db.query<PublicBlob>(firstThumbnailStatement, [conversationId]);
  return row;
}
