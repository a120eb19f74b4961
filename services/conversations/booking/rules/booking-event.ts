/**
 * Cal.com's booking webhook, read loosely: fields of the wrong type count as missing (D19, D19a). Nothing in it is trusted;
 * the video call URL is text that is parsed and never fetched.
 */
import { listSecretValues } from '#libs/config';
import { isJsonObject, isRawNumber, type JsonObject } from '#libs/json';
import { isBlank, removeControlCharacters, toMultiline, toSingleLine } from '#libs/text';
import { type Instant, parseInstant } from '#libs/time';
import { describeUnsigned, findSigningKey, readWebhookBody, unsignedOutcome } from '#libs/webhooks';
import { type Attendee, maxTextLength, readAttendees, shorten } from './attendees.ts';

export const bookingTriggers = ['BOOKING_CREATED', 'BOOKING_RESCHEDULED', 'BOOKING_CANCELLED', 'BOOKING_REQUESTED'] as const;

export type BookingTrigger = (typeof bookingTriggers)[number];

export interface BookingEvent {
  readonly trigger: BookingTrigger;
  /** When the provider made the event; undefined = unknown, the time of receipt counts. */
  readonly createdAt: Instant | undefined;
  /** `uid:…` of all bookings of the chain that it names, those before it first. */
  readonly uids: readonly string[];
  /** `id:…` and `ical:…`, which another booking may have too (D79). */
  readonly numbers: readonly string[];
  /** Numbers by which the booking may be found: of an event that names no uid. */
  readonly matchers: readonly string[];
  readonly uid: string | null;
  readonly rescheduleUid: string | null;
  /** A number as it was sent, or null. */
  readonly bookingId: unknown;
  readonly title: string | null;
  readonly start: Instant | undefined;
  readonly finish: Instant | undefined;
  /** Why its times cannot be used (D82). */
  readonly timesProblem: string | undefined;
  readonly attendees: readonly Attendee[];
  /** It speaks only for the attendees that it names (D78). */
  readonly hasSeats: boolean;
  /** It does not say whether there are seats: the booking that is known does. */
  readonly seatsUnspecified: boolean;
  /** It is about one seat, whoever else it names. */
  readonly isSingleSeat: boolean;
  /** The attendees named are all that there are: what was reconciled alone says so (B2). */
  readonly isRoster: boolean;
  /** The cancellation asks for another time (D81). */
  readonly requestsReschedule: boolean;
  /** It is about several occurrences of a series (D81). */
  readonly isSeries: boolean;
  readonly videoCallUrl: string | null;
  readonly cancellationReason: string | null;
}

/** Longest identifier that is kept; a longer one is no identifier. */
const maxIdentifierLength = 255;

const maxFormerUids = 100;

const maxSegments = 50;

/** The envelope `{triggerEvent, createdAt, payload}`, or the same fields without an envelope. */
export function readBooking(trigger: BookingTrigger, document: JsonObject, isSigned: boolean): BookingEvent {
  const payload = isJsonObject(document['payload']) ? document['payload'] : document;
  const metadata = payload['metadata'];
  const uid = readIdentifier(payload['uid']);
  const rescheduleUid = readIdentifier(payload['rescheduleUid']);
  const uids = listIdentifiers([rescheduleUid, ...readFormerUids(payload['formerUids']), uid].map((item) => prefix('uid', item)));
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
    videoCallUrl: isJsonObject(metadata) && typeof metadata['videoCallUrl'] === 'string' ? metadata['videoCallUrl'] : null,
    cancellationReason: readText(payload['cancellationReason'], toMultiline),
  };
}

const listIdentifiers = (items: readonly (string | undefined)[]): string[] => [...new Set(items.filter((item) => item !== undefined))];

/** Of what was reconciled: the chain before the booking, which the provider itself never sends at once (B2). */
function readFormerUids(value: unknown): (string | undefined)[] {
  return Array.isArray(value) ? value.slice(0, maxFormerUids).map(readIdentifier) : [];
}

/** `abc` for `uid:abc`. */
export const stripUidPrefix = (identifier: string): string => identifier.slice('uid:'.length);

const prefix = (kind: string, value: string | undefined): string | undefined => (value === undefined ? undefined : `${kind}:${value}`);

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

