/** The whole recording in the object store: found there, gone on with, or begun; one job at a time works at it. */
import { unavailable } from '#libs/errors';
import { RetryLater } from '#libs/jobs';
import { keepLease } from '#libs/lease';
import type { Logger } from '#libs/logger';
import type { ObjectStore } from '#libs/object-store';
import type { Database } from '#libs/orm';
import type { MeetingProvider, MeetingRecording } from '#libs/realtimekit';
import { listRecordings } from '../file-statements.ts';
import { describeRecordingFile, newRecordingKey } from '../recording-file.ts';
import { abandonUpload, beginUpload, renewUpload } from '../upload-leases/index.ts';
import { downloadRecording } from './download.ts';
import { beginImport, findImport, type RecordingImport, releaseImport, setImportEtag, setImportStored, takeImport } from './statements.ts';

export interface FullDependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly logger: Logger;
  readonly maxRecordingBytes: number;
}

export interface FullRecording {
  readonly objectKey: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly name: string;
  readonly contentType: string;
  /** It is the conversation's recording already. */
  readonly isCurrent: boolean;
  /** What is there of it was made from this; null when nothing may stay. */
  readonly made: Readonly<Record<'trimmedFrom' | 'picturesFrom', string | null>>;
}

/** Sign of life of the job that works at an import; renewed at a third of it. */
const claimSeconds = 60;
const busyDelayMs = 15_000;
/** What is downloaded outlives the job, so that one that is dead can be redriven: longer than the provider keeps the recording. */
const keptSeconds = 8 * 86_400;

/** Runs `work` while no other job works at this conversation's import; its signal aborts when that is over. */
export async function holdImport<T>(
  { db, logger }: Pick<FullDependencies, 'db' | 'logger'>,
  conversationId: number,
  jobId: string,
  signal: AbortSignal,
  work: (known: RecordingImport | undefined, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const known = await claimImport(db, conversationId, jobId);
  if (known === 'busy') throw busy();
  const lease = keepLease({
    leaseMs: claimSeconds * 1000,
    renew: async () => (await claimImport(db, conversationId, jobId)) !== 'busy',
    onFailure: (error) => logger.warn({ err: error }, 'claim of a recording import could not be renewed'),
    reason: busy,
  });
  try {
    return await work(known, AbortSignal.any([signal, lease.lost]));
  } finally {
    lease.stop();
    await releaseImport(db, { conversationId, jobId }).catch(() => undefined);
  }
}

/** The import so far, now this job's; `busy` while another job works at it; undefined when there is none. */
async function claimImport(db: Database, conversationId: number, jobId: string): Promise<RecordingImport | 'busy' | undefined> {
  const claimed = await takeImport(db, { conversationId, jobId, seconds: claimSeconds });
  if (claimed !== undefined) return claimed;
  return (await findImport(db, { conversationId })) === undefined ? undefined : 'busy';
}

function busy(): RetryLater {
  return new RetryLater('another job imports a recording of this conversation', { delayMs: busyDelayMs });
}

export async function obtainFull(
  deps: FullDependencies,
  provider: MeetingProvider,
  what: { conversationId: number; jobId: string; recording: MeetingRecording; known: RecordingImport | undefined },
  run: { signal: AbortSignal; onProgress: (fraction: number) => void },
): Promise<FullRecording> {
  const { db, store, logger } = deps;
  const { conversationId, recording } = what;
  const file = describeRecordingFile(recording.fileName ?? 'recording.mp4');
  const continued = await continueOrBegin(deps, what, file.extension);
  const { object_key: objectKey, etag, size_bytes: sizeBytes, sha256, isCurrent, ...made } = continued;
  const full = {
    objectKey,
    name: file.name,
    contentType: file.contentType,
    isCurrent,
    made: { trimmedFrom: isCurrent ? made.trimmed_from : null, picturesFrom: isCurrent ? made.pictures_from : null },
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
    maxBytes: deps.maxRecordingBytes,
    signal: run.signal,
    keepEtag: (tag) => setImportEtag(db, { conversationId, objectKey, etag: tag }),
    onProgress: run.onProgress,
  });
  await setImportStored(db, { conversationId, objectKey, ...stored });
  return { ...full, ...stored };
}

type Continued = RecordingImport & { readonly isCurrent: boolean };

async function continueOrBegin(
  { db }: FullDependencies,
  {
    conversationId,
    jobId,
    recording,
    known,
  }: { conversationId: number; jobId: string; recording: MeetingRecording; known: RecordingImport | undefined },
  extension: string,
): Promise<Continued> {
  if (known?.recording_id === recording.id) {
    const current = (await listRecordings(db, { conversationId })).find(({ kind }) => kind === 'full');
    if (known.sha256 !== null && current?.object_key === known.object_key) return { ...known, isCurrent: true };
    // False when the sweep has removed it: then everything begins anew, under another key.
    const kept = await renewUpload(db, { objectKey: known.object_key, leaseSeconds: keptSeconds });
    if (kept !== undefined) return { ...known, isCurrent: false };
  } else if (known !== undefined) {
    await abandonUpload(db, { objectKey: known.object_key });
  }
  const objectKey = newRecordingKey(conversationId, extension);
  await beginUpload(db, { objectKey, leaseSeconds: keptSeconds });
  const begun = await beginImport(db, { conversationId, recordingId: recording.id, objectKey, jobId, seconds: claimSeconds });
  if (begun === undefined) {
    await abandonUpload(db, { objectKey });
    throw unavailable('another job imports a recording of this conversation');
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
