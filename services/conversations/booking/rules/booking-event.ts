/**
 * Parses and classifies Cal.com booking webhooks (D19, D19a, D33d, D64). Fields of the wrong type count as missing. No
 * field is trusted; the video call URL is parsed, never fetched.
 */
import { listSecretValues } from '#libs/infrastructure/config';
import { isJsonObject, isRawNumber, type JsonObject } from '#libs/infrastructure/json';
import { isBlank, removeControlCharacters, toMultiline, toSingleLine } from '#libs/infrastructure/text';
import { type Instant, parseInstant } from '#libs/infrastructure/time';
import { describeUnsigned, findSigningKey, readWebhookBody, unsignedOutcome } from '#libs/product/webhooks';
import { type Attendee, maxTextLength, readAttendees, shorten } from './attendees.ts';

export const bookingTriggers = [
  'BOOKING_CREATED',
  'BOOKING_RESCHEDULED',
  'BOOKING_CANCELLED',
  'BOOKING_REQUESTED',
] as const;

export type BookingTrigger = (typeof bookingTriggers)[number];

export interface BookingEvent {
  readonly trigger: BookingTrigger;
  /** Provider's time of the event; undefined means that the time of receipt is used. */
  readonly createdAt: Instant | undefined;
  /** `uid:…` of each booking in the reschedule chain, earlier bookings first. */
  readonly uids: readonly string[];
  /** `id:…` and `ical:…`, which other bookings can share (D79). */
  readonly numbers: readonly string[];
  /** Numbers by which a booking can be matched; only for events without a uid. */
  readonly matchers: readonly string[];
  readonly uid: string | null;
  readonly rescheduleUid: string | null;
  /** Booking number as sent, or null. */
  readonly bookingId: unknown;
  readonly title: string | null;
  readonly start: Instant | undefined;
  readonly finish: Instant | undefined;
  /** Why the times cannot be used (D82). */
  readonly timesProblem: string | undefined;
  readonly attendees: readonly Attendee[];
  /** The event applies only to the attendees that it names (D78). */
  readonly hasSeats: boolean;
  /** The event does not specify whether the booking has seats; the stored booking decides. */
  readonly seatsUnspecified: boolean;
  /** The event is about one seat, even if it names other attendees. */
  readonly isSingleSeat: boolean;
  /** The named attendees are the complete list. Only reconciliation sets this (B2). */
  readonly isRoster: boolean;
  /** The cancellation requests that the guest reschedules (D81). */
  readonly requestsReschedule: boolean;
  /** The event is about several occurrences of a series (D81). */
  readonly isSeries: boolean;
  readonly videoCallUrl: string | null;
  readonly cancellationReason: string | null;
}

/** Maximum length of an identifier; longer values are ignored. */
const maxIdentifierLength = 255;

const maxFormerUids = 100;

const maxSegments = 50;

/**
 * Parses a booking event in the envelope `{triggerEvent, createdAt, payload}`, or with the same fields without an
 * envelope.
 */
export function readBooking(trigger: BookingTrigger, document: JsonObject, isSigned: boolean): BookingEvent {
  const payload = isJsonObject(document['payload']) ? document['payload'] : document;
  const metadata = payload['metadata'];
  const uid = readIdentifier(payload['uid']);
  const rescheduleUid = readIdentifier(payload['rescheduleUid']);
  const uids = listIdentifiers(
    [rescheduleUid, ...readFormerUids(payload['formerUids']), uid].map((item) => prefix('uid', item)),
  );
  const numbers = listIdentifiers([
    prefix('id', readIdentifier(payload['bookingId'])),
    prefix('id', readIdentifier(payload['rescheduleId'])),
    prefix('ical', readIdentifier(payload['iCalUID'])),
  ]);
  const isSingleSeat = readIdentifier(payload['attendeeSeatId']) !== undefined;
  const [start, finish] = [readInstant(payload['startTime']), readInstant(payload['endTime'])];
  return {
    trigger,
    createdAt: readInstant(document['createdAt']),
    uids,
    numbers,
    matchers: uids.length === 0 && (trigger !== 'BOOKING_CANCELLED' || isSigned) ? numbers : [],
    uid: uid ?? null,
    rescheduleUid: rescheduleUid ?? null,
    bookingId: readIdentifier(payload['bookingId']) === undefined ? null : payload['bookingId'],
    title: readText(payload['title'], toSingleLine),
    start,
    finish,
    timesProblem: findTimesProblem(payload, start, finish),
    attendees: readAttendees(payload['attendees']),
    hasSeats: isSingleSeat || readIdentifier(payload['seatsPerTimeSlot']) !== undefined,
    seatsUnspecified: !isSingleSeat && payload['seatsPerTimeSlot'] === undefined,
    isSingleSeat,
    isRoster: payload['isRoster'] === true,
    requestsReschedule: trigger === 'BOOKING_CANCELLED' && isTrue(payload['requestReschedule']),
    isSeries: isJsonObject(payload['recurringEvent']),
    videoCallUrl:
      isJsonObject(metadata) && typeof metadata['videoCallUrl'] === 'string' ? metadata['videoCallUrl'] : null,
    cancellationReason: readText(payload['cancellationReason'], toMultiline),
  };
}

