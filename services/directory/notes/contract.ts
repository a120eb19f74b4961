/** Operations on notes of the open API (rules/memberships#notes). */
import { byUsers, job, nullable, rpc, type Static, Type } from '#libs/infrastructure/contract';
import {
  anyId,
  ifMatch,
  limitParameter,
  maxNoteLength,
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

const noteFields = {
  body: Type.String({
    maxLength: maxNoteLength,
    description: 'Must not be blank. Leading and trailing whitespace is removed.',
  }),
};

export const NewPersonNote = Type.Object(
  {
    ...noteFields,
    holon_id: Type.Optional(
      nullable(Type.Integer({ description: 'A holon that the note also concerns; the note is listed for both.' })),
    ),
  },
  { $id: 'PersonNoteCreate' },
);
export type NewPersonNote = Static<typeof NewPersonNote>;
export const NewHolonNote = Type.Object(noteFields, { $id: 'HolonNoteCreate' });
export const NoteUpdate = Type.Object(noteFields, { $id: 'NoteUpdate' });

const noteReply = { note: NoteItem };
const invalidNote = 'The note is blank';
const changeErrors = {
  ...v1Errors.precondition,
  ...v1Errors.denied('The caller is neither the author nor a superuser, or the platform wrote the note.'),
  ...v1Errors.notFound('The note does not exist, or the caller cannot see one of its holons.'),
};

export const noteRpcs = {
  createPersonNote: rpc({
    subject: 'directory.people.create-note',
    callers: byUsers,
    idempotent: true,
    summary: 'Writes a note on a person, and on a holon if given (W4).',
    request: Type.Object({ person_id: anyId('Id of the person.'), ...NewPersonNote.properties }),
    reply: Type.Object(noteReply),
    errors: {
      ...v1Errors.validation(`${invalidNote}, or the holon does not exist.`),
      ...v1Errors.denied('The caller cannot edit the holon, or has no global edit access and gave no holon.'),
      ...v1Errors.notFound('The person does not exist.'),
    },
  }),
  createHolonNote: rpc({
    subject: 'directory.holons.create-note',
    callers: byUsers,
    idempotent: true,
    summary: 'Writes a note on a holon (W4).',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...NewHolonNote.properties }),
    reply: Type.Object(noteReply),
    errors: {
      ...v1Errors.validation(`${invalidNote}.`),
      ...v1Errors.denied('The caller cannot edit the holon.'),
      ...v1Errors.notFound('The holon does not exist, or the caller cannot see it.'),
    },
  }),
  updateNote: rpc({
    subject: 'directory.notes.update',
    callers: byUsers,
    idempotent: true,
    summary: 'Changes the text of a note (W4).',
    request: Type.Object({ note_id: anyId('Id of the note.'), ...NoteUpdate.properties, ...ifMatch }),
    reply: Type.Object({
      ...noteReply,
      changes: Type.Object(
        { body: Type.Optional(Type.Object({ old: Type.String(), new: Type.String() })) },
        { $id: 'NoteChanges', description: 'Changed fields only.' },
      ),
    }),
    errors: { ...v1Errors.validation(`${invalidNote}.`), ...changeErrors },
  }),
  deleteNote: rpc({
    subject: 'directory.notes.delete',
    callers: byUsers,
    summary: 'Deletes a note (W4).',
    request: Type.Object({ note_id: anyId('Id of the note.'), ...ifMatch }),
    reply: Type.Object({}),
    errors: changeErrors,
  }),
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
