/** Sessions of a meeting, and the transcript of a session through its signed address. */
import { unavailable } from '#libs/errors';
import { isJsonObject } from '#libs/json';
import { listPages, readInstant, type Api } from './api.ts';
import type { Span } from './overlap.ts';

/** One live run of a meeting. */
export type MeetingSession = Span;

export interface Sessions {
  /** Every session of a meeting with a readable start. @throws AppError unavailable, ProviderBusy */
  listSessions(meetingId: string, signal: AbortSignal): Promise<MeetingSession[]>;
  /**
   * The bytes of a session's transcript. The format JSON is asked for, another may come.
   * @throws AppError unavailable (none yet, provider away), ProviderBusy, DownloadTooLarge while reading
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

/** A session of this meeting; undefined when it is another meeting's, or its id or start cannot be read. */
function readSession(item: unknown, meetingId: string): MeetingSession | undefined {
  if (!isJsonObject(item) || typeof item['id'] !== 'string' || item['id'] === '') return undefined;
  const associated = item['associated_id'];
  if (typeof associated === 'string' && associated !== meetingId) return undefined;
  const start = readInstant(item['started_at']) ?? readInstant(item['created_at']);
  return start === undefined ? undefined : { id: item['id'], start, end: readInstant(item['ended_at']) };
}
