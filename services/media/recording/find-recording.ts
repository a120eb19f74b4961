/** Which of the provider's recordings is the conversation's. */
import { unavailable } from '#libs/errors';
import { PermanentJobError } from '#libs/jobs';
import { chooseByOverlap, type MeetingProvider, type MeetingRecording } from '#libs/realtimekit';
import type { ConversationTime } from './rules.ts';

export interface RecordingSource {
  readonly meeting_id: string | null;
  readonly recording_id: string | null;
}

/**
 * The one that the room has named, else the one of the meeting that overlaps the conversation longest; never a guess.
 * @throws AppError unavailable while there is none to download; PermanentJobError when the provider has failed to make it
 */
export async function findRecording(
  provider: MeetingProvider,
  source: RecordingSource,
  time: ConversationTime,
  signal: AbortSignal,
): Promise<MeetingRecording> {
  const recording = await choose(provider, source, time, signal);
  if (recording.status === 'UPLOADED') return recording;
  if (recording.status === 'ERRORED') throw new PermanentJobError('the meeting provider has failed to make the recording');
  throw unavailable('the recording is not uploaded yet');
}

async function choose(
  provider: MeetingProvider,
  source: RecordingSource,
  time: ConversationTime,
  signal: AbortSignal,
): Promise<MeetingRecording> {
  if (source.recording_id !== null) return provider.readRecording(source.recording_id, signal);
  if (source.meeting_id === null) throw unavailable('the conversation has no meeting yet');
  if (time.start === undefined) throw unavailable('the conversation has neither a recording nor a start yet');
  const recordings = await provider.listRecordings(source.meeting_id, signal);
  const spans = recordings.flatMap((item) => (item.start === undefined ? [] : [{ ...item, start: item.start }]));
  const window = { start: time.start, end: time.end };
  const good = spans.filter(({ status }) => status !== 'ERRORED');
  const found = chooseByOverlap(good, window) ?? chooseByOverlap(spans, window);
  if (found === undefined) throw unavailable('the meeting has no recording that overlaps the conversation yet');
  return found;
}
