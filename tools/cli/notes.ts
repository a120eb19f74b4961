/** `notes list --conversation ID|--person ID|--holon ID` (architecture §7): Note items of spec 02. */
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';
import { parseId } from './parse-id.ts';

interface Options {
  conversation?: number;
  person?: number;
  holon?: number;
}

type Note = ReplyOf<typeof directory.rpcs.listNotes>['items'][number] | ReplyOf<typeof conversations.rpcs.listNotes>['items'][number];

export function register(program: Command, context: CliContext): void {
  program
    .command('notes')
    .description('Notes of conversations, people and holons')
    .command('list')
    .description('Lists notes, newest first')
    .option('--conversation <id>', 'notes of this conversation', parseId)
    .option('--person <id>', 'notes of this person', parseId)
    .option('--holon <id>', 'notes of this holon', parseId)
    .action(async (options: Options) => {
      const notes = await listNotes(context, options);
      context.print(notes, table(notes, columns, 'There are no notes.'));
    });
}

const columns = {
  CREATED: ({ created_at: at }: Note) => moment(at),
  TYPE: ({ note_type: type }: Note) => type,
  AUTHOR: ({ author_person: author }: Note) => (author !== null && 'name' in author ? author.name : null),
  NOTE: ({ body }: Note) => body,
};

async function listNotes(context: CliContext, { conversation, person, holon }: Options): Promise<readonly Note[]> {
  const given = [conversation, person, holon].filter((id) => id !== undefined);
  if (given.length !== 1) throw new CliError('Name exactly one of --conversation, --person and --holon.', 'usage');
  if (conversation !== undefined)
    return (await context.call(conversations.rpcs.listNotes, { conversation_id: conversation }, `conversation ${conversation}`)).items;
  const request = person === undefined ? { holon_id: holon ?? 0 } : { person_id: person };
  const subject = person === undefined ? `holon ${holon}` : `person ${person}`;
  return (await context.call(directory.rpcs.listNotes, request, subject)).items;
}
