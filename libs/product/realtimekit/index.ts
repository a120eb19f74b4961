/**
 * Client of the meeting provider's REST API (Cloudflare RealtimeKit; rules/providers#realtimekit): sessions,
 * transcripts and recordings of meetings. Error messages never contain provider replies.
 */
import { createApi, type ApiOptions } from './api.ts';
import { createRecordings, type Recordings } from './recordings.ts';
import { createSessions, type Sessions } from './sessions.ts';

export { DownloadTooLarge, ProviderBusy } from './api.ts';
export { chooseByOverlap } from './sessions.ts';
export type { MeetingRecording, RecordingDownload } from './recordings.ts';
export type { MeetingSession } from './sessions.ts';
export { createWebhookKeys, type WebhookKeys } from './webhook-keys.ts';

export interface MeetingProvider extends Sessions, Recordings {}

/** Creates a client for one app of the provider. */
export function createMeetingProvider(options: ApiOptions): MeetingProvider {
  const api = createApi(options);
  return { ...createSessions(api), ...createRecordings(api) };
}
