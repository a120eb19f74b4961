/**
 * `notes list --conversation ID|--person ID|--holon ID`, `notes update ID`, `notes delete ID` (rules/cli#admin-cli):
 * notes as described in rules/memberships#notes.
 */
import type { Command } from 'commander';
import { withConfirmation, withPages } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { findCursor, listNotes, type Note, type NoteOwner } from './note-pages.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';
import { describeNext } from './pages.ts';
import { hiddenOption, parseId } from './parse-options.ts';

interface Options extends NoteOwner {
  limit: number;
  cursor?: string;
  /** Of an earlier release: notes older than this one. */
  before?: number;
}

export function register(notes: Command, context: CliContext): void {
  withPages(notes.command('list'), 'notes')
    .description('Lists notes, newest first')
    .option('--conversation <id>', 'notes of this conversation', parseId)
    .option('--person <id>', 'notes of this person', parseId)
    .option('--holon <id>', 'notes of this holon', parseId)
    .addOption(hiddenOption('--before <id>').argParser(parseId))
    .action(async ({ limit, before, cursor, ...owner }: Options) => {
      const start = before === undefined ? cursor : await findCursor(context, owner, before);
      const page = await listNotes(context, owner, { limit, cursor: start });
      context.print(page.items, table(page.items, columns, 'No notes.'), ...describeNext(page));
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

  withConfirmation(notes.command('delete'))
    .description('Deletes your own note on a person or holon')
    .argument('<id>', 'note', parseId)
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
