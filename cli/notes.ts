/**
 * `notes list --conversation ID|--person ID|--holon ID`, `notes update ID`, `notes delete ID` (rules/cli#admin-cli):
 * notes as described in rules/memberships#notes.
 */
import type { Command } from 'commander';
import type { ListConversationNotesReply, ListNotesOfPersonReply } from '../clients/typescript/operations.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';
import { parseId, parseLimit } from './parse-options.ts';

interface Owner {
  conversation?: number;
  person?: number;
  holon?: number;
}

interface Options extends Owner {
  limit: number;
  before?: number;
}

type Note = ListNotesOfPersonReply['body']['items'][number] | ListConversationNotesReply['body']['items'][number];

/** Notes per request, the most that the API returns. */
const notesPerPage = 200;

export function register(notes: Command, context: CliContext): void {
  notes
    .command('list')
    .description('Lists notes, newest first')
    .option('--conversation <id>', 'notes of this conversation', parseId)
    .option('--person <id>', 'notes of this person', parseId)
    .option('--holon <id>', 'notes of this holon', parseId)
    .option('--limit <count>', 'notes per page, at most 1000', parseLimit, 100)
    .option('--before <id>', 'notes older than this one', parseId)
    .action(async ({ limit, before, ...owner }: Options) => {
      const notes: Note[] = [];
      let isOlder = before === undefined;
      for await (const note of readNotes(context, owner)) {
        if (isOlder && notes.push(note) === limit) break;
        isOlder ||= note.id === before;
      }
      const last = notes.length < limit ? undefined : notes.at(-1);
      const more = last === undefined ? [] : [`More results may follow: --before ${last.id}`];
      context.print(notes, table(notes, columns, 'No notes.'), ...more);
    });

  notes
    .command('update')
    .description('Changes the text of your own note on a person or holon')
    .argument('<id>', 'note', parseId)
    .argument('<text>', 'the note')
    .action(async (id: number, body: string) => {
      const call = { path: { note_id: id }, body: { body } };
      const reply = (await context.http((api) => api.updateNote(call), `note ${id}`)).body;
      context.print(reply, `Changed note ${id}.`);
    });

  notes
    .command('delete')
    .description('Deletes your own note on a person or holon')
    .argument('<id>', 'note', parseId)
    .option('--yes', 'skip the confirmation')
    .action(async (id: number, { yes }: { yes?: true }) => {
      if (yes !== true) await confirm(`This deletes note ${id} and cannot be undone.`, String(id));
      await context.http((api) => api.deleteNote({ path: { note_id: id } }), `note ${id}`);
      context.print({ deleted: id }, `Deleted note ${id}.`);
    });
}

const columns = {
  ID: ({ id }: Note) => id,
  CREATED: ({ created_at: at }: Note) => moment(at),
  TYPE: ({ note_type: type }: Note) => type,
  AUTHOR: ({ author_person: author }: Note) => author?.name,
  NOTE: ({ body }: Note) => body,
};

/** Yields the notes of the owner, newest first. @throws CliError unless exactly one owner is given */
async function* readNotes(context: CliContext, { conversation, person, holon }: Owner): AsyncGenerator<Note> {
  if ([conversation, person, holon].filter((id) => id !== undefined).length !== 1)
    throw new CliError('Specify exactly one of --conversation, --person and --holon.', 'usage');
  if (conversation !== undefined) {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const query: { limit: number; cursor?: string } = { limit: notesPerPage, ...(cursor && { cursor }) };
      const call = { path: { conversation_id: conversation }, query };
      const { items, next }: ListConversationNotesReply['body'] = (
        await context.http((api) => api.listConversationNotes(call), `conversation ${conversation}`)
      ).body;
      yield* items;
      cursor = next;
    }
    return;
  }
  for (let offset = 0, count = 1; offset < count; offset += notesPerPage) {
    const query = { limit: notesPerPage, offset };
    const { body } = await (person === undefined
      ? context.http((api) => api.listNotesOfHolon({ path: { holon_id: holon ?? 0 }, query }), `holon ${holon}`)
      : context.http((api) => api.listNotesOfPerson({ path: { person_id: person }, query }), `person ${person}`));
    yield* body.items;
    count = body.count;
  }
}
