/**
 * Job `media.videohost-publish` (rules/steps#pipeline-jobs). It publishes the recording of a conversation with title,
 * description and thumbnail, once per recording, then enqueues its captions (T4). The result is stored in
 * `records.videohost` of `infos.publishing`. If a person wrote this record, the record remains and nothing is uploaded.
 */
import { isDeepStrictEqual } from 'node:util';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import { RetryLater } from '#libs/infrastructure/jobs';
import type { Bus } from '#libs/infrastructure/nats';
import { videohostPublish as declaration, type VideohostPublishConfig } from '#libs/product/pipeline';
import {
  pipelineWorker,
  readProvenance,
  wrapValue,
  type PipelineRun,
  type PipelineWorker,
} from '#libs/product/pipeline-worker';
import { formatInstant } from '#libs/infrastructure/time';
import { conversations } from '#services/conversations';
import { findPublicFile, findRecordingStart, listRecordings, type PublicBlob } from '../files.ts';
import type { Dependencies } from '../dependencies.ts';
import { chooseRecording } from '../file-names.ts';
import { enqueueCaptions, toJobError } from './captions.ts';
import { findFirstThumbnail, findSetThumbnail, markPublished } from './statements.ts';
import { uploadOnce } from './upload.ts';
import { type PublishedVideo, type VideoDetails, type VideoHost, VideoHostError } from '../video-host.ts';

type VideohostPublishDependencies = Pick<
  Dependencies,
  'config' | 'db' | 'bus' | 'jobs' | 'store' | 'clock' | 'connectVideoHost'
>;

type Step = PipelineRun<VideohostPublishConfig>;

const notConfiguredDelayMs = 900_000;
/** Maximum size of a thumbnail on the host. */
const maxThumbnailBytes = 2 * 1_048_576;
const uploadedPercent = 90;

export function createVideohostPublish(deps: VideohostPublishDependencies): PipelineWorker {
  return pipelineWorker(declaration, async (step) => {
    try {
      await publish(deps, step);
    } catch (error) {
      throw toJobError(error);
    }
  });
}

async function publish(deps: VideohostPublishDependencies, step: Step): Promise<void> {
  const { run, conversationId, config } = step;
  const conversation = await readConversation(deps.bus, step);
  if (conversation === undefined) {
    return step.finish(() =>
      Promise.resolve({ result: { status: 'conversation_gone' }, note: null, succeeded: false }),
    );
  }
  const stored = conversation.records['videohost'];
  if (isSet(stored) && readProvenance(stored, declaration.name) === undefined) {
    const note = `${declaration.name} finished: the existing record of the video is kept`;
    return step.finish(() => Promise.resolve({ result: { status: 'kept' }, note, succeeded: true }));
  }
  const { file, startedAt } = await findRecording(deps, conversationId);
  const host = connect(deps, config);
  run.progress(0, 'uploading');
  const { video, isNew } = await uploadOnce(deps, {
    host,
    key: { conversationId, sha256: file.sha256, jobId: run.id },
    file: { objectKey: file.object_key, sizeBytes: file.size_bytes, contentType: file.content_type },
    details: describeVideo(conversation, config),
    signal: run.signal,
    logger: run.logger,
    onProgress: (share) => run.progress(share * uploadedPercent),
  });
  run.progress(uploadedPercent, 'setting the thumbnail');
  const published = readPublished(stored, file.sha256);
  const thumbnail = config.set_thumbnail
    ? await setThumbnail(deps, step, host, { video, sha256: file.sha256, before: published })
    : noThumbnail;
  const { id, url } = video;
  const record = { url, id, thumbnail: thumbnail.url ?? video.thumbnail, host: host.name };
  const at = formatInstant(deps.clock.now());
  const provenance = { source: declaration.name, source_digest: file.sha256, at };
  await step.finish(async (tx) => {
    const { sha256: thumbnailSha256 } = thumbnail;
    await markPublished(tx, {
      conversationId,
      sha256: file.sha256,
      stepId: run.payload.step_id,
      startedAt,
      thumbnailSha256,
    });
    await enqueueCaptions(deps.jobs, tx, conversationId);
    return {
      result: { status: isNew ? 'published' : 'unchanged', host: host.name, id, sha256: file.sha256 },
      note: `${declaration.name} finished: ${url}${isNew ? '' : ' was published already'}${thumbnail.problem}`,
      succeeded: true,
      ...(isDeepStrictEqual(record, published)
        ? {}
        : { publishing: { records: { videohost: wrapValue(record, provenance) } } }),
    };
  });
  run.logger.info({ conversationId, host: host.name, isNew }, 'video published');
}