const listIdentifiers = (items: readonly (string | undefined)[]): string[] => [
  ...new Set(items.filter((item) => item !== undefined)),
];

/** Returns the earlier uids of the chain, which only reconciliation sends (B2). */
function readFormerUids(value: unknown): (string | undefined)[] {
  return Array.isArray(value) ? value.slice(0, maxFormerUids).map(readIdentifier) : [];
}

/** Returns `abc` for `uid:abc`. */
export const stripUidPrefix = (identifier: string): string => identifier.slice('uid:'.length);

const prefix = (kind: string, value: string | undefined): string | undefined =>
  value === undefined ? undefined : `${kind}:${value}`;

function readIdentifier(value: unknown): string | undefined {
  const text = isRawNumber(value) ? value.rawJSON : typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text.length > maxIdentifierLength) return undefined;
  const line = toSingleLine(text);
  return isBlank(line) ? undefined : line;
}

function readInstant(value: unknown): Instant | undefined {
  if (typeof value !== 'string') return undefined;
  const parsed = parseInstant(value);
  return parsed.kind === 'invalid' ? undefined : parsed.instant;
}

/** Returns why the times cannot be used. Absent and null times are allowed; other values must be datetimes. */
function findTimesProblem(
  payload: JsonObject,
  start: Instant | undefined,
  finish: Instant | undefined,
): string | undefined {
  const unreadable = [start === undefined ? 'startTime' : '', finish === undefined ? 'endTime' : ''].filter(
    (key) => key !== '' && payload[key] !== undefined && payload[key] !== null,
  );
  return unreadable.length === 0 ? undefined : `${unreadable.join(' and ')} cannot be read as a datetime.`;
}

/** Accepts `'true'`, because webhook templates send text. */
const isTrue = (value: unknown): boolean => value === true || value === 'true';

function readText(value: unknown, clean: (text: string) => string): string | null {
  const text = typeof value === 'string' ? clean(shorten(value)) : '';
  return isBlank(text) ? null : text;
}

export interface JourneyHint {
  /** Slugs to try in order. */
  readonly slugs: readonly string[];
  /** The query parameter names the journey, so no other slug is tried. */
  readonly named: boolean;
}

/**
 * Returns the journey candidates of a video call URL: the query parameter `journey`, else the path segments from right
 * to left. Returns undefined without a readable URL.
 */
