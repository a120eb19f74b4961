import {
  BookingAttendeeSchema,
  BookingHostSchema,
  BookingIdentifierSchema,
  BookingLinkSchema,
  BookingReferenceSchema,
  BookingSchema,
  WebhookReceiptSchema,
} from './booking.entity.ts';
import {
  ConversationSchema,
  IdempotencyKeySchema,
  ImportKeySchema,
  NoteSchema,
  PipelineEntrySchema,
  QuestionChangeSchema,
  TimelineEntrySchema,
} from './conversation.entity.ts';

/** All tables of the schema `conversations` except those of the job library. */
export const entities = [
  BookingAttendeeSchema,
  BookingHostSchema,
  BookingIdentifierSchema,
  BookingLinkSchema,
  BookingReferenceSchema,
  BookingSchema,
  ConversationSchema,
  IdempotencyKeySchema,
  ImportKeySchema,
  NoteSchema,
  PipelineEntrySchema,
  QuestionChangeSchema,
  TimelineEntrySchema,
  WebhookReceiptSchema,
];
