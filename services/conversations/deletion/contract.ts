/** Contract: deletion of conversations (D67), for the admin CLI and for services that store data of a conversation. */
import { byOperators, event, withoutActor, rpc, Type } from '#libs/contract';
import { Id, Instant } from '../schemas.ts';

export const deletionReasons = ['booking_cancelled', 'bookings_joined', 'operator'] as const;
export type DeletionReason = (typeof deletionReasons)[number];

export const DeletedConversation = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  deleted_at: Instant('When it was deleted.'),
  reason: Type.Enum([...deletionReasons], {
    description:
      'Its booking was cancelled, or turned out to be the same as that of another conversation, which took over what it held; or an operator deleted it.',
  }),
  by: Type.String({ description: 'What deleted it, e.g. `receipt 17`: `webhooks show 17`.' }),
  removed_from: Instant('From when on it is removed for good.'),
});

export const deletionRpcs = {
  adminDelete: rpc({
    subject: 'admin.conversations.conversations.delete',
    callers: byOperators,
    audit: 'conversation.delete',
    summary: 'Deletes a conversation so that it can be restored until it is removed for good (D67). 404 when absent.',
    request: Type.Object({ conversation_id: Type.Integer(), operator: Type.String({ minLength: 1, maxLength: 200 }) }),
    reply: Type.Object({
      conversation_id: Type.Integer(),
      removed_from: Type.String({ format: 'date-time', description: 'From when on it is removed for good.' }),
    }),
    errors: { conversation_deleted: { code: 'conflict', when: 'It is deleted already.' } },
  }),
  adminListDeleted: rpc({
    subject: 'admin.conversations.conversations.list-deleted',
    callers: byOperators,
    summary: 'Conversations that are deleted and can be restored, latest first.',
    request: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Default 100.' })) }),
    reply: Type.Object({ items: Type.Array(DeletedConversation) }),
  }),
  adminRestore: rpc({
    subject: 'admin.conversations.conversations.restore',
    callers: byOperators,
    audit: 'conversation.restore',
    summary: 'Brings a deleted conversation back with all that belongs to it; noted with the operator. 404 when it is not there any more.',
    request: Type.Object({ conversation_id: Type.Integer(), operator: Type.String({ minLength: 1 }) }),
    reply: Type.Object({
      conversation_id: Type.Integer(),
      has_booking: Type.Union([Type.Boolean(), Type.Null()], {
        description: 'True: its booking counts as booked again. False: the booking has another conversation by now. Null: it had none.',
      }),
    }),
    errors: { conversation_not_deleted: { code: 'conflict', when: 'The conversation is not deleted.' } },
  }),
  getState: rpc({
    subject: 'conversations.conversations.state',
    callers: { media: withoutActor },
    summary: 'Whether a conversation is there, deleted but restorable, or gone for good; for whoever keeps something of it.',
    request: Type.Object({ id: Id }),
    reply: Type.Object({ state: Type.Enum(['present', 'deleted', 'gone']) }),
  }),
  listStates: rpc({
    subject: 'conversations.conversations.list-states',
    callers: { media: withoutActor, transcripts: withoutActor },
    summary: 'The same of many conversations, for services that may have missed events (D97).',
    request: Type.Object({ ids: Type.Array(Id, { minItems: 1, maxItems: 1_000 }) }),
    reply: Type.Object({ items: Type.Array(Type.Object({ id: Type.Integer(), state: Type.Enum(['present', 'deleted', 'gone']) })) }),
  }),
} as const;

export const deletionEvents = {
  deleted: event({
    subject: 'events.conversations.conversation.deleted',
    summary: 'A conversation is gone for good. Published by the previous release alone: the services concerned get jobs.',
    payload: Type.Object({ id: Type.Integer() }),
  }),
} as const;
