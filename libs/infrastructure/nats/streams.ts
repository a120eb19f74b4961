/** The streams of the platform and how they are created (docs/adr/stream-limits.md). */
import {
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { unavailable } from '#libs/infrastructure/errors';

const mebibyte = 1024 * 1024;

/** Subjects, retention, and overflow policy by stream. */
export const streams = {
  /**
   * Pending and running jobs. PostgreSQL is the source of truth; a job whose message was rejected is published again
   * from there.
   */
  JOBS: {
    subjects: ['jobs.>'],
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
    maxAgeMs: 0,
    maxBytes: 512 * mebibyte,
  },
  /**
   * Events of the last day. A full stream discards the oldest events, because current events matter more than delivered
   * ones.
   */
  EVENTS: {
    // The pattern `events.>` would also match the operations of the service `events`, and a stream must not reply to
    // requests.
    subjects: ['events.*.*.*'],
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    maxAgeMs: 86_400_000,
    maxBytes: 512 * mebibyte,
  },
  /** Events between outbox and feed (V2). Events that the stream rejects remain in the outbox of their service. */
  FEED: {
    subjects: ['feed.>'],
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
    maxAgeMs: 0,
    maxBytes: 256 * mebibyte,
  },
  /**
   * Webhooks that were acknowledged to their sender and are not stored as receipts yet. The gateway's spool stores
   * those that the stream rejects.
   */
  WEBHOOKS: {
    subjects: ['webhooks.>'],
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
    maxAgeMs: 0,
    maxBytes: 1024 * mebibyte,
  },
} as const;

export type StreamName = keyof typeof streams;
export const streamNames = Object.keys(streams) as StreamName[];

/** Prefixes of the names of this installation. */
export interface Prefixes {
  readonly subject: string;
  readonly stream: string;
  readonly inbox: string;
}

/** Maximum size of each stream in bytes; by default the declared one. */
export type StreamLimits = Partial<Readonly<Record<StreamName, number>>>;

/** Maximum number of replicas in JetStream. */
export const maxReplicas = 5;

/** Time within which the broker drops messages with a known message id. */
const duplicateWindowMs = 120_000;
const streamNotFound = 10059;
const insufficientStorage = 10047;
/** Error codes of a missing server for another replica: no cluster, too few servers, or no server with enough space. */
const tooFewServers = [10005, 10023, 10074];

/**
 * Creates a stream or updates its settings. An update never removes messages, even when the stream exceeds its new
 * limit.
 * @param replicas number of cluster servers with a copy; undefined: unchanged, or one for a new stream
 */
export async function ensureStream(
  manager: JetStreamManager,
  prefixes: Prefixes,
  name: StreamName,
  { limits, replicas }: { limits: StreamLimits; replicas?: number | undefined },
): Promise<void> {
  const { retention, discard, maxAgeMs, maxBytes } = streams[name];
  const subjects = streams[name].subjects.map((subject) => prefixes.subject + subject);
  const expected = {
    subjects,
    discard,
    max_age: nanos(maxAgeMs),
    max_bytes: limits[name] ?? maxBytes,
    ...(replicas === undefined ? {} : { num_replicas: replicas }),
  };
  const full = prefixes.stream + name;
  try {
    const found = await findStream(manager, full);
    if (found === undefined) {
      const settings = {
        retention,
        storage: StorageType.File,
        duplicate_window: nanos(duplicateWindowMs),
        allow_direct: true,
      };
      await manager.streams.add({ name: full, ...settings, ...expected });
    } else if (
      Object.entries(expected).some(
        ([key, value]) => String(found.config[key as keyof typeof expected]) !== String(value),
      )
    ) {
      await manager.streams.update(full, expected);
    }
  } catch (error) {
    if (replicas !== undefined && tooFewServers.some((code) => isApiError(error, code))) {
      const reason = (error as Error).message;
      throw unavailable(
        `The broker cannot keep stream ${name} on ${replicas} servers, as NATS_STREAM_REPLICAS asks: ${reason}`,
      );
    }
    if (!isApiError(error, insufficientStorage)) throw error;
    throw unavailable(
      `The broker has no room for the ${expected.max_bytes} bytes of stream ${name}: ` +
        `raise max_file_store of its JetStream, or lower NATS_STREAM_${name}_MAX_BYTES`,
    );
  }
}

export async function findStream(manager: JetStreamManager, name: string): Promise<StreamInfo | undefined> {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (isApiError(error, streamNotFound)) return undefined;
    throw error;
  }
}

/** Deletes a stream with its messages, if it exists. */
export async function deleteStream(manager: JetStreamManager, name: string): Promise<void> {
  try {
    await manager.streams.delete(name);
  } catch (error) {
    if (!isApiError(error, streamNotFound)) throw error;
  }
}

function isApiError(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}
