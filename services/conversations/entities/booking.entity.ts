/** Tables of bookings, which outlive their conversations (docs/adr/booking-matching.md), and of webhook receipts. */
import { columns, defineEntity, p } from '#libs/infrastructure/orm/entities';
import { ConversationSchema } from './conversation.entity.ts';

export const BookingSchema = defineEntity({
  name: 'Booking',
  tableName: 'bookings',
  schema: 'conversations',
  properties: {
    id: p.integer().primary().autoincrement(),
    conversation: () => p.manyToOne(ConversationSchema).nullable().ref(),
    /** Key that identifies people created from attendees without an email. */
    attendeeKey: p.text(),
    lastEventAt: columns.instant(),
    cancelled: p.boolean().default(false),
    createdAt: columns.now(),
    /** True when each event applies only to the attendees that it names (D78). */
    hasSeats: p.boolean().default(false),
    /** Seats of events up to this time have ended, because the booking was cancelled or reconciled with Cal.com. */
    seatsSince: columns.instant().nullable(),
    /** When the guest was requested to reschedule; null after a new time is set (D81). */
    requestedAt: columns.instant().nullable(),
    /**
     * The conversation that was deleted when the booking had no attendees any more; a later attendee restores it
     * (D102).
     */
    formerConversationId: p.integer().nullable(),
    /** True when a person of the booking was erased. Its attendees are then not compared with those at Cal.com. */
    wasErasedFrom: p.boolean().default(false),
  },
});

/** The state of an attendee according to the latest event that names the attendee (D102). */
export const BookingAttendeeSchema = defineEntity({
  name: 'BookingAttendee',
  tableName: 'booking_attendees',
  schema: 'conversations',
  properties: {
    booking: () => p.manyToOne(BookingSchema).primary().ref(),
    /** Digest of the attendee's email, phone number or name. */
    attendee: p.text().primary(),
    personId: p.integer().nullable(),
    state: p.text(),
    at: columns.instant(),
  },
});

/** People on whose webhook paths events of a booking were received (D79). */
export const BookingHostSchema = defineEntity({
  name: 'BookingHost',
  tableName: 'booking_hosts',
  schema: 'conversations',
  properties: { booking: () => p.manyToOne(BookingSchema).primary().ref(), personId: p.integer().primary() },
});

/** `bookingId` and `iCalUID`, which several bookings can share (D79). */
export const BookingReferenceSchema = defineEntity({
  name: 'BookingReference',
  tableName: 'booking_references',
  schema: 'conversations',
  properties: { identifier: p.text().primary(), booking: () => p.manyToOne(BookingSchema).primary().ref() },
});

/** A reschedule request that links two bookings, confirmed or not (D79). */
export const BookingLinkSchema = defineEntity({
  name: 'BookingLink',
  tableName: 'booking_links',
  schema: 'conversations',
  properties: {
    uid: p.text().primary(),
    formerUid: p.text().primary(),
    /** Keys of the attendees that requested the reschedule; empty for the whole booking. */
    attendees: p.array().$type<string[]>().columnType('text[]').default([]),
    /** Request time of each attendee, by attendee key. */
    requested: columns.jsonObject(),
    createdAt: columns.now(),
  },
});

/** Uids of a booking in the order in which they were received. */
export const BookingIdentifierSchema = defineEntity({
  name: 'BookingIdentifier',
  tableName: 'booking_identifiers',
  schema: 'conversations',
  properties: {
    identifier: p.text().primary(),
    booking: () => p.manyToOne(BookingSchema).ref(),
    position: p.integer(),
  },
});

/** Received webhooks of bookings and of the meeting provider, with their outcome (D20, D68). */
export const WebhookReceiptSchema = defineEntity({
  name: 'WebhookReceipt',
  tableName: 'webhook_receipts',
  schema: 'conversations',
  properties: {
    id: p.integer().primary().autoincrement(),
    /** `booking`, or `meeting`, for which `personId` is empty. */
    source: p.text().default('booking'),
    dedupeKey: p.text(),
    deliveryId: p.text(),
    deliveries: p.integer().default(1),
    receivedAt: columns.instant(),
    /** Person id in the webhook path, as sent. */
    personId: p.text(),
    headers: columns.jsonObject(),
    body: p.blob().nullable(),
    /** SHA-256 of the received body in hex; null when it was not read. */
    bodyDigest: p.text().nullable(),
    bodySize: p.integer().nullable(),
    /** True when the webhook was signed with a secret that was configured on receipt. */
    wasSigned: p.boolean().default(false),
    triggerEvent: p.text().nullable(),
    identifiers: p.array().$type<string[]>().columnType('text[]').default([]),
    outcome: p.text(),
    message: p.text().nullable(),
    conversationId: p.integer().nullable(),
    processedAt: columns.instant().nullable(),
  },
});
