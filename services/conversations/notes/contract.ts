/** Contract of the notes of a conversation (rules/conversations#set-up; W8, W22). */
import { byUsers, nullable, rpc, Type } from '#libs/infrastructure/contract';
import { deniedErrors } from '../editing/contract.ts';
import { AnyId, Instant, PersonOut } from '../schemas.ts';

/** Maximum and default number of notes of a page. */
export const notesPerPage = 200;

export const ConversationNote = Type.Object(
  {
    id: Type.Integer(),
    body: Type.String(),
    note_type: Type.String({
      description:
        '`note`, `recorded`, `booking`, `step_change`, …; an open list. Notes written over the API are `note`.',
    }),
    created_at: Instant('When it was written.'),
    author_person: nullable(
      PersonOut,
      'The person who wrote it; null for the system and for accounts without a person.',
    ),
  },
  { $id: 'ConversationNote', description: 'A note of a conversation.' },
);

/** Body of POST /conversations/{id}/notes. */
export const NewNote = Type.Object({
  body: Type.String({
    maxLength: 100_000,
    description: 'Required. Leading and trailing whitespace is removed.',
  }),
});

export const notesQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: notesPerPage,
      default: notesPerPage,
      description: `Notes of a page, default and at most ${notesPerPage}.`,
    }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 20, description: '`next` of the previous page.' })),
};

export const noteRpcs = {
  listConversationNotes: rpc({
    subject: 'conversations.editing.list-notes',
    callers: byUsers,
    summary: 'Notes of a conversation, newest first (W8).',
    request: Type.Object({ conversation_id: AnyId, ...notesQuery }),
    reply: Type.Object({
      items: Type.Array(ConversationNote, { description: 'Newest first.' }),
      next: nullable(Type.String({ description: '`cursor` of the next page; null after the last one.' })),
    }),
    errors: { ...deniedErrors, bad_cursor: { code: 'bad_request', when: '`cursor` is not the `next` of a page.' } },
  }),
  createConversationNote: rpc({
    subject: 'conversations.editing.create-note',
    callers: byUsers,
    idempotent: true,
    summary: 'Adds a note to a conversation (W8).',
    request: Type.Object({ conversation_id: AnyId, ...NewNote.properties }),
    reply: Type.Object({ note: ConversationNote }),
    errors: { ...deniedErrors, validation_error: { code: 'bad_request', when: 'The body is blank.' } },
  }),
} as const;
