/** The streams of the platform, and how the set-up makes them (docs/adr/stream-limits.md). */
import { DiscardPolicy, JetStreamApiError, type JetStreamManager, RetentionPolicy, StorageType, type StreamInfo } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { unavailable } from '#libs/errors';

const mebibyte = 1024 * 1024;

/** Name → subjects, retention, and what happens to a message for which there is no room. */
export const streams = {
  /** Jobs under way; the truth is in PostgreSQL, and what is refused is sent again from there. */
  JOBS: {
    subjects: ['jobs.>'],
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
    maxAgeMs: 0,
    maxBytes: 512 * mebibyte,
  },
  /** Facts, kept one day. What happens now is worth more than what everybody has heard long ago: the oldest make room. */
  EVENTS: {
    // Not `events.>`: operations of the service `events` are requests, which no stream may answer.
    subjects: ['events.*.*.*'],
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    maxAgeMs: 86_400_000,
    maxBytes: 512 * mebibyte,
  },
  /** What happened, on its way to the feed (V2); what is refused waits in the outbox of its service. */
  FEED: {
    subjects: ['feed.>'],
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
    maxAgeMs: 0,
    maxBytes: 256 * mebibyte,
  },
  /** Webhooks that were acknowledged to their sender and have no receipt yet; the gateway's disk takes what is refused. */
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

/** What names of this installation begin with. */
export interface Prefixes {
  readonly subject: string;
  readonly stream: string;
  readonly inbox: string;
}

/** Bytes that a stream may hold; default as declared. */
export type StreamLimits = Partial<Readonly<Record<StreamName, number>>>;

/** More than five copies JetStream does not make. */
export const maxReplicas = 5;

/** Two publications with one message id within this time are one message. */
const duplicateWindowMs = 120_000;
const streamNotFound = 10059;
const insufficientStorage = 10047;
/** No server for another copy: no cluster at all, too few servers in it, or none of them with room. */
const tooFewServers = [10005, 10023, 10074];

/**
 * Creates a stream, or brings what differs up to date: nothing that it holds is lost by that, also when it holds more than it may from now on.
 * @param replicas servers of the cluster that hold it; undefined = as many as it has, one for a new stream
 */
export async function ensureStream(
  manager: JetStreamManager,
  prefixes: Prefixes,
  name: StreamName,
  { limits, replicas }: { limits: StreamLimits; replicas?: number | undefined },
): Promise<void> {
  const { retention, discard, maxAgeMs, maxBytes } = streams[name];
  const subjects = streams[name].subjects.map((subject) => prefixes.subject + subject);
  const wanted = {
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
      const settings = { retention, storage: StorageType.File, duplicate_window: nanos(duplicateWindowMs), allow_direct: true };
      await manager.streams.add({ name: full, ...settings, ...wanted });
    } else if (Object.entries(wanted).some(([key, value]) => String(found.config[key as keyof typeof wanted]) !== String(value))) {
      await manager.streams.update(full, wanted);
    }
  } catch (error) {
    if (replicas !== undefined && tooFewServers.some((code) => isApiError(error, code))) {
      const reason = (error as Error).message;
      throw unavailable(`The broker cannot keep stream ${name} on ${replicas} servers, as NATS_STREAM_REPLICAS asks: ${reason}`);
    }
    if (!isApiError(error, insufficientStorage)) throw error;
    throw unavailable(
      `The broker has no room for the ${wanted.max_bytes} bytes of stream ${name}: ` +
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

/** Removes a stream with everything in it; one that is not there stays so. */
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
