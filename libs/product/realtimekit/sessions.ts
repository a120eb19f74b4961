/**
 * Reads the sessions of a meeting and their transcripts, and chooses the session or recording of a conversation
 * (architecture#a-recorded-meeting).
 */
import { unavailable } from '#libs/infrastructure/errors';
import { isJsonObject } from '#libs/infrastructure/json';
import type { Instant } from '#libs/infrastructure/time';
import { type Api, listPages, readInstant } from './api.ts';

/** One live session of a meeting. */
export type MeetingSession = Span;

export interface Sessions {
  /** Returns all sessions of a meeting with a readable start. @throws AppError `unavailable`, ProviderBusy */
  listSessions(meetingId: string, signal: AbortSignal): Promise<MeetingSession[]>;
  /**
   * Yields the bytes of a session's transcript. Requests JSON, but the provider can return another format.
   * @throws AppError `unavailable` (no transcript yet, provider unavailable), ProviderBusy, DownloadTooLarge while
   * reading
   */
  openArtifact(sessionId: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

export function createSessions(api: Api): Sessions {
  return {
    listSessions: async (meetingId, signal) => {
      const readItems = (data: unknown): unknown[] | undefined => {
        const sessions = isJsonObject(data) ? data['sessions'] : undefined;
        return Array.isArray(sessions) ? sessions : undefined;
      };
      const items = await listPages(api, '/sessions', { associated_id: meetingId }, readItems, signal);
      return items.flatMap((item) => readSession(item, meetingId) ?? []);
    },
    openArtifact: async (sessionId, signal) => {
      const findUrl = async (): Promise<string> => {
        const { data } = await api.call(`/sessions/${encodeURIComponent(sessionId)}/transcript?format=JSON`, signal);
        const url = isJsonObject(data) ? data['transcript_download_url'] : undefined;
        if (typeof url !== 'string' || url === '') throw unavailable('the session has no transcript yet');
        return url;
      };
      return api.read(await api.open({ what: 'transcript', findUrl, statuses: [200] }, signal), 'artifact');
    },
  };
}

/**
 * Returns a session of this meeting; undefined when the item belongs to another meeting or has no readable id or start.
 */
function readSession(item: unknown, meetingId: string): MeetingSession | undefined {
  if (!isJsonObject(item) || typeof item['id'] !== 'string' || item['id'] === '') return undefined;
  const associated = item['associated_id'];
  if (typeof associated === 'string' && associated !== meetingId) return undefined;
  const start = readInstant(item['started_at']) ?? readInstant(item['created_at']);
  return start === undefined ? undefined : { id: item['id'], start, end: readInstant(item['ended_at']) };
}

/** A time span; `end` is undefined while it has not ended. */
export interface Span {
  readonly id: string;
  readonly start: Instant;
  readonly end: Instant | undefined;
}

/**
 * Returns the span that overlaps longest with the window; undefined without an overlap. Of equal overlaps, the earlier
 * span is returned.
 * @param window if its end is unknown, the overlap ends with the span
 */
export function chooseByOverlap<S extends Span>(
  spans: readonly S[],
  window: { readonly start: Instant; readonly end: Instant | undefined },
): S | undefined {
  let best: { span: S; overlap: bigint } | undefined;
  for (const span of spans.toSorted(compareSpans)) {
    const end = earlier(span.end, window.end) ?? endless;
    const start = span.start > window.start ? span.start : window.start;
    const overlap = end - start;
    if (overlap > 0n && (best === undefined || overlap > best.overlap)) best = { span, overlap };
  }
  return best?.span;
}

const endless = 1n << 62n;

function earlier(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}

function compareSpans(a: Span, b: Span): number {
  if (a.start !== b.start) return a.start < b.start ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