interface Conversation {
  readonly title: string;
  readonly fields: JsonObject;
  readonly records: JsonObject;
}

async function readConversation(bus: Bus, { run, conversationId }: Step): Promise<Conversation | undefined> {
  try {
    const { infos } = await bus.call(conversations.rpcs.get, { conversation_id: conversationId }, run.context);
    const { title } = await bus.call(conversations.rpcs.describe, { id: conversationId }, run.context);
    const publishing = toObject(toObject(infos)['publishing']);
    return { title, fields: toObject(unwrap(publishing['fields'])), records: toObject(unwrap(publishing['records'])) };
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/**
 * Returns the recording to publish and its start. The start is null when the recording starts with the window, or when
 * it is unknown.
 */
async function findRecording(
  { db }: VideohostPublishDependencies,
  conversationId: number,
): Promise<{ file: PublicBlob; startedAt: string | null }> {
  const chosen = chooseRecording(await listRecordings(db, { conversationId }));
  const file = chosen === undefined ? undefined : await findPublicFile(db, { objectKey: chosen.object_key });
  if (chosen === undefined || file === undefined) throw unavailable('the conversation has no recording yet');
  const start =
    chosen.kind === 'full' ? await findRecordingStart(db, { conversationId, objectKey: chosen.object_key }) : undefined;
  return { file, startedAt: start?.started_at ?? null };
}

function connect(
  { connectVideoHost }: VideohostPublishDependencies,
  { videohost_refresh_token: token }: VideohostPublishConfig,
): VideoHost {
  if (connectVideoHost === undefined)
    throw new RetryLater('YOUTUBE_CLIENT_ID and YOUTUBE_CLIENT_SECRET are not set', { delayMs: notConfiguredDelayMs });
  if (token === undefined)
    throw new RetryLater('the step has no videohost_refresh_token', { delayMs: notConfiguredDelayMs });
  return connectVideoHost(token);
}

function describeVideo({ title, fields }: Conversation, config: VideohostPublishConfig): VideoDetails {
  const { privacy, category_id: categoryId, tags } = config;
  const description = readText(fields['videohost_description']) ?? readText(fields['summary']) ?? '';
  return { title: readText(fields['title']) ?? title, description, tags, categoryId, privacy };
}

/**
 * Returns the record that this job wrote for this recording; returns undefined when the record was edited since then.
 */
function readPublished(stored: unknown, sha256: string): JsonObject | undefined {
  if (readProvenance(stored, declaration.name)?.['source_digest'] !== sha256) return undefined;
  const value = unwrap(stored);
  return isJsonObject(value) ? value : undefined;
}

interface SetThumbnail {
  readonly url: string | null;
  readonly problem: string;
  /** Null when no thumbnail was sent. */
  readonly sha256: string | null;
}

const noThumbnail: SetThumbnail = { url: null, problem: '', sha256: null };

/**
 * Sends the thumbnail to the host. When the host rejects the thumbnail, the note reports it and the video remains
 * published.
 */
async function setThumbnail(
  { db, store }: VideohostPublishDependencies,
  { run, conversationId }: Step,
  host: VideoHost,
  { video, sha256, before }: { video: PublishedVideo; sha256: string; before: JsonObject | undefined },
): Promise<SetThumbnail> {
  const picture = await findFirstThumbnail(db, { conversationId });
  if (picture === undefined || picture.size_bytes > maxThumbnailBytes) return noThumbnail;
  const isSet = (await findSetThumbnail(db, { conversationId, sha256 }))?.thumbnail_sha256 === picture.sha256;
  const url = before?.['thumbnail'];
  if (isSet && typeof url === 'string') return { url, problem: '', sha256: picture.sha256 };
  const object = await store.get(picture.object_key, { signal: run.signal });
  if (object === undefined) return noThumbnail;
  const bytes = Buffer.concat(await Array.fromAsync(object.body as AsyncIterable<Buffer>));
  try {
    return { url: await host.setThumbnail(video.id, bytes, run.signal), problem: '', sha256: picture.sha256 };
  } catch (error) {
    if (!(error instanceof VideoHostError) || error.kind !== 'refused') throw error;
    return { ...noThumbnail, problem: `; the video host rejected the thumbnail: ${error.message}` };
  }
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && !(isJsonObject(value) && Object.keys(value).length === 0);
}

/** Returns the value of a provenance envelope (D18a). */
function unwrap(value: unknown): unknown {
  return isJsonObject(value) &&
    Object.keys(value).length === 2 &&
    Object.hasOwn(value, 'provenance') &&
    Object.hasOwn(value, 'value')
    ? value['value']
    : value;
}

function readText(stored: unknown): string | undefined {
  const value = unwrap(stored);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
