/** Notes of the open API (rules/memberships#notes). */
import { byUsers, rpc, Type } from '#libs/contract';
import { anyId, instant, limitParameter, nullable, pageFields, v1Errors } from '../fields.ts';
import { PersonPublic } from '../people/contract.ts';

/** Note item of rules/memberships#notes. `author_person` is null for notes written by the system. */
export const NoteItem = Type.Object(
  {
    id: Type.Integer(),
    body: Type.String(),
    note_type: Type.String({ description: 'Open list: note, system, booking, booking_error, …; through this API always `note`.' }),
    created_at: instant('When it was written.'),
    author_person: nullable(PersonPublic),
  },
  { $id: 'NoteItem', description: 'A note.' },
);

export const notesQuery = Type.Object({ limit: limitParameter({ usual: 50, most: 200 }) });
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
} as const;
