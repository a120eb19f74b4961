/** Bookings, which outlive their conversations (docs/adr/bookings-outlive-their-conversations.md), and receipts of webhooks. */
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
  },
});

/** All that names a booking, in the order in which it was seen. */
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
