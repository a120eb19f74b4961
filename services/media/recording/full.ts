/**
 * Stores the full recording: uses the stored recording, resumes its download, or starts the download. Only one job at a
 * time imports a recording of a conversation.
 */
import { unavailable } from '#libs/infrastructure/errors';
import { RetryLater } from '#libs/infrastructure/jobs';
import { renewLease } from '#libs/infrastructure/concurrency';
import type { Database } from '#libs/infrastructure/orm';
import type { MeetingProvider, MeetingRecording } from '#libs/product/realtimekit';
import type { Dependencies } from '../dependencies.ts';
import { listRecordings } from '../files.ts';
import { describeRecordingFile, newRecordingKey } from '../file-names.ts';
import { abandonUpload, startUpload, renewUpload } from '../upload-leases/index.ts';
import { downloadRecording } from './download.ts';
import {
  startImport,
  findImport,
  type RecordingImport,
  releaseImport,
  setImportEtag,
  setImportStored,
  claimImportRow,
} from './statements.ts';

type FullRecordingDependencies = Pick<Dependencies, 'config' | 'db' | 'store' | 'logger'>;

export interface FullRecording {
  readonly objectKey: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly name: string;
  readonly contentType: string;
  /** True when this file is already the conversation's recording. */
  readonly isCurrent: boolean;
  /** Digests of the inputs of the existing trimmed file and thumbnails; null when they must be created again. */
  readonly derivedFrom: Readonly<Record<'trimmedFrom' | 'picturesFrom', string | null>>;
}

/** Duration of the import claim, which is renewed after every third of it. */
const claimSeconds = 60;
const busyDelayMs = 15_000;
/** Downloaded parts are stored longer than the provider stores the recording, so that a dead job can be redriven. */
const uploadRetentionSeconds = 8 * 86_400;

/** Runs `work` while this job has the claim of the conversation's import. The signal aborts when the claim is lost. */
export async function withImportClaim<T>(
  { db, logger }: Pick<FullRecordingDependencies, 'db' | 'logger'>,
  conversationId: number,
  jobId: string,
  signal: AbortSignal,
  work: (existing: RecordingImport | undefined, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const existing = await claimImport(db, conversationId, jobId);
  if (existing === 'busy') throw claimedElsewhere();
  const lease = renewLease({
    leaseMs: claimSeconds * 1000,
    renew: async () => (await claimImport(db, conversationId, jobId)) !== 'busy',
    onFailure: (error) => logger.warn({ err: error }, 'failed to renew the claim of a recording import'),
    reason: claimedElsewhere,
  });
  try {
    return await work(existing, AbortSignal.any([signal, lease.lost]));
  } finally {
    lease.stop();
    await releaseImport(db, { conversationId, jobId }).catch(() => undefined);
  }
}

/** Claims the import. Returns `busy` while another job has the claim, and undefined when there is no import. */
async function claimImport(
  db: Database,
  conversationId: number,
  jobId: string,
): Promise<RecordingImport | 'busy' | undefined> {
  const claimed = await claimImportRow(db, { conversationId, jobId, seconds: claimSeconds });
  if (claimed !== undefined) return claimed;
  return (await findImport(db, { conversationId })) === undefined ? undefined : 'busy';
}

function claimedElsewhere(): RetryLater {
  return new RetryLater('another job is importing a recording of this conversation', { delayMs: busyDelayMs });
}

export async function getFullRecording(
  deps: FullRecordingDependencies,
  provider: MeetingProvider,
  what: { conversationId: number; jobId: string; recording: MeetingRecording; existing: RecordingImport | undefined },
  run: { signal: AbortSignal; onProgress: (fraction: number) => void },
): Promise<FullRecording> {
  const { db, store, logger } = deps;
  const { conversationId, recording } = what;
  const file = describeRecordingFile(recording.fileName ?? 'recording.mp4');
  const continued = await resumeOrStart(deps, what, file.extension);
  const { object_key: objectKey, etag, size_bytes: sizeBytes, sha256, isCurrent, ...derivedFrom } = continued;
  const full = {
    objectKey,
    name: file.name,
    contentType: file.contentType,
    isCurrent,
    derivedFrom: {
      trimmedFrom: isCurrent ? derivedFrom.trimmed_from : null,
      picturesFrom: isCurrent ? derivedFrom.pictures_from : null,
    },
  };
  if (sizeBytes !== null && sha256 !== null) return { ...full, sizeBytes, sha256 };
  const stored = await downloadRecording({
    provider,
    store,
    logger,
    recording,
    objectKey,
    contentType: file.contentType,
    etag: etag ?? undefined,
    maxBytes: deps.config.MEDIA_RECORDING_MAX_BYTES,
    signal: run.signal,
    saveEtag: (tag) => setImportEtag(db, { conversationId, objectKey, etag: tag }),
    onProgress: run.onProgress,
  });
  await setImportStored(db, { conversationId, objectKey, ...stored });
  return { ...full, ...stored };
}

type ImportState = RecordingImport & { readonly isCurrent: boolean };

async function resumeOrStart(
  { db }: FullRecordingDependencies,
  {
    conversationId,
    jobId,
    recording,
    existing,
  }: { conversationId: number; jobId: string; recording: MeetingRecording; existing: RecordingImport | undefined },
  extension: string,
): Promise<ImportState> {
  if (existing?.recording_id === recording.id) {
    const current = (await listRecordings(db, { conversationId })).find(({ kind }) => kind === 'full');
    if (existing.sha256 !== null && current?.object_key === existing.object_key)
      return { ...existing, isCurrent: true };
    // Undefined when the sweep has removed the upload. The download then starts again with another key.
    const renewed = await renewUpload(db, { objectKey: existing.object_key, leaseSeconds: uploadRetentionSeconds });
    if (renewed !== undefined) return { ...existing, isCurrent: false };
  } else if (existing !== undefined) {
    await abandonUpload(db, { objectKey: existing.object_key });
  }
  const objectKey = newRecordingKey(conversationId, extension);
  await startUpload(db, { objectKey, leaseSeconds: uploadRetentionSeconds });
  const started = await startImport(db, {
    conversationId,
    recordingId: recording.id,
    objectKey,
    jobId,
    seconds: claimSeconds,
  });
  if (started === undefined) {
    await abandonUpload(db, { objectKey });
    throw unavailable('another job is importing a recording of this conversation');
  }
  return {
    recording_id: recording.id,
    object_key: objectKey,
    etag: null,
    size_bytes: null,
    sha256: null,
    trimmed_from: null,
    pictures_from: null,
    isCurrent: false,
  };
}
