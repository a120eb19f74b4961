/** Where a recording is cut, and where its pictures are taken (rules/media#video; D18a, D27). Plain functions. */
import type { MeetingRecording } from '#libs/realtimekit';
import type { Instant } from '#libs/time';

/** What is known of the conversation's time; undefined = not (yet). */
export interface ConversationTime {
  readonly start: Instant | undefined;
  readonly end: Instant | undefined;
}

export type Cut =
  /** The trim begins so many seconds after the recording's beginning. */
  | { readonly kind: 'at'; readonly seconds: number }
  /** The recording begins with the conversation, or after its beginning. */
  | { readonly kind: 'not_needed' }
  | { readonly kind: 'not_asked_for' }
  | { readonly kind: 'start_unknown' }
  /** The conversation began when the recording was over. */
  | { readonly kind: 'outside' };

/** Less than this is not worth a second file. */
const minCutSeconds = 0.02;

export function decideCut(trim: boolean, recording: Pick<MeetingRecording, 'start'>, time: ConversationTime): Cut {
  if (!trim) return { kind: 'not_asked_for' };
  if (time.start === undefined || recording.start === undefined) return { kind: 'start_unknown' };
  const seconds = secondsBetween(recording.start, time.start);
  return seconds < minCutSeconds ? { kind: 'not_needed' } : { kind: 'at', seconds };
}

/** `outside` when nothing would be left. */
export function limitCut(cut: Cut, durationSeconds: number): Cut {
  return cut.kind === 'at' && cut.seconds >= durationSeconds - minCutSeconds ? { kind: 'outside' } : cut;
}

/**
 * Places of `count` pictures in seconds of the recording: 10 %, 30 %, 50 %, … of the conversation. None before its beginning and behind its
 * end is taken, as far as they are known.
 */
export function choosePictureTimes(
  count: number,
  recording: Pick<MeetingRecording, 'start'>,
  time: ConversationTime,
  durationSeconds: number,
): number[] {
  const offsetOf = (instant: Instant | undefined): number | undefined =>
    instant === undefined || recording.start === undefined ? undefined : secondsBetween(recording.start, instant);
  const first = clamp(offsetOf(time.start) ?? 0, 0, durationSeconds);
  const last = clamp(offsetOf(time.end) ?? durationSeconds, first, durationSeconds);
  return Array.from({ length: count }, (_, index) => first + (last - first) * (0.1 + 0.2 * index));
}

function secondsBetween(from: Instant, to: Instant): number {
  return Number(to - from) / 1e6;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
