/**
 * Cal.com's booking webhook, read loosely: fields of the wrong type count as missing (spec 03, D19, D19a). Nothing in it is trusted;
 * the video call URL is text that is parsed and never fetched.
 */
import { isJsonObject, isRawNumber, type JsonObject } from '#libs/json';
import { describeUnsigned, isHmac, readWebhookBody, unsignedOutcome } from '#libs/webhooks';
import { parseInstant, type Instant } from '#libs/time';

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
  /** What the booking is matched by, in the order of matching: `uid:…`, `id:…`, `ical:…`. */
  readonly identifiers: readonly string[];
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

export type Verdict =
  | {
      readonly kind: 'rejected';
      readonly outcome: 'rejected_too_large' | 'rejected_signature' | 'rejected_unreadable' | typeof unsignedOutcome;
      readonly message: string;
    }
  | { readonly kind: 'ignored'; readonly trigger: string | null; readonly message: string }
  | { readonly kind: 'booking'; readonly event: BookingEvent };

/** Who is believed (D64). */
export interface BookingTrust {
  /** Empty = no signature can be checked. */
  readonly BOOKING_WEBHOOK_SECRET: string;
  readonly ALLOW_UNSIGNED_WEBHOOKS: boolean;
}

export interface RawWebhook {
  /** Null when it was too large to be kept. */
  readonly body: Buffer | null;
  /** `X-Cal-Signature-256`. */
  readonly signature: string | undefined;
}

/** Longest identifier that is kept; a longer one is no identifier. */
const maxIdentifierLength = 255;
const maxAttendees = 1_000;
const maxTextLength = 1_000;
const maxSegments = 50;

/** What a webhook is, by its bytes alone. */
export function judgeWebhook({ body, signature }: RawWebhook, trust: BookingTrust): Verdict {
  const { BOOKING_WEBHOOK_SECRET: secret } = trust;
  if (secret === '' && !trust.ALLOW_UNSIGNED_WEBHOOKS) {
    return { kind: 'rejected', outcome: unsignedOutcome, message: describeUnsigned('BOOKING_WEBHOOK_SECRET') };
  }
  if (body === null) return { kind: 'rejected', outcome: 'rejected_too_large', message: 'The body is over the size limit.' };
  if (secret !== '' && !isHmac(signature, secret, body)) {
    return { kind: 'rejected', outcome: 'rejected_signature', message: 'The signature does not fit the body and the secret.' };
  }
  const document = readWebhookBody(body);
  if (document === undefined)
    return { kind: 'rejected', outcome: 'rejected_unreadable', message: 'The body is no JSON object that can be stored.' };
  const trigger = document['triggerEvent'];
  if (typeof trigger !== 'string') return { kind: 'ignored', trigger: null, message: 'The body has no triggerEvent.' };
  if (!isBookingTrigger(trigger)) return { kind: 'ignored', trigger: shorten(trigger), message: 'No booking event that is acted on.' };
  return { kind: 'booking', event: readBooking(trigger, document) };
}

function isBookingTrigger(trigger: string): trigger is BookingTrigger {
  return (bookingTriggers as readonly string[]).includes(trigger);
}

/** The envelope `{triggerEvent, createdAt, payload}`, or the same fields without an envelope. */
function readBooking(trigger: BookingTrigger, document: JsonObject): BookingEvent {
  const payload = isJsonObject(document['payload']) ? document['payload'] : document;
  const metadata = payload['metadata'];
  const uid = readIdentifier(payload['uid']);
  const rescheduleUid = readIdentifier(payload['rescheduleUid']);
  const identifiers = [
    prefix('uid', rescheduleUid),
    prefix('uid', uid),
    prefix('id', readIdentifier(payload['bookingId'])),
    prefix('id', readIdentifier(payload['rescheduleId'])),
    prefix('ical', readIdentifier(payload['iCalUID'])),
  ].filter((item) => item !== undefined);
  return {
    trigger,
    createdAt: readInstant(document['createdAt']),
    identifiers: [...new Set(identifiers)],
    uid: uid ?? null,
    bookingId: readIdentifier(payload['bookingId']) === undefined ? null : payload['bookingId'],
    title: readText(payload['title']),
    start: readInstant(payload['startTime']),
    finish: readInstant(payload['endTime']),
    attendees: readAttendees(payload['attendees']),
    videoCallUrl: isJsonObject(metadata) && typeof metadata['videoCallUrl'] === 'string' ? metadata['videoCallUrl'] : null,
    cancellationReason: readText(payload['cancellationReason']),
  };
}

const prefix = (kind: string, value: string | undefined): string | undefined => (value === undefined ? undefined : `${kind}:${value}`);

function readIdentifier(value: unknown): string | undefined {
  const text = isRawNumber(value) ? value.rawJSON : typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text.trim() === '' || text.length > maxIdentifierLength) return undefined;
  return text;
}

function readInstant(value: unknown): Instant | undefined {
  if (typeof value !== 'string') return undefined;
  const parsed = parseInstant(value);
  return parsed.kind === 'invalid' ? undefined : parsed.instant;
}

function readText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? shorten(value) : null;
}

function readAttendees(value: unknown): Attendee[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).slice(0, maxAttendees).map(readAttendee);
}

function readAttendee(item: JsonObject): Attendee {
  const given = typeof item['email'] === 'string' ? item['email'].trim() : '';
  const email = given === '' || given.length > 320 ? null : given;
  return { name: readText(item['name'])?.trim() ?? email ?? 'Guest', email };
}

const shorten = (text: string): string => text.slice(0, maxTextLength).toWellFormed();

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
  if (journey !== '') return { slugs: [shorten(journey)], named: true };
  const segments = url.pathname.split('/').filter((segment) => segment !== '' && segment.length <= maxTextLength);
  return { slugs: segments.map(decodeSegment).toReversed().slice(0, maxSegments), named: false };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The ids of `first` followed by those of `more` that are new, in order. */
export function joinIds(first: readonly number[], more: readonly number[]): number[] {
  return [...new Set([...first, ...more])];
}
