/**
 * The meeting provider's REST API as the importers need it (Cloudflare RealtimeKit; rules/providers#realtimekit): sessions of a meeting, the
 * transcript of a session, recordings. No message repeats what the provider answered.
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

/** A client of one app of the provider. */
export function createMeetingProvider(options: ApiOptions): MeetingProvider {
  const api = createApi(options);
  return { ...createSessions(api), ...createRecordings(api) };
}