/** A time that is absent or null is none; any other value must be one. */
function findTimesProblem(payload: JsonObject, start: Instant | undefined, finish: Instant | undefined): string | undefined {
  const unreadable = [start === undefined ? 'startTime' : '', finish === undefined ? 'endTime' : ''].filter(
    (key) => key !== '' && payload[key] !== undefined && payload[key] !== null,
  );
  return unreadable.length === 0 ? undefined : `${unreadable.join(' and ')} cannot be read as a datetime.`;
}

/** A template writes text. */
const isTrue = (value: unknown): boolean => value === true || value === 'true';

function readText(value: unknown, clean: (text: string) => string): string | null {
  const text = typeof value === 'string' ? clean(shorten(value)) : '';
  return isBlank(text) ? null : text;
}

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

/** What names the booking of an event: of very few events numbers do (D79). */
export const identifiersOf = ({ uids, numbers }: BookingEvent): readonly string[] => (uids.length > 0 ? uids : numbers);

/** All of them: an event without a uid waits for those that came before it and have one (D80). */
export const allIdentifiersOf = ({ uids, numbers }: BookingEvent): readonly string[] => [...uids, ...numbers];

/** The ids of `first` followed by those of `more` that are new, in order. */
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

/** With the index of the secret with which it is signed; undefined when it is not. */
export type SignedClassification = Classification & { readonly signer?: number | undefined };

/** Who is believed (D64). */
export interface SignaturePolicy {
  /** Of several values any may have signed (K8); empty = no signature can be checked. */
  readonly BOOKING_WEBHOOK_SECRET: string;
  readonly ALLOW_UNSIGNED_WEBHOOKS: boolean;
}

export interface RawWebhook {
  /** Null when it was too large to be kept. */
  readonly body: Buffer | null;
  /** `X-Cal-Signature-256`. */
  readonly signature: string | undefined;
}

/** Keys of names and titles, and of addresses. */
const cleaned = { lines: new Set(['title', 'name']), addresses: new Set(['email', 'videoCallUrl']) };

/** What a webhook is, by its bytes alone. */
export function classifyWebhook({ body, signature }: RawWebhook, policy: SignaturePolicy): SignedClassification {
  const secrets = listSecretValues(policy.BOOKING_WEBHOOK_SECRET);
  if (secrets.length === 0 && !policy.ALLOW_UNSIGNED_WEBHOOKS) {
    return { kind: 'rejected', outcome: unsignedOutcome, message: describeUnsigned('BOOKING_WEBHOOK_SECRET') };
  }
  if (body === null) return { kind: 'rejected', outcome: 'rejected_too_large', message: 'The body is over the size limit.' };
  const signer = findSigningKey(signature, secrets, body);
  if (secrets.length > 0 && signer === undefined) {
    return { kind: 'rejected', outcome: 'rejected_signature', message: 'The signature does not fit the body and the secret.' };
  }
  return { ...readWebhook(body, signer !== undefined), signer };
}

/** What a webhook is that is believed, e.g. because its signature was checked when it came: the secret may have been replaced since (K8). */
export function readWebhook(body: Buffer, isSigned: boolean): Classification {
  const document = readWebhookBody(body, cleaned);
  if (document === undefined)
    return { kind: 'rejected', outcome: 'rejected_unreadable', message: 'The body is not a JSON object, or is nested too deeply.' };
  const trigger = document['triggerEvent'];
  if (typeof trigger !== 'string') return { kind: 'ignored', trigger: null, message: 'The body has no triggerEvent.' };
  if (!isBookingTrigger(trigger))
    return { kind: 'ignored', trigger: toSingleLine(shorten(trigger)), message: 'No booking event that is acted on.' };
  const event = readBooking(trigger, document, isSigned);
  if (trigger === 'BOOKING_REQUESTED' && (event.uid === null || event.rescheduleUid === null))
    return { kind: 'ignored', trigger, message: 'A request that reschedules nothing; its confirmation counts.' };
  return { kind: 'booking', event };
}

function isBookingTrigger(trigger: string): trigger is BookingTrigger {
  return (bookingTriggers as readonly string[]).includes(trigger);
}

export const signatureHeader = 'x-cal-signature-256';
