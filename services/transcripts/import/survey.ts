/**
 * Reads an artifact a first time for its digest, counts and speakers, and stores nothing. Mixed time bases are detected
 * only at the end of an artifact (D26a), and excluded speech may never be stored, so a second reading of the same bytes
 * stores the rows. Small artifacts are buffered between the two readings; large ones are downloaded again.
 */
import type { MeetingSession } from '#libs/product/realtimekit';
import type { Instant } from '#libs/infrastructure/time';
import { scanArtifact, UnreadableArtifact } from '../artifact/index.ts';
import type { Artifact } from '../evidence/index.ts';
import { RowFilter, type FilterCounts, type Window } from '../row-filter.ts';
import { SpeakerCollector, maxSpeakers, type Speaker } from '../speaker.ts';

/** Artifacts up to this size are buffered instead of downloaded twice. */
const maxBufferedBytes = 4 * 1_048_576;

/** Opens the artifact from its start. */
export type OpenArtifact = () => Promise<AsyncIterable<Uint8Array>>;

export interface Survey {
  readonly artifact: Artifact;
  readonly window: Window;
  readonly counts: FilterCounts;
  /** Speakers of accepted rows, in order of first appearance. */
  readonly speakers: readonly Speaker[];
  /** Opens the artifact again. The caller must compare its digest. */
  readonly reopen: OpenArtifact;
}

export async function surveyArtifact(
  open: OpenArtifact,
  session: MeetingSession,
  window: Window,
  onProgress: (bytes: number) => void,
): Promise<Survey> {
  const buffer = new ReplayBuffer(maxBufferedBytes);
  const filter = createFilter(session.start, window);
  const speakers = new SpeakerCollector();
  const scanned = await scanArtifact(buffer.tap(await open()), filter, {
    onAccepted: (row, position) => {
      if (!speakers.add(row, position)) throw new UnreadableArtifact(`it names more than ${maxSpeakers} speakers`);
    },
    onChunk: onProgress,
  });
  return {
    artifact: { sessionId: session.id, sessionStart: session.start, ...scanned },
    window,
    counts: filter.finish(),
    speakers: speakers.inOrder(),
    reopen: buffer.isComplete ? () => Promise.resolve(buffer.replay()) : open,
  };
}

/** Creates the filter that both readings use. */
export function createFilter(sessionStart: Instant, window: Window): RowFilter {
  return new RowFilter({ window, sessionStart });
}

/** Buffers bytes up to a limit, to replay them. */
class ReplayBuffer {
  readonly #limit: number;
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isComplete(): boolean {
    return this.#size <= this.#limit;
  }

  async *tap(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#size += chunk.byteLength;
      if (this.isComplete) this.#parts.push(chunk);
      else this.#parts = [];
      yield chunk;
    }
  }

  async *replay(): AsyncGenerator<Uint8Array> {
    await Promise.resolve();
    yield* this.#parts;
  }
}
