/**
 * What of the booking service's bookings is missing here (B2). Bookings that follow each other by rescheduling are one chain: its last one, the tip,
 * says how it stands, and at most one event of a chain is fed.
 */
import { isJsonObject, isRawNumber, type JsonObject } from '#libs/json';
import { parseInstant } from '#libs/time';
import { readAttendees } from '../booking/index.ts';

/** A booking as Cal.com's API v2 tells of it; what it sends in the wrong type counts as missing. */
export interface CalBooking {
  readonly uid: string;
  readonly id: number | null;
  readonly status: 'accepted' | 'cancelled';
  readonly title: string | null;
  readonly start: string | null;
  readonly end: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly hosts: readonly string[];
  readonly attendees: readonly CalAttendee[];
  /** Attendees have seats: each comes and leaves alone. */
  readonly hasSeats: boolean;
  /** Of an occurrence: names the whole series. */
  readonly seriesUid: string | null;
  readonly videoCallUrl: string | null;
  readonly icsUid: string | null;
  readonly rescheduledFromUid: string | null;
  readonly rescheduledToUid: string | null;
  readonly cancellationReason: string | null;
}

/** As a webhook names them. */
export interface CalAttendee {
  readonly name: string | null;
  readonly email: string | null;
  readonly phoneNumber?: string;
}

const maxUidLength = 250;
const maxListed = 1_000;

/** Undefined for what never had a webhook (unconfirmed, rejected) or cannot be read. */
export function readCalBooking(value: unknown): CalBooking | undefined {
  if (!isJsonObject(value)) return undefined;
  const uid = readUid(value['uid']);
  const status = value['status'];
  const createdAt = readTime(value['createdAt']);
  if (uid === null || createdAt === null || (status !== 'accepted' && status !== 'cancelled')) return undefined;
  return {
    uid,
    id: readNumber(value['id']),
    status,
    title: readString(value['title']),
    start: readSentTime(value['start']),
    end: readSentTime(value['end']),
    createdAt,
    updatedAt: readTime(value['updatedAt']) ?? createdAt,
    hosts: listObjects(value['hosts']).flatMap(({ email }) => readString(email) ?? []),
    attendees: listObjects(value['attendees']).map(readAttendee),
    hasSeats:
      listObjects(value['attendees']).some(({ seatUid }) => readString(seatUid) !== null) || readNumber(value['seatsPerTimeSlot']) !== null,
    seriesUid: readUid(value['recurringBookingUid']),
    videoCallUrl: readVideoCallUrl(value),
    icsUid: readUid(value['icsUid']),
    rescheduledFromUid: readUid(value['rescheduledFromUid']),
    rescheduledToUid: readUid(value['rescheduledToUid']),
    cancellationReason: readString(value['cancellationReason']),
  };
}

function readAttendee({ name, email, phoneNumber }: JsonObject): CalAttendee {
  const phone = readString(phoneNumber);
  return { name: readString(name), email: readString(email), ...(phone === null ? {} : { phoneNumber: phone }) };
}

/** The API leaves `metadata.videoCallUrl` out and tells it as `meetingUrl` or, in newer releases, as `location`. */
function readVideoCallUrl(booking: JsonObject): string | null {
  const metadata = booking['metadata'];
  const candidates = [isJsonObject(metadata) ? metadata['videoCallUrl'] : undefined, booking['meetingUrl'], booking['location']];
  return candidates.map(readString).find((text) => text !== null && /^https?:\/\//i.test(text)) ?? null;
}

const readString = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null);

function readUid(value: unknown): string | null {
  const text = readString(value);
  return text === null || text.length > maxUidLength ? null : text;
}

function readNumber(value: unknown): number | null {
  const number = Number(isRawNumber(value) ? value.rawJSON : typeof value === 'number' ? value : Number.NaN);
  return Number.isSafeInteger(number) ? number : null;
}

function readTime(value: unknown): string | null {
  const text = readString(value);
  return text === null || parseInstant(text).kind === 'invalid' ? null : text;
}

/** As it was sent, so that the worker of webhooks refuses what is unreadable (D82). */
const readSentTime = (value: unknown): string | null =>
  value === undefined || value === null ? null : typeof value === 'string' ? value : JSON.stringify(value);

function listObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject).slice(0, maxListed) : [];
}

/** Those that no other one has followed. */
export function findTips(bookings: readonly CalBooking[]): CalBooking[] {
  const followed = new Set(bookings.map(({ rescheduledFromUid }) => rescheduledFromUid));
  return bookings.filter(({ uid, rescheduledToUid }) => rescheduledToUid === null && !followed.has(uid));
}

/** What is known here under one of a chain's uids. */
export interface KnownBooking {
  readonly uid: string;
  /** Several of one chain are several here: the webhook that linked them is lost. */
  readonly bookingId: number;
  readonly cancelled: boolean;
  readonly hasSeats: boolean;
  /** Null when it has none any more. */
  readonly conversationId: number | null;
  readonly start: string | null;
  readonly finish: string | null;
  /** Of the latest event that was applied. */
  readonly lastEventAt: string;
  /** Who was first to take part in it. */
  readonly personId: number | null;
  /** Its attendees cannot be compared: a person was erased from it. */
  readonly wasErasedFrom: boolean;
  /** Attendees that an event has named, by their keys; those with `present` have a seat. Empty of a booking of an older release. */
  readonly attendees: Readonly<Record<string, { readonly present: boolean }>>;
}

