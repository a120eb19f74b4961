/** Bookings, which outlive their conversations (docs/adr/booking-matching.md), and receipts of webhooks. */
import { columns, defineEntity, p } from '#libs/orm/entities';
import { ConversationSchema } from './conversation.entity.ts';

export const BookingSchema = defineEntity({
  name: 'Booking',
  tableName: 'bookings',
  schema: 'conversations',
  properties: {
    id: p.integer().primary().autoincrement(),
    conversation: () => p.manyToOne(ConversationSchema).nullable().ref(),
    /** Under which attendees without an email were made people. */
    attendeeKey: p.text(),
    lastEventAt: columns.instant(),
    cancelled: p.boolean().default(false),
    createdAt: columns.now(),
    /** Each event speaks only for the attendees that it names (D78). */
    hasSeats: p.boolean().default(false),
    /** Attendees of events up to this time are gone: all were cancelled, or Cal.com was asked who is left. */
    seatsSince: columns.instant().nullable(),
    /** When another time was asked for, until there is one (D81). */
    requestedAt: columns.instant().nullable(),
    /** The conversation that was deleted when every attendee was gone; a later attendee restores it (D102). */
    formerConversationId: p.integer().nullable(),
    /** A person was erased from it: its attendees are not compared with Cal.com's, who may still have them. */
    wasErasedFrom: p.boolean().default(false),
  },
});

/** An attendee of a booking and what the latest event that names them says of them (D102). */
export const BookingAttendeeSchema = defineEntity({
  name: 'BookingAttendee',
  tableName: 'booking_attendees',
  schema: 'conversations',
  properties: {
    booking: () => p.manyToOne(BookingSchema).primary().ref(),
    /** Digest of the email, the phone number or the name. */
    attendee: p.text().primary(),
    personId: p.integer().nullable(),
    state: p.text(),
    at: columns.instant(),
  },
});

/** People on whose hooks the events of a booking came (D79). */
export const BookingHostSchema = defineEntity({
  name: 'BookingHost',
  tableName: 'booking_hosts',
  schema: 'conversations',
  properties: { booking: () => p.manyToOne(BookingSchema).primary().ref(), personId: p.integer().primary() },
});

/** `bookingId` and `iCalUID`, which several bookings may share (D79). */
export const BookingReferenceSchema = defineEntity({
  name: 'BookingReference',
  tableName: 'booking_references',
  schema: 'conversations',
  properties: { identifier: p.text().primary(), booking: () => p.manyToOne(BookingSchema).primary().ref() },
});

/** A request to reschedule that waits for its confirmation, or had it (D79). */
export const BookingLinkSchema = defineEntity({
  name: 'BookingLink',
  tableName: 'booking_links',
  schema: 'conversations',
  properties: {
    uid: p.text().primary(),
    formerUid: p.text().primary(),
    /** With seats: whom it is about. */
    attendees: p.array().$type<string[]>().columnType('text[]').default([]),
    /** When each of them asked, by key. */
    requested: columns.jsonObject(),
    createdAt: columns.now(),
  },
});

/** The uids of a booking, in the order in which it was seen. */
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

/** Every webhook of a booking or of the meeting provider, and what became of it (D20, D68). */
export const WebhookReceiptSchema = defineEntity({
  name: 'WebhookReceipt',
  tableName: 'webhook_receipts',
  schema: 'conversations',
  properties: {
    id: p.integer().primary().autoincrement(),
    /** `booking`, or `meeting`: then `personId` is empty. */
    source: p.text().default('booking'),
    dedupeKey: p.text(),
    deliveryId: p.text(),
    deliveries: p.integer().default(1),
    receivedAt: columns.instant(),
    /** Of the path, as it was written. */
    personId: p.text(),
    headers: columns.jsonObject(),
    body: p.blob().nullable(),
    /** SHA-256 of the body as it came, in hex; null when it was not read. */
    bodyDigest: p.text().nullable(),
    bodySize: p.integer().nullable(),
    /** With one of the secrets that there were when it came. */
    wasSigned: p.boolean().default(false),
    triggerEvent: p.text().nullable(),
    identifiers: p.array().$type<string[]>().columnType('text[]').default([]),
    outcome: p.text(),
    message: p.text().nullable(),
    conversationId: p.integer().nullable(),
    processedAt: columns.instant().nullable(),
  },
});
