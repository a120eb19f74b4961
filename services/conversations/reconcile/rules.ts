/**
 * Finds missing events of bookings (B2). Bookings that are linked by rescheduling form a chain. Its last booking, the
 * tip, determines the state, and at most one event per chain is submitted.
 */
import { readAttendees } from '../booking/index.ts';
import type { CalBooking } from '../cal-com.ts';

/** Returns the bookings that were not rescheduled to another booking. */
export function findTips(bookings: readonly CalBooking[]): CalBooking[] {
  const followed = new Set(bookings.map(({ rescheduledFromUid }) => rescheduledFromUid));
  return bookings.filter(({ uid, rescheduledToUid }) => rescheduledToUid === null && !followed.has(uid));
}

/** A stored booking that has one of the uids of a chain. */
export interface KnownBooking {
  readonly uid: string;
  /** Different ids within a chain mean that the webhook which links the bookings was lost. */
  readonly bookingId: number;
  readonly cancelled: boolean;
  readonly hasSeats: boolean;
  /** Null when the conversation was deleted. */
  readonly conversationId: number | null;
  readonly start: string | null;
  readonly finish: string | null;
  /** Time of the latest event that was applied. */
  readonly lastEventAt: string;
  /** Id of the first participant. */
  readonly personId: number | null;
  /** True when a person of the booking was erased, so that attendees cannot be compared. */
  readonly wasErasedFrom: boolean;
  /** Known attendees by key; `present` means that the attendee has a seat. Empty for bookings of older releases. */
  readonly attendees: Readonly<Record<string, { readonly present: boolean }>>;
}

export type MissingTrigger = 'BOOKING_CREATED' | 'BOOKING_RESCHEDULED' | 'BOOKING_CANCELLED';

export interface MissingEvent {
  readonly trigger: MissingTrigger;
  /** The booking is stored, but its attendees differ from those at Cal.com. */
  readonly isRoster: boolean;
  /** The event uses the time of the query, because the time of the change is unknown. */
  readonly usesQueryTime: boolean;
  /** The event uses the time of the last change, because the stored booking with this uid has other times. */
  readonly usesUpdateTime: boolean;
  readonly hasSeats: boolean;
}

/** Returns the missing event of a chain; returns undefined when no event is missing. */
export function findMissing(tip: CalBooking, known: readonly KnownBooking[]): MissingEvent | undefined {
  const own = known.find(({ uid }) => uid === tip.uid);
  const hasSeats = tip.hasSeats || own?.hasSeats === true;
  const event = { isRoster: false, usesQueryTime: false, usesUpdateTime: false, hasSeats };
  if (tip.status === 'cancelled') {
    const isStillBooked = known.some(({ cancelled, conversationId }) => !cancelled && conversationId !== null);
    return isStillBooked ? { ...event, trigger: 'BOOKING_CANCELLED' } : undefined;
  }
  // Rescheduled bookings with seats remain separate bookings.
  const isSplit = !hasSeats && new Set(known.map(({ bookingId }) => bookingId)).size > 1;
  if (isSplit || own === undefined) {
    return { ...event, trigger: tip.rescheduledFromUid === null ? 'BOOKING_CREATED' : 'BOOKING_RESCHEDULED' };
  }
  if (lacksAttendees(tip, own, hasSeats))
    return { ...event, trigger: 'BOOKING_CREATED', isRoster: true, usesQueryTime: true };
  return hasOtherTimes(tip, own) ? { ...event, trigger: 'BOOKING_RESCHEDULED', usesUpdateTime: true } : undefined;
}

/** Returns whether the times at Cal.com changed after the latest stored event. */
function hasOtherTimes(
  { start, end, updatedAt }: CalBooking,
  { conversationId, lastEventAt, ...own }: KnownBooking,
): boolean {
  if (conversationId === null || start === null || Date.parse(updatedAt) <= Date.parse(lastEventAt)) return false;
  const finish = end !== null && Date.parse(end) < Date.parse(start) ? start : end;
  return !isSameTime(start, own.start) || (finish !== null && !isSameTime(finish, own.finish));
}

const isSameTime = (sent: string, stored: string | null): boolean =>
  stored !== null && Date.parse(sent) === Date.parse(stored);

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
 * Builds the missing webhook with the original time of the change, so that newer events win. Equal bookings produce
 * equal bytes, and therefore one receipt. `formerUids` are the earlier bookings of the chain, nearest first. A roster
 * describes the state at `queriedAt`.
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
