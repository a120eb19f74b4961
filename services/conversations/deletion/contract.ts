/**
 * Contract of the deletion of conversations (D67), for services that store data of a conversation.
 */
import { event, withoutActor, rpc, Type } from '#libs/infrastructure/contract';
import { Id, Instant } from '../schemas.ts';

export const deletionReasons = ['booking_cancelled', 'bookings_joined', 'operator', 'account'] as const;
export type DeletionReason = (typeof deletionReasons)[number];

export const DeletedConversation = Type.Object(
  {
    id: Type.Integer(),
    title: Type.String(),
    deleted_at: Instant('When it was deleted.'),
    reason: Type.Enum([...deletionReasons], {
      description:
        'Its booking was cancelled, or was merged with the booking of another conversation, or an operator or an account deleted it.',
    }),
    by: Type.String({ description: 'Actor of the deletion, e.g. `account 7`, or `receipt 17`: `webhooks show 17`.' }),
    removed_from: Instant('When it is removed permanently.'),
  },
  { $id: 'DeletedConversation' },
);

export const deletionRpcs = {
  getState: rpc({
    subject: 'conversations.conversations.state',
    callers: { media: withoutActor },
    summary:
      'State of a conversation, for services that store data of it. `gone` = removed permanently or never existed.',
    request: Type.Object({ id: Id }),
    reply: Type.Object({ state: Type.Enum(['present', 'deleted', 'gone']) }),
  }),
  listStates: rpc({
    subject: 'conversations.conversations.list-states',
    callers: { media: withoutActor, transcripts: withoutActor },
    summary: 'States of many conversations, for services that may have missed events (D97).',
    request: Type.Object({ ids: Type.Array(Id, { minItems: 1, maxItems: 1_000 }) }),
    reply: Type.Object({
      items: Type.Array(Type.Object({ id: Type.Integer(), state: Type.Enum(['present', 'deleted', 'gone']) })),
    }),
  }),
  countUses: rpc({
    subject: 'conversations.conversations.count-uses',
    callers: { directory: withoutActor },
    summary: 'Counts conversations of a holon, journey or step, including deleted ones that can be restored (W14).',
    request: Type.Object({
      holon_id: Type.Optional(Id),
      journey_id: Type.Optional(Id),
      step_id: Type.Optional(Id),
    }),
    reply: Type.Object({ count: Type.Integer({ minimum: 0 }) }),
  }),
} as const;

export const deletionEvents = {
  deleted: event({
    subject: 'events.conversations.conversation.deleted',
    summary: 'A conversation was removed permanently. Published by the previous release only; services now get jobs.',
    payload: Type.Object({ id: Type.Integer() }),
  }),
} as const;
