/** Timeline of a conversation (W9, W23). Every service with facts about conversations answers one request with its items. */
import type { Static } from 'typebox';
import { byGateway, byUsers, type Callers } from './callers.ts';
import { rpc } from './declarations.ts';
import { nullable, rowId, Type } from './type.ts';

export const timelineKinds = [
  'conversation.created',
  'conversation.updated',
  'conversation.deleted',
  'conversation.restored',
  'booking.applied',
  'booking.refused',
  'room.opened',
  'window.started',
  'window.ended',
  'step.entered',
  'recorded',
  'question.shown',
  'audio.uploaded',
  'video.available',
  'transcript.imported',
  'transcript.refused',
  'transcript.corrected',
  'summary.written',
  'published',
  'job.failed',
  'note.created',
  'consent.given',
  'consent.withdrawn',
  'highlight.published',
  'highlight.unpublished',
] as const;

const facts = {
  at: Type.String({ format: 'date-time', description: 'When it happened.' }),
  kind: Type.Enum([...timelineKinds], { description: 'What happened; more kinds can be added.' }),
  title: Type.String({ description: 'One line in English.' }),
  detail: nullable(
    Type.Object(
      {},
      { additionalProperties: true, description: 'Ids, counts and reasons, by kind; never texts of people.' },
    ),
  ),
  link: nullable(
    Type.Object(
      {
        type: Type.String({ description: '`note`, `question`, `step`, `webhook_receipt`, `job` or `file`.' }),
        id: Type.Union([Type.Integer(), Type.String()]),
      },
      { $id: 'TimelineLink', description: 'The object that it is about.' },
    ),
  ),
};

export const TimelineItem = Type.Object(
  {
    at: facts.at,
    kind: facts.kind,
    title: facts.title,
    actor: nullable(
      Type.Object(
        {
          kind: Type.Enum(['account', 'key', 'cli', 'shared', 'person'], { description: 'Kind of the actor.' }),
          name: nullable(Type.String({ description: 'Name of the person; null without a person.' })),
        },
        { $id: 'TimelineActor', description: 'Who did it; null for the platform.' },
      ),
    ),
    detail: facts.detail,
    link: facts.link,
  },
  { $id: 'TimelineItem', description: 'Something that happened to a conversation.' },
);
export type TimelineItem = Static<typeof TimelineItem>;

/** An item as its owner reports it. The gateway adds the name of an account's person. */
const TimelineFact = Type.Object({
  ...facts,
  actor: nullable(
    Type.Object({
      kind: Type.Enum(['account', 'key', 'cli', 'shared', 'person']),
      name: nullable(Type.String()),
      account_id: nullable(Type.Integer()),
    }),
  ),
});
export type TimelineFact = Static<typeof TimelineFact>;

/**
 * The operation of a service. Only the owner of conversations checks the caller's access; the gateway asks it first, and
 * the other services without an actor.
 */
export const timelineRpcs = (
  service: string,
  callers: Callers = service === 'conversations' ? byUsers : byGateway,
) => ({
  readTimeline: rpc({
    subject: `${service}.timeline.read`,
    callers,
    summary: 'What this service knows of the history of a conversation, oldest first (W9). Unknown ones have no items.',
    request: Type.Object({ conversation_id: service === 'conversations' ? Type.Integer() : rowId }),
    reply: Type.Object({ items: Type.Array(TimelineFact) }),
  }),
});
