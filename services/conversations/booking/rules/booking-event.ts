/**
 * Cal.com's booking webhook, read loosely: fields of the wrong type count as missing (D19, D19a). Nothing in it is trusted;
 * the video call URL is text that is parsed and never fetched.
 */
import { isJsonObject, isRawNumber, type JsonObject } from '#libs/json';
import { toLine, toLines } from '#libs/text';
import { type Instant, parseInstant } from '#libs/time';

export const bookingTriggers = ['BOOKING_CREATED', 'BOOKING_RESCHEDULED', 'BOOKING_CANCELLED'] as const;

export type BookingTrigger = (typeof bookingTriggers)[number];

export interface Attendee {
  readonly name: string;
  readonly email: string | null;
}

export interface BookingEvent {
  readonly trigger: BookingTrigger;
  /** When the provider made the event; undefined = unknown, the time of receipt counts. */
  readonly createdAt: Instant | undefined;
  /** All that names the booking: `uid:…`, `id:…`, `ical:…`; what is unknown of it joins the booking's chain. */
  readonly identifiers: readonly string[];
  /** Those by which the booking may be found, in order: the first that is known decides (D65). */
  readonly matchers: readonly string[];
  readonly uid: string | null;
  /** A number as it was sent, or null. */
  readonly bookingId: unknown;
  readonly title: string | null;
  readonly start: Instant | undefined;
  readonly finish: Instant | undefined;
  readonly attendees: readonly Attendee[];
  readonly videoCallUrl: string | null;
  readonly cancellationReason: string | null;
}

/** Longest identifier that is kept; a longer one is no identifier. */
const maxIdentifierLength = 255;

const maxFormerUids = 100;

const maxAttendees = 1_000;

const maxTextLength = 1_000;

const maxSegments = 50;

/** The envelope `{triggerEvent, createdAt, payload}`, or the same fields without an envelope. */
export function readBooking(trigger: BookingTrigger, document: JsonObject, isSigned: boolean): BookingEvent {
  const payload = isJsonObject(document['payload']) ? document['payload'] : document;
  const metadata = payload['metadata'];
  const uid = readIdentifier(payload['uid']);
  const rescheduleUid = readIdentifier(payload['rescheduleUid']);
  const uids = [rescheduleUid, ...readFormerUids(payload['formerUids']), uid]
    .map((item) => prefix('uid', item))
    .filter((item) => item !== undefined);
  const others = [
    prefix('id', readIdentifier(payload['bookingId'])),
    prefix('id', readIdentifier(payload['rescheduleId'])),
    prefix('ical', readIdentifier(payload['iCalUID'])),
  ].filter((item) => item !== undefined);
  return {
    trigger,
    createdAt: readInstant(document['createdAt']),
    identifiers: [...new Set([...uids, ...others])],
    matchers: [...new Set([...uids, ...(mayMatchByNumber(trigger, isSigned, uids) ? others : [])])],
    uid: uid ?? null,
    bookingId: readIdentifier(payload['bookingId']) === undefined ? null : payload['bookingId'],
    title: readText(payload['title'], toLine),
    start: readInstant(payload['startTime']),
    finish: readInstant(payload['endTime']),
    attendees: readAttendees(payload['attendees']),
    videoCallUrl: isJsonObject(metadata) && typeof metadata['videoCallUrl'] === 'string' ? metadata['videoCallUrl'] : null,
    cancellationReason: readText(payload['cancellationReason'], toLines),
  };
}

/** Numbers of bookings can be guessed: nothing ends by one alone, unless the provider says so (D65). */
function mayMatchByNumber(trigger: BookingTrigger, isSigned: boolean, uids: readonly string[]): boolean {
  return trigger !== 'BOOKING_CANCELLED' || (isSigned && uids.length === 0);
}

/** Of what was reconciled: the chain before the booking, which the provider itself never sends at once (B2). */
function readFormerUids(value: unknown): (string | undefined)[] {
  return Array.isArray(value) ? value.slice(0, maxFormerUids).map(readIdentifier) : [];
}

const prefix = (kind: string, value: string | undefined): string | undefined => (value === undefined ? undefined : `${kind}:${value}`);

function readIdentifier(value: unknown): string | undefined {
  const text = isRawNumber(value) ? value.rawJSON : typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text.length > maxIdentifierLength) return undefined;
  const line = toLine(text);
  return line.trim() === '' ? undefined : line;
}

function readInstant(value: unknown): Instant | undefined {
  if (typeof value !== 'string') return undefined;
  const parsed = parseInstant(value);
  return parsed.kind === 'invalid' ? undefined : parsed.instant;
}

function readText(value: unknown, clean: (text: string) => string): string | null {
  const text = typeof value === 'string' ? clean(shorten(value)) : '';
  return text.trim() === '' ? null : text;
}

function readAttendees(value: unknown): Attendee[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).slice(0, maxAttendees).map(readAttendee);
}

function readAttendee(item: JsonObject): Attendee {
  const given = typeof item['email'] === 'string' ? toLine(item['email']).trim() : '';
  const email = given === '' || given.length > 320 ? null : given;
  return { name: readText(item['name'], toLine)?.trim() ?? email ?? 'Guest', email };
}

export const shorten = (text: string): string => text.slice(0, maxTextLength).toWellFormed();

export interface JourneyHint {
  /** Slugs to try, in order. */
  readonly slugs: readonly string[];
  /** The URL names the journey by its query parameter: there is nothing to fall back to. */
  readonly named: boolean;
}

/**
 * Where a video call URL may name its journey: the query parameter `journey`, else the path segments from right to left. Undefined
 * when there is no URL or it cannot be read.
 */
export function readJourneyHint(videoCallUrl: string | null): JourneyHint | undefined {
  const base = 'https://relative.invalid';
  if (videoCallUrl === null || videoCallUrl.trim() === '' || !URL.canParse(videoCallUrl, base)) return undefined;
  const url = new URL(videoCallUrl, base);
  const journey = url.searchParams.get('journey')?.trim() ?? '';
  if (journey !== '') return { slugs: [toLine(shorten(journey))], named: true };
  const segments = url.pathname.split('/').filter((segment) => segment !== '' && segment.length <= maxTextLength);
  return {
    slugs: segments
      .map((segment) => toLine(decodeSegment(segment)))
      .toReversed()
      .slice(0, maxSegments),
    named: false,
  };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/**
 * The bookings that an event is about, of those that its `matchers` name, in their order (D65): the first decides. Others are of the same
 * booking when uids name them too; what a number names beside it is left alone.
 */
export function chooseBookings<Row extends { readonly id: number; readonly identifier: string }>(matched: readonly Row[]): Row[] {
  const [first, ...others] = matched;
  if (first === undefined) return [];
  const linked = [first, ...others].filter(({ identifier }) => identifier.startsWith('uid:'));
  return [...new Map([first, ...linked].map((row) => [row.id, row])).values()];
}

/** The ids of `first` followed by those of `more` that are new, in order. */
export function joinIds(first: readonly number[], more: readonly number[]): number[] {
  return [...new Set([...first, ...more])];
}
