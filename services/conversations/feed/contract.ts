/** Feed events of conversations (rules/events#types; V1, V9). Events of other services about dependent data use the conversation as their subject. */
import { feedEvent, noData, nullable, Type } from '#libs/contract';
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
    summary: 'A conversation exists.',
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
    summary: 'A conversation is deleted: nothing else of it shows.',
    data: Type.Object({ reason: Type.Enum([...deletionReasons, 'erasure'], { description: 'Why.' }) }),
    example: { reason: 'booking_cancelled' },
    isFinalEvent: true,
  }),
  stepEntered: feedEvent({
    type: 'conversation.step_entered',
    subject,
    summary: 'A conversation has come to a step of its journey.',
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
    summary: 'The recording of a conversation is done.',
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
    summary: 'Another question of the journey is spoken about.',
    data: Type.Object({ question_id: Type.Integer({ description: 'The question.' }) }),
    example: { question_id: 21 },
  }),
  audioUploaded: feedEvent({
    type: 'audio.uploaded',
    subject,
    summary: 'A conversation has other audio.',
    data: noData,
    example: {},
  }),
  bookingApplied: feedEvent({
    type: 'booking.applied',
    subject,
    summary: 'An event of the booking provider has made, changed or cancelled a conversation.',
    data: Type.Object({ change: Type.Enum(['booked', 'cancelled'], { description: 'Whether it is cancelled by it.' }) }),
    example: { change: 'booked' },
  }),
  bookingRefused: feedEvent({
    type: 'booking.refused',
    subject: 'person',
    summary: 'An event on the hook of a person could not become a conversation.',
    data: Type.Object({
      reason: Type.Enum([...refusedOutcomes], { description: 'Why, as in the receipt of the webhook.' }),
    }),
    example: { reason: 'journey_error' },
  }),
  summaryWritten: feedEvent({
    type: 'summary.written',
    subject,
    summary: 'The published texts of a conversation were written: its title or its summary.',
    data: noData,
    example: {},
  }),
  videohostPublished: feedEvent({
    type: 'videohost.published',
    subject,
    summary: 'The recording of a conversation is on the video host, or its record there changed.',
    data: noData,
    example: {},
  }),
} as const;
