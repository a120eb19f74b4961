/** The stored transcript window as the importer sees it (rules/room#transcript-window; D7, D7b). */
import { parseInstant } from '#libs/time';
import type { Window } from '../row-filter.ts';

export type StoredWindow = { kind: 'usable'; window: Window } | { kind: 'missing' } | { kind: 'invalid' };

/**
 * Judges the stored boundaries. `missing`: none or one of them. `invalid`: a boundary that is no instant with an offset, or an end
 * that is not after the start.
 */
export function judgeWindow(stored: { conversation_started_at: string | null; capture_ended_at: string | null }): StoredWindow {
  const { conversation_started_at: startText, capture_ended_at: endText } = stored;
  if (startText === null || endText === null) return { kind: 'missing' };
  const start = parseInstant(startText);
  const end = parseInstant(endText);
  if (start.kind !== 'instant' || end.kind !== 'instant' || end.instant <= start.instant) return { kind: 'invalid' };
  return { kind: 'usable', window: { start: start.instant, end: end.instant } };
}
