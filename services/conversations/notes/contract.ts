/** Contract: notes of a conversation. */
import { byOperators, nullable, rpc, Type } from '#libs/contract';
import { Id, Instant, JsonDocument } from '../schemas.ts';

/** Note item (rules/memberships#notes): the author is null for notes of the system. */
export const Note = Type.Object({
  id: Type.Integer(),
  body: Type.String(),
  note_type: Type.String({ description: '`recorded`, `booking`, `booking_error`, `audio`, `step_change`, …; an open list.' }),
  created_at: Instant('When it was written.'),
  author_person: nullable(JsonDocument('The person who wrote it; null for the system.')),
});

export const notesRpcs = {
  listNotes: rpc({
    subject: 'admin.conversations.notes.list',
    callers: byOperators,
    summary: 'Notes of a conversation, newest first. 404 when absent.',
    request: Type.Object({
      conversation_id: Type.Integer(),
      before: Type.Optional(Id),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Default 1000.' })),
    }),
    reply: Type.Object({ items: Type.Array(Note) }),
  }),
} as const;
