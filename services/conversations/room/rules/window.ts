/** The transcript window: two write-once boundaries (rules/room#transcript-window; D7b, D22, D23). */
import { appError, type AppError } from '#libs/errors';
import { formatInstant, parseInstant, type Instant } from '#libs/time';

/** Boundaries as they are stored; text of bulk-imported data may be no datetime at all. */
export interface StoredWindow {
  readonly conversationStartedAt: string | null;
  readonly captureEndedAt: string | null;
}

/** Boundaries that a request carries; undefined = omitted or null. */
export interface IncomingWindow {
  readonly conversationStartedAt: Instant | undefined;
  readonly captureEndedAt: Instant | undefined;
}

/** The error for an unusable window. */
export function invalidWindow(message: string): AppError {
  return appError('bad_request', 'invalid_transcript_window', message);
}

/**
 * Reads one boundary of a request.
 * @throws AppError 400 `invalid_transcript_window` without an offset.
 */
export function readBoundary(field: string, text: string | null | undefined): Instant | undefined {
  if (text === null || text === undefined) return undefined;
  const parsed = parseInstant(text);
  if (parsed.kind !== 'instant') throw invalidWindow(`${field} must be a datetime with an offset.`);
  return parsed.instant;
}

/** A stored boundary as an instant; undefined when unset or no datetime. */
export function storedInstant(text: string | null): Instant | undefined {
  if (text === null) return undefined;
  const parsed = parseInstant(text);
  return parsed.kind === 'invalid' ? undefined : parsed.instant;
}

/** A stored boundary as clients see it: `Z` and microseconds; what is no datetime stays as it is. */
export function showBoundary(text: string | null): string | null {
  const instant = storedInstant(text);
  return instant === undefined ? text : formatInstant(instant);
}

/**
 * The 409 `transcript_boundary_conflict` for boundaries that differ from the stored ones, with the current values; undefined when
 * every boundary is new, omitted, or the same instant in any encoding.
 */
export function findBoundaryConflict(stored: StoredWindow, incoming: IncomingWindow): AppError | undefined {
  const details: Record<string, string> = {};
  const differs = (text: string | null, instant: Instant | undefined): text is string =>
    text !== null && instant !== undefined && storedInstant(text) !== instant;
  if (differs(stored.conversationStartedAt, incoming.conversationStartedAt)) {
    details['currentConversationStartedAt'] = showBoundary(stored.conversationStartedAt) ?? '';
  }
  if (differs(stored.captureEndedAt, incoming.captureEndedAt)) {
    details['currentCaptureEndedAt'] = showBoundary(stored.captureEndedAt) ?? '';
  }
  if (Object.keys(details).length === 0) return undefined;
  return appError('conflict', 'transcript_boundary_conflict', 'A different transcript boundary is already stored.', details);
}

/**
 * The stored window after the request. Only a boundary that is new is checked against the other one: repeating what is stored
 * succeeds even when old data holds an unusable window.
 * @throws AppError 409 `transcript_boundary_conflict`, 400 `invalid_transcript_window`.
 */
export function mergeWindow(stored: StoredWindow, incoming: IncomingWindow): StoredWindow {
  const conflict = findBoundaryConflict(stored, incoming);
  if (conflict !== undefined) throw conflict;
  const started = stored.conversationStartedAt === null ? incoming.conversationStartedAt : undefined;
  const ended = stored.captureEndedAt === null ? incoming.captureEndedAt : undefined;
  if (started === undefined && ended === undefined) return stored;
  const start = started ?? storedInstant(stored.conversationStartedAt);
  const end = ended ?? storedInstant(stored.captureEndedAt);
  if (start !== undefined && end !== undefined && end <= start) {
    throw invalidWindow('captureEndedAt must be strictly after conversationStartedAt.');
  }
  return {
    conversationStartedAt: started === undefined ? stored.conversationStartedAt : formatInstant(started),
    captureEndedAt: ended === undefined ? stored.captureEndedAt : formatInstant(ended),
  };
}

/** True once both boundaries are stored (rule 6). */
export function isComplete(window: StoredWindow): boolean {
  return window.conversationStartedAt !== null && window.captureEndedAt !== null;
}
