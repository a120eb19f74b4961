/** Operations on notes of the open API (rules/memberships#notes). */
import { byOperators, byUsers, job, nullable, rpc, Type } from '#libs/contract';
import {
  anyId,
  limitParameter,
  NoteItem,
  pageFields,
  countedOffsetParameter,
  rowId,
  v1Errors,
} from '../api-objects/contract.ts';

/** Default page size (rules/http#limits). */
export const notesPerPage = 50;

export const notesQuery = Type.Object({
  limit: limitParameter({ usual: notesPerPage, most: 200 }),
  offset: countedOffsetParameter,
});
const notes = Type.Object({
  count: pageFields.count,
  limit: pageFields.limit,
  items: Type.Array(NoteItem, { description: 'Newest first.' }),
});

export const noteRpcs = {
  listNotesOfPerson: rpc({
    subject: 'directory.people.list-notes',
    callers: byUsers,
    summary: 'Lists notes on a person and their memberships in visible holons (rules/memberships#notes).',
    request: Type.Object({ person_id: anyId('Id of the person.'), ...notesQuery.properties }),
    reply: notes,
    errors: v1Errors.notFound('The person does not exist.'),
  }),
  listNotesOfHolon: rpc({
    subject: 'directory.holons.list-notes',
    callers: byUsers,
    summary: 'Lists visible notes on a holon, its memberships and relationships (rules/memberships#notes).',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...notesQuery.properties }),
    reply: notes,
    errors: v1Errors.notFound('The holon does not exist, or the caller cannot see it.'),
  }),
  listNotes: rpc({
    subject: 'admin.directory.notes.list',
    callers: byOperators,
    summary: 'Lists notes of a person or holon, newest first; for the admin CLI.',
    request: Type.Object({
      person_id: Type.Optional(rowId),
      holon_id: Type.Optional(rowId),
      before: Type.Optional(rowId),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    }),
    reply: Type.Object({ items: Type.Array(NoteItem) }),
  }),
} as const;

export const noteJobs = {
  noteAdd: job({
    type: 'directory.note-add',
    startedBy: ['conversations'],
    summary: 'Adds a note of another service to people and holons, once per key; unknown ids are skipped.',
    payload: Type.Object({
      key: Type.String({ minLength: 1, maxLength: 500, description: 'Idempotency key.' }),
      person_ids: Type.Optional(Type.Array(rowId)),
      holon_ids: Type.Optional(Type.Array(rowId)),
      body: Type.String(),
      note_type: Type.String({ minLength: 1, maxLength: 64 }),
      author_person_id: nullable(rowId),
      created_at: Type.Optional(Type.String({ format: 'date-time' })),
    }),
  }),
} as const;
