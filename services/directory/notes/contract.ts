/** Notes of the open API (rules/memberships#notes). */
import { byOperators, byUsers, job, nullable, rpc, Type } from '#libs/contract';
import { anyId, limitParameter, NoteItem, pageFields, placeParameter, rowId, v1Errors } from '../api-objects/contract.ts';

/** Items of a page when the caller does not say (rules/http#limits). */
export const notesPerPage = 50;

export const notesQuery = Type.Object({ limit: limitParameter({ usual: notesPerPage, most: 200 }), offset: placeParameter });
const notes = Type.Object({
  count: pageFields.count,
  limit: pageFields.limit,
  items: Type.Array(NoteItem, { description: 'Newest first.' }),
});

/** To be spread into the contract of the directory. */
export const noteRpcs = {
  listNotesOfPerson: rpc({
    subject: 'directory.people.list-notes',
    callers: byUsers,
    summary: 'Notes on a person and on their memberships, as far as the caller may see the holons (rules/memberships#notes).',
    request: Type.Object({ person_id: anyId('Id of the person.'), ...notesQuery.properties }),
    reply: notes,
    errors: v1Errors.notFound('No person has the id.'),
  }),
  listNotesOfHolon: rpc({
    subject: 'directory.holons.list-notes',
    callers: byUsers,
    summary: 'Notes on a holon, its memberships and its relationships, as far as the caller may see them (rules/memberships#notes).',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...notesQuery.properties }),
    reply: notes,
    errors: v1Errors.notFound('No holon has the id, or the caller may not see it.'),
  }),
  listNotes: rpc({
    subject: 'admin.directory.notes.list',
    callers: byOperators,
    summary: 'Notes of a person or a holon, newest first; for the admin CLI.',
    request: Type.Object({
      person_id: Type.Optional(rowId),
      holon_id: Type.Optional(rowId),
      before: Type.Optional(rowId),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    }),
    reply: Type.Object({ items: Type.Array(NoteItem) }),
  }),
} as const;

/** To be spread into the contract of the directory. */
export const noteJobs = {
  noteAdd: job({
    type: 'directory.note-add',
    startedBy: ['conversations'],
    summary: 'Adds a note of another service to people and holons, once for each key; ids that do not exist are skipped.',
    payload: Type.Object({
      key: Type.String({ minLength: 1, maxLength: 500, description: 'The same key adds the note once.' }),
      person_ids: Type.Optional(Type.Array(rowId)),
      holon_ids: Type.Optional(Type.Array(rowId)),
      body: Type.String(),
      note_type: Type.String({ minLength: 1, maxLength: 64 }),
      author_person_id: nullable(rowId),
      created_at: Type.Optional(Type.String({ format: 'date-time' })),
    }),
  }),
} as const;