export function readJourneyHint(videoCallUrl: string | null): JourneyHint | undefined {
  const base = 'https://relative.invalid';
  if (videoCallUrl === null || videoCallUrl.trim() === '' || !URL.canParse(videoCallUrl, base)) return undefined;
  const url = new URL(videoCallUrl, base);
  const journey = url.searchParams.get('journey')?.trim() ?? '';
  if (journey !== '') return { slugs: [removeControlCharacters(shorten(journey))], named: true };
  const segments = url.pathname.split('/').filter((segment) => segment !== '' && segment.length <= maxTextLength);
  return {
    slugs: segments
      .map((segment) => removeControlCharacters(decodeSegment(segment)))
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

/** Returns the identifiers that match the booking: uids, or numbers for the few events without a uid (D79). */
export const identifiersOf = ({ uids, numbers }: BookingEvent): readonly string[] => (uids.length > 0 ? uids : numbers);

/** Returns all identifiers. They make an event without a uid wait for earlier events that have one (D80). */
export const allIdentifiersOf = ({ uids, numbers }: BookingEvent): readonly string[] => [...uids, ...numbers];

/** Returns `first`, followed by the ids of `more` that `first` does not contain, in order. */
export function mergeIds(first: readonly number[], more: readonly number[]): number[] {
  return [...new Set([...first, ...more])];
}

export type Classification =
  | {
      readonly kind: 'rejected';
      readonly outcome: 'rejected_too_large' | 'rejected_signature' | 'rejected_unreadable' | typeof unsignedOutcome;
      readonly message: string;
    }
  | { readonly kind: 'ignored'; readonly trigger: string | null; readonly message: string }
  | { readonly kind: 'booking'; readonly event: BookingEvent };

/** `signer`: index of the secret that signed the webhook; undefined when unsigned. */
export type SignedClassification = Classification & { readonly signer?: number | undefined };

/** Settings that determine which signatures are accepted (D64). */
export interface SignaturePolicy {
  /** One or more secrets, each of which can sign (K8). Empty means that signatures are not checked. */
  readonly BOOKING_WEBHOOK_SECRET: string;
  readonly ALLOW_UNSIGNED_WEBHOOKS: boolean;
}

export interface RawWebhook {
  /** Null when the body exceeded the size limit. */
  readonly body: Buffer | null;
  /** Value of the header `X-Cal-Signature-256`. */
  readonly signature: string | undefined;
}

/** Fields that are cleaned as single lines, and fields that are cleaned as addresses. */
const cleaned = { lines: new Set(['title', 'name']), addresses: new Set(['email', 'videoCallUrl']) };

/** Classifies a webhook by its bytes and signature only. */
export function classifyWebhook({ body, signature }: RawWebhook, policy: SignaturePolicy): SignedClassification {
  const secrets = listSecretValues(policy.BOOKING_WEBHOOK_SECRET);
  if (secrets.length === 0 && !policy.ALLOW_UNSIGNED_WEBHOOKS) {
    return { kind: 'rejected', outcome: unsignedOutcome, message: describeUnsigned('BOOKING_WEBHOOK_SECRET') };
  }
  if (body === null)
    return { kind: 'rejected', outcome: 'rejected_too_large', message: 'The body exceeds the size limit.' };
  const signer = findSigningKey(signature, secrets, body);
  if (secrets.length > 0 && signer === undefined) {
    return {
      kind: 'rejected',
      outcome: 'rejected_signature',
      message: 'The signature does not match the body and the secret.',
    };
  }
  return { ...readWebhook(body, signer !== undefined), signer };
}

/**
 * Parses a trusted webhook. For a stored webhook, the signature was verified on receipt, because the secret may have
 * been rotated since (K8).
 */
export function readWebhook(body: Buffer, isSigned: boolean): Classification {
  const document = readWebhookBody(body, cleaned);
  if (document === undefined)
    return {
      kind: 'rejected',
      outcome: 'rejected_unreadable',
      message: 'The body is not a JSON object, or is nested too deeply.',
    };
  const trigger = document['triggerEvent'];
  if (typeof trigger !== 'string') return { kind: 'ignored', trigger: null, message: 'The body has no triggerEvent.' };
  if (!isBookingTrigger(trigger))
    return { kind: 'ignored', trigger: toSingleLine(shorten(trigger)), message: 'This event type is not processed.' };
  const event = readBooking(trigger, document, isSigned);
  if (trigger === 'BOOKING_REQUESTED' && (event.uid === null || event.rescheduleUid === null))
    return {
      kind: 'ignored',
      trigger,
      message: 'The request does not reschedule a booking; its confirmation is processed instead.',
    };
  return { kind: 'booking', event };
}

function isBookingTrigger(trigger: string): trigger is BookingTrigger {
  return (bookingTriggers as readonly string[]).includes(trigger);
}

export const signatureHeader = 'x-cal-signature-256';
