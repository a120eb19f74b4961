/**
 * Feed events of conversations (rules/events#types; V1, V9). Events of other services about dependent data use the
 * conversation as their subject.
 */
import { feedEvent, noData, nullable, Type } from '#libs/infrastructure/contract';
import { deletionReasons } from '../deletion/contract.ts';
import { refusedOutcomes } from '../receipts/contract.ts';

const journey = {
  journey_id: nullable(Type.Integer({ description: 'Journey of the conversation.' })),
  journey: nullable(Type.String({ description: 'Slug of the journey.' })),
};
const subject = 'conversation';

export const conversationFeed = {
  created: feedEvent({
    type: 'conversation.created',
    subject,
    summary: 'A conversation was created.',
    data: Type.Object({ ...journey, event_id: nullable(Type.Integer({ description: 'Event that owns it.' })) }),
    example: { journey_id: 3, journey: 'open-circle', event_id: 7 },
  }),
  updated: feedEvent({
    type: 'conversation.updated',
    subject,
    summary: 'Bounds, participants, links, `infos` or `config` of a conversation changed.',
    data: noData,
    example: {},
  }),
  deleted: feedEvent({
    type: 'conversation.deleted',
    subject,
    summary: 'A conversation was deleted and is no longer visible.',
    data: Type.Object({ reason: Type.Enum([...deletionReasons, 'erasure'], { description: 'Why.' }) }),
    example: { reason: 'booking_cancelled' },
    isFinalEvent: true,
  }),
  restored: feedEvent({
    type: 'conversation.restored',
    subject,
    summary: 'A deleted conversation was restored and is visible again.',
    data: noData,
    example: {},
  }),
  stepEntered: feedEvent({
    type: 'conversation.step_entered',
    subject,
    summary: 'A conversation entered a step of its journey.',
    data: Type.Object({
      ...journey,
      step_id: Type.Integer({ description: 'The step.' }),
      step: Type.String({ description: 'Slug of the step.' }),
    }),
    example: { journey_id: 3, journey: 'open-circle', step_id: 12, step: 'held' },
  }),
  recorded: feedEvent({
    type: 'conversation.recorded',
    subject,
    summary: 'A conversation was recorded.',
    data: noData,
    example: {},
  }),
  roomUpdated: feedEvent({
    type: 'conversation.room_updated',
    subject,
    summary: 'The state of the room changed.',
    data: noData,
    example: {},
  }),
  questionChanged: feedEvent({
    type: 'question.changed',
    subject,
    summary: 'Another question of the journey is active.',
    data: Type.Object({ question_id: Type.Integer({ description: 'The question.' }) }),
    example: { question_id: 21 },
  }),
  audioUploaded: feedEvent({
    type: 'audio.uploaded',
    subject,
    summary: 'The audio of a conversation was uploaded or replaced.',
    data: noData,
    example: {},
  }),
  bookingApplied: feedEvent({
    type: 'booking.applied',
    subject,
    summary: 'A booking event created, changed or cancelled a conversation.',
    data: Type.Object({
      change: Type.Enum(['booked', 'cancelled'], { description: 'Whether the event cancelled the conversation.' }),
    }),
    example: { change: 'booked' },
  }),
  bookingRefused: feedEvent({
    type: 'booking.refused',
    subject: 'person',
    summary: "A booking event on a person's hook could not be applied.",
    data: Type.Object({
      reason: Type.Enum([...refusedOutcomes], { description: 'Reason, as in the webhook receipt.' }),
    }),
    example: { reason: 'journey_error' },
  }),
  summaryWritten: feedEvent({
    type: 'summary.written',
    subject,
    summary: 'The published title or summary of a conversation was written.',
    data: noData,
    example: {},
  }),
  videohostPublished: feedEvent({
    type: 'videohost.published',
    subject,
    summary: 'The recording of a conversation was published on the video host, or its record changed.',
    data: noData,
    example: {},
  }),
} as const;
