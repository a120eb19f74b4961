/** Decides where a recording is cut and when its pictures are taken (rules/media#video; D18a, D27). */
import type { MeetingRecording } from '#libs/product/realtimekit';
import type { Instant } from '#libs/infrastructure/time';

/** Start and end of the conversation; undefined while unknown. */
export interface ConversationTime {
  readonly start: Instant | undefined;
  readonly end: Instant | undefined;
}

export type Cut =
  /** Cut at this number of seconds after the start of the recording. */
  | { readonly kind: 'at'; readonly seconds: number }
  /** The recording starts with the conversation or later, so no cut is needed. */
  | { readonly kind: 'not_needed' }
  | { readonly kind: 'not_asked_for' }
  | { readonly kind: 'start_unknown' }
  /** The conversation started after the end of the recording. */
  | { readonly kind: 'outside' };

/** Minimum length of a cut; shorter cuts are skipped. */
const minCutSeconds = 0.02;

export function decideCut(trim: boolean, recording: Pick<MeetingRecording, 'start'>, time: ConversationTime): Cut {
  if (!trim) return { kind: 'not_asked_for' };
  if (time.start === undefined || recording.start === undefined) return { kind: 'start_unknown' };
  const seconds = secondsBetween(recording.start, time.start);
  return seconds < minCutSeconds ? { kind: 'not_needed' } : { kind: 'at', seconds };
}

/** Returns `outside` when the cut would remove the whole recording. */
export function limitCut(cut: Cut, durationSeconds: number): Cut {
  return cut.kind === 'at' && cut.seconds >= durationSeconds - minCutSeconds ? { kind: 'outside' } : cut;
}

/**
 * Returns the times of the pictures in seconds of the recording: at 10 %, 30 %, 50 %, … of the conversation. An unknown
 * start or end of the conversation is replaced by that of the recording.
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