export type MissingTrigger = 'BOOKING_CREATED' | 'BOOKING_RESCHEDULED' | 'BOOKING_CANCELLED';

export interface MissingEvent {
  readonly trigger: MissingTrigger;
  /** The booking is here, and attendees of it are not. */
  readonly isRoster: boolean;
  /** It is of the time at which Cal.com was asked, which does not say when it happened. */
  readonly usesQueryTime: boolean;
  /** It is of the time of the last change: the uid is known here with other times. */
  readonly usesUpdateTime: boolean;
  readonly hasSeats: boolean;
}

/** The event of a chain that had no effect here; undefined when all is well. */
export function findMissing(tip: CalBooking, known: readonly KnownBooking[]): MissingEvent | undefined {
  const own = known.find(({ uid }) => uid === tip.uid);
  const hasSeats = tip.hasSeats || own?.hasSeats === true;
  const event = { isRoster: false, usesQueryTime: false, usesUpdateTime: false, hasSeats };
  if (tip.status === 'cancelled') {
    const isStillBooked = known.some(({ cancelled, conversationId }) => !cancelled && conversationId !== null);
    return isStillBooked ? { ...event, trigger: 'BOOKING_CANCELLED' } : undefined;
  }
  // Bookings with seats that follow each other stay apart.
  const isSplit = !hasSeats && new Set(known.map(({ bookingId }) => bookingId)).size > 1;
  if (isSplit || own === undefined) {
    return { ...event, trigger: tip.rescheduledFromUid === null ? 'BOOKING_CREATED' : 'BOOKING_RESCHEDULED' };
  }
  if (lacksAttendees(tip, own, hasSeats)) return { ...event, trigger: 'BOOKING_CREATED', isRoster: true, usesQueryTime: true };
  return hasOtherTimes(tip, own) ? { ...event, trigger: 'BOOKING_RESCHEDULED', usesUpdateTime: true } : undefined;
}

/** Changed there after the latest event that came here. */
function hasOtherTimes({ start, end, updatedAt }: CalBooking, { conversationId, lastEventAt, ...own }: KnownBooking): boolean {
  if (conversationId === null || start === null || Date.parse(updatedAt) <= Date.parse(lastEventAt)) return false;
  const finish = end !== null && Date.parse(end) < Date.parse(start) ? start : end;
  return !isSameTime(start, own.start) || (finish !== null && !isSameTime(finish, own.finish));
}

const isSameTime = (sent: string, stored: string | null): boolean => stored !== null && Date.parse(sent) === Date.parse(stored);

function lacksAttendees({ attendees }: CalBooking, own: KnownBooking, hasSeats: boolean): boolean {
  const listed = readAttendees(attendees).map(({ key }) => key);
  const named = Object.entries(own.attendees);
  if (listed.length === 0 || own.wasErasedFrom) return false;
  if (hasSeats) {
    const present = new Set(named.filter(([, { present: isIn }]) => isIn).map(([key]) => key));
    return listed.some((key) => !present.has(key)) || [...present].some((key) => !listed.includes(key));
  }
  return named.length > 0 && own.conversationId !== null && listed.some((key) => own.attendees[key] === undefined);
}

/**
 * The webhook that should have come, of the time at which it would have: what is newer here stays. The same booking gives the same bytes, so that
 * they are one receipt however often they are fed. `formerUids`: the chain before it, nearest first. A roster is as it was `queriedAt`.
 */
export function composeWebhook(
  { trigger, isRoster, usesQueryTime, usesUpdateTime, hasSeats }: MissingEvent,
  tip: CalBooking,
  formerUids: readonly string[],
  queriedAt: string,
): Buffer {
  const { uid, id, title, start, end, attendees, videoCallUrl, icsUid, cancellationReason } = tip;
  const cancels = trigger === 'BOOKING_CANCELLED';
  const [rescheduleUid] = isRoster || hasSeats ? [] : formerUids;
  const payload = {
    uid,
    ...(id === null ? {} : { bookingId: id }),
    ...(rescheduleUid === undefined ? {} : { rescheduleUid, formerUids }),
    ...(icsUid === null ? {} : { iCalUID: icsUid }),
    title,
    startTime: start,
    endTime: end,
    attendees: cancels ? [] : attendees,
    ...(hasSeats ? { seatsPerTimeSlot: Math.max(1, attendees.length), isRoster: !cancels } : {}),
    ...(videoCallUrl === null ? {} : { metadata: { videoCallUrl } }),
    ...(cancels && cancellationReason !== null ? { cancellationReason } : {}),
  };
  const latest = Date.parse(tip.updatedAt) > Date.parse(queriedAt) ? tip.updatedAt : queriedAt;
  const createdAt = usesQueryTime ? latest : cancels || usesUpdateTime ? tip.updatedAt : tip.createdAt;
  return Buffer.from(JSON.stringify({ triggerEvent: trigger, createdAt, payload }));
}
