/**
 * Statements on uploads to the video host. One job at a time claims an upload, which stores the progress of earlier
 * attempts.
 */
import { type Queryable, type RowOf, sql, statement, t } from '#libs/infrastructure/sql';
import { publicColumns } from '../files.ts';

export const findFirstThumbnail = statement.maybeOne({
  name: 'media.first-thumbnail',
  params: { conversationId: t.integer },
  row: publicColumns,
  sql: ({ conversationId }) => sql`select object_key, name, content_type, size_bytes, sha256 from media.blobs
    where conversation_id = ${conversationId} and kind = 'thumbnail' and retired_at is null order by id limit 1`,
});

const columns = {
  /** URL for resuming the upload. It is a secret. */
  session: t.text.nullable,
  /** True when the last bytes may have been sent, so that the video may exist. */
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

/** Claims a row for a job, or renews the claim. Returns undefined while another job has the claim. */
export type ClaimUpload<Known> = (
  db: Queryable,
  params: UploadKey & { readonly seconds: number },
) => Promise<Known | undefined>;

/** Claims the upload. Returns undefined while another job has the claim. */
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
  sql: ({
    conversationId,
    sha256,
    jobId,
  }) => sql`update media.videohost_uploads set worker_job_id = null, worked_until = null
    where conversation_id = ${conversationId} and recording_sha256 = ${sha256} and worker_job_id = ${jobId}`,
});

/** Stores the progress of an upload. Returns undefined when another job has claimed the upload. */
export const saveVideohostUpload = statement.maybeOne({
  name: 'media.save-videohost-upload',
  params: {
    ...key,
    session: t.text.nullable,
    isEnding: t.boolean,
    video: t.json.nullable,
    outcomeUnknownJobId: t.text.nullable,
  },
  row: { conversation_id: t.integer },
  sql: ({
    conversationId,
    sha256,
    jobId,
    session,
    isEnding,
    video,
    outcomeUnknownJobId,
  }) => sql`update media.videohost_uploads
    set session = ${session}, is_ending = ${isEnding}, video = ${video}, lost_by_job_id = ${outcomeUnknownJobId}
    where conversation_id = ${conversationId} and recording_sha256 = ${sha256} and worker_job_id = ${jobId} returning conversation_id`,
});

/** Stores the step that published the upload; captions use its configuration. */
export const markPublished = statement.none({
  name: 'media.mark-published',
  params: {
    conversationId: t.integer,
    sha256: t.text,
    stepId: t.integer.nullable,
    startedAt: t.text.nullable,
    thumbnailSha256: t.text.nullable,
  },
  sql: ({ conversationId, sha256, stepId, startedAt, thumbnailSha256 }) => sql`update media.videohost_uploads
    set step_id = ${stepId}, video_started_at = ${startedAt}::text::timestamptz, thumbnail_sha256 = ${thumbnailSha256}
    where conversation_id = ${conversationId} and recording_sha256 = ${sha256}`,
});

/** Returns the digest of the thumbnail that was sent for a video. */
export const findSetThumbnail = statement.maybeOne({
  name: 'media.find-set-thumbnail',
  params: { conversationId: t.integer, sha256: t.text },
  row: { thumbnail_sha256: t.text.nullable },
  sql: ({ conversationId, sha256 }) => sql`select thumbnail_sha256 from media.videohost_uploads
    where conversation_id = ${conversationId} and recording_sha256 = ${sha256}`,
});

/** Returns those of the given conversations that have a published video. */
export const listPublished = statement.many({
  name: 'media.list-published',
  params: { ids: t.integer.array },
  row: { id: t.integer },
  sql: ({ ids }) => sql`select distinct conversation_id as id from media.videohost_uploads
    where conversation_id = any(${ids}) and video is not null and step_id is not null`,
});

const videoColumns = {
  sha256: t.text,
  video: t.json,
  step_id: t.integer,
  /** Null when the video starts with the window, or when its start is unknown. */
  started_at: t.text.nullable,
  /** Id of the captions on the host. */
  captions_id: t.text.nullable,
  captions_sha256: t.text.nullable,
};

/**
 * Returns the published videos of a conversation. Videos of replaced recordings remain on the host, and their captions
 * are still updated.
 */
export const listVideos = statement.many({
  name: 'media.list-videos',
  params: { conversationId: t.integer },
  row: videoColumns,
  sql: ({
    conversationId,
  }) => sql`select recording_sha256 as sha256, video, step_id, iso_utc(video_started_at) as started_at, captions_id,
      captions_sha256
    from media.videohost_uploads
    where conversation_id = ${conversationId} and video is not null and step_id is not null order by begun_at`,
});

/** Claims a published video. Returns undefined while another job has the claim, or when the video no longer exists. */
export const claimVideo = statement.maybeOne({
  name: 'media.claim-video',
  params: { ...key, seconds: t.double },
  row: videoColumns,
  sql: ({ conversationId, sha256, jobId, seconds }) => sql`update media.videohost_uploads
    set worker_job_id = ${jobId}, worked_until = clock_timestamp() + make_interval(secs => ${seconds})
    where conversation_id = ${conversationId} and recording_sha256 = ${sha256} and video is not null and step_id is not null
      and (worked_until is null or worked_until < clock_timestamp() or worker_job_id = ${jobId})
    returning recording_sha256 as sha256, video, step_id, iso_utc(video_started_at) as started_at, captions_id, captions_sha256`,
});

/** Stores the captions that were sent. Returns undefined when another job has claimed the video. */
export const saveCaptions = statement.maybeOne({
  name: 'media.save-captions',
  params: { ...key, captionsId: t.text.nullable, captionsSha256: t.text.nullable },
  row: { conversation_id: t.integer },
  sql: ({ conversationId, sha256, jobId, captionsId, captionsSha256 }) => sql`update media.videohost_uploads
    set captions_id = ${captionsId}, captions_sha256 = ${captionsSha256}
    where conversation_id = ${conversationId} and recording_sha256 = ${sha256} and worker_job_id = ${jobId} returning conversation_id`,
});
