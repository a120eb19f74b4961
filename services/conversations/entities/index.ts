import { BookingIdentifierSchema, BookingSchema, WebhookReceiptSchema } from './booking.entity.ts';
import {
  ConversationSchema,
  IdempotencyKeySchema,
  ImportKeySchema,
  NoteSchema,
  PipelineEntrySchema,
  QuestionChangeSchema,
} from './conversation.entity.ts';

/** Every table of the schema `conversations`, but those of the job library. */
export const entities = [
  BookingIdentifierSchema,
  BookingSchema,
  ConversationSchema,
  IdempotencyKeySchema,
  ImportKeySchema,
  NoteSchema,
  PipelineEntrySchema,
  QuestionChangeSchema,
  WebhookReceiptSchema,
];
