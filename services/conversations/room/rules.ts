/**
 * Merges the room state, which is one JSON object and includes the transcript window with two write-once boundaries
 * (rules/room#room-state, rules/room#transcript-window; D7b, D8, D22, D23, D26b).
 */
import { appError, type AppError } from '#libs/infrastructure/errors';
import { isJsonObject, type JsonObject, parseJson } from '#libs/infrastructure/json';
import { formatInstant, type Instant, parseInstant } from '#libs/infrastructure/time';
import type { RoomWrite } from './contract.ts';

export interface RoomMerge {
  /** The new state; null when no state needs to be stored. */
  readonly room: JsonObject | null;
  readonly changed: boolean;
  /** True when this write completed the window (D7a). */
  readonly windowCompleted: boolean;
}

/** Returns the window boundaries of a request. @throws AppError 400 `invalid_transcript_window` without an offset */
export function readRoomWindow(write: RoomWrite): IncomingWindow {
  return {
    conversationStartedAt: readBoundary('conversationStartedAt', write.conversationStartedAt),
    captureEndedAt: readBoundary('captureEndedAt', write.captureEndedAt),
  };
}

/**
 * Merges a write into the stored state. On an error nothing is stored.
 * @throws AppError 409 `version_conflict`, then 409 `meeting_conflict`, then the errors of the window
 */
export function mergeRoom(stored: JsonObject | null, write: RoomWrite, incoming: IncomingWindow): RoomMerge {
  checkVersion(stored, write);
  checkMeeting(stored, write);
  const before = roomWindow(stored);
  const window = mergeWindow(before, incoming);
  const room: JsonObject = { ...stored };
  delete room['sessionId'];
  assignDefined(room, {
    phase: write.phase,
    version: write.version,
    meetingId: write.meetingId,
    recordingId: write.recordingId,
  });
  assignDefined(room, { recordingEndedAt: normalizeInstant(write.recordingEndedAt), ...window });
  if (hasEntries(write.claims)) room['claims'] = mergeClaims(room['claims'], write.claims);
  if (hasEntries(write.participants))
    room['participants'] = mergeParticipants(room['participants'], write.participants);
  const after = Object.keys(room).length === 0 && stored === null ? null : room;
  return {
    room: after,
    changed: JSON.stringify(after) !== JSON.stringify(stored),
    windowCompleted: isComplete(window) && !isComplete(before),
  };
}

/** Merges only the window boundaries into the stored state, for `/recorded`. @throws errors of `mergeWindow` */
export function mergeRoomWindow(stored: JsonObject | null, incoming: IncomingWindow): RoomMerge {
  return mergeRoom(stored, {}, incoming);
}

/** Returns the stored window. Values that are not text count as missing. */
export function roomWindow(room: JsonObject | null): StoredWindow {
  return {
    conversationStartedAt: textOf(room?.['conversationStartedAt']),
    captureEndedAt: textOf(room?.['captureEndedAt']),
  };
}

/** Returns the reply of POST enter-coherence. */
export function roomWriteReply(conversationId: number, room: JsonObject | null, incoming: IncomingWindow) {
  const window = roomWindow(room);
  const hasBoundary = incoming.conversationStartedAt !== undefined || incoming.captureEndedAt !== undefined;
  return {
    ok: true as const,
    conversationId,
    meetingId: textOf(room?.['meetingId']),
    version: numberOf(room?.['version']),
    phase: textOf(room?.['phase']),
    participantCount: listOf(room?.['participants']).length,
    ...(hasBoundary ? renderWindow(window) : {}),
  };
}

/** Returns the reply of GET enter-coherence (D26b), which never contains `sessionId`. */
export function roomState(room: JsonObject | null) {
  return {
    meetingId: textOf(room?.['meetingId']),
    recordingId: textOf(room?.['recordingId']),
    version: numberOf(room?.['version']),
    phase: textOf(room?.['phase']),
    claims: isJsonObject(room?.['claims']) ? room['claims'] : {},
    participants: listOf(room?.['participants']),
    ...renderWindow(roomWindow(room)),
  };
}

function renderWindow(window: StoredWindow) {
  return {
    conversationStartedAt: formatBoundary(window.conversationStartedAt),
    captureEndedAt: formatBoundary(window.captureEndedAt),
    transcriptWindowComplete: isComplete(window),
  };
}

function checkVersion(stored: JsonObject | null, { expectedVersion }: RoomWrite): void {
  if (stored === null || expectedVersion === null || expectedVersion === undefined) return;
  const currentVersion = numberOf(stored['version']);
  if (currentVersion === expectedVersion) return;
  throw appError('conflict', 'version_conflict', 'The stored version is different.', { currentVersion });
}

function checkMeeting(stored: JsonObject | null, { meetingId }: RoomWrite): void {
  const currentMeetingId = textOf(stored?.['meetingId']);
  if (currentMeetingId === null || meetingId === null || meetingId === undefined || meetingId === currentMeetingId)
    return;
  throw appError('conflict', 'meeting_conflict', 'A different meeting is already stored.', { currentMeetingId });
}

function mergeClaims(stored: unknown, claims: NonNullable<RoomWrite['claims']>): JsonObject {
  const entries = isJsonObject(stored) ? Object.entries(stored) : [];
  const merged = new Map<string, unknown>(entries);
  for (const [name, claim] of Object.entries(claims)) {
    merged.set(name, { personId: claim.personId, claimedAt: normalizeInstant(claim.claimedAt) });
  }
  return Object.fromEntries(merged);
}

function mergeParticipants(stored: unknown, participants: NonNullable<RoomWrite['participants']>): unknown[] {
  const merged = listOf(stored).map((item) => (isJsonObject(item) ? { ...item } : item));
  const known = new Map<unknown, JsonObject>();
  for (const item of merged.filter(isJsonObject)) {
    const id = item['customParticipantId'];
    if (!known.has(id)) known.set(id, item);
  }
  for (const given of participants) {
    let entry = known.get(given.customParticipantId);
    if (entry === undefined) {
      entry = { customParticipantId: given.customParticipantId };
      merged.push(entry);
      known.set(given.customParticipantId, entry);
    }
    const assignedAt = entry['assignedAt'] ?? normalizeInstant(given.assignedAt);
    assignDefined(entry, {
      browserSessionId: given.browserSessionId,
      personId: given.personId,
      displayName: given.displayName,
      mediaParticipantId: given.mediaParticipantId,
      assignedAt,
      lastCredentialIssuedAt: normalizeInstant(given.lastCredentialIssuedAt),
    });
  }
  return merged;
}

/** Copies values that are neither null nor undefined. */
function assignDefined(target: JsonObject, values: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(values)) {
    if (value !== null && value !== undefined) target[key] = value;
  }
}

function normalizeInstant(text: string | null | undefined): string | undefined {
  if (text === null || text === undefined) return undefined;
  const parsed = parseInstant(text);
  return parsed.kind === 'invalid' ? text : formatInstant(parsed.instant);
}

function hasEntries<T extends object>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined && Object.keys(value).length > 0;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Parses the stored state; returns null when it is not an object. */
export function parseRoom(text: string | null): JsonObject | null {
  const room = text === null ? null : parseJson(text);
  return isJsonObject(room) ? room : null;
}

/** Stored window boundaries. The bulk import can store text that is not a datetime. */
export interface StoredWindow {
  readonly conversationStartedAt: string | null;
  readonly captureEndedAt: string | null;
}

/** Window boundaries of a request; undefined when omitted or null. */
export interface IncomingWindow {
  readonly conversationStartedAt: Instant | undefined;
  readonly captureEndedAt: Instant | undefined;
}

export function invalidWindow(message: string): AppError {
  return appError('bad_request', 'invalid_transcript_window', message);
}

/** Returns a boundary of a request as an instant. @throws AppError 400 `invalid_transcript_window` without an offset */
export function readBoundary(field: string, text: string | null | undefined): Instant | undefined {
  if (text === null || text === undefined) return undefined;
  const parsed = parseInstant(text);
  if (parsed.kind !== 'instant') throw invalidWindow(`${field} must be a datetime with an offset.`);
  return parsed.instant;
}

/** Returns a stored boundary as an instant; returns undefined when it is missing or not a datetime. */
export function storedInstant(text: string | null): Instant | undefined {
  if (text === null) return undefined;
  const parsed = parseInstant(text);
  return parsed.kind === 'invalid' ? undefined : parsed.instant;
}

/** Returns a stored boundary in the API format, with `Z` and microseconds. Text that is not a datetime is unchanged. */
export function formatBoundary(text: string | null): string | null {
  const instant = storedInstant(text);
  return instant === undefined ? text : formatInstant(instant);
}

/**
 * Returns the error 409 `transcript_boundary_conflict` with the stored values of boundaries that differ. Returns
 * undefined when each boundary is new, omitted, or the same instant.
 */
export function findBoundaryConflict(stored: StoredWindow, incoming: IncomingWindow): AppError | undefined {
  const details: Record<string, string> = {};
  const differs = (text: string | null, instant: Instant | undefined): text is string =>
    text !== null && instant !== undefined && storedInstant(text) !== instant;
  if (differs(stored.conversationStartedAt, incoming.conversationStartedAt)) {
    details['currentConversationStartedAt'] = formatBoundary(stored.conversationStartedAt) ?? '';
  }
  if (differs(stored.captureEndedAt, incoming.captureEndedAt)) {
    details['currentCaptureEndedAt'] = formatBoundary(stored.captureEndedAt) ?? '';
  }
  if (Object.keys(details).length === 0) return undefined;
  return appError(
    'conflict',
    'transcript_boundary_conflict',
    'A different transcript boundary is already stored.',
    details,
  );
}

/**
 * Returns the stored window after the request. Only new boundaries are validated, so that repeating stored values
 * succeeds even for invalid old data.
 * @throws AppError 409 `transcript_boundary_conflict`, 400 `invalid_transcript_window`
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

/** Returns whether both boundaries are stored (rule 6). */
export function isComplete(window: StoredWindow): boolean {
  return window.conversationStartedAt !== null && window.captureEndedAt !== null;
}
