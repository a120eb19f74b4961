/** `notes list --conversation ID|--person ID|--holon ID` (architecture §7): Note items of spec 02. */
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { CliError, type CliContext } from './context.ts';
import { parseId } from './parse-id.ts';

interface Options {
  conversation?: number;
  person?: number;
  holon?: number;
  json?: true;
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
    .option('--json', 'print a list of JSON objects')
    .action(async (options: Options) => {
      const notes = await listNotes(context, options);
      if (options.json === true) context.printJson(notes);
      else for (const note of notes) context.printLine(`${note.created_at}  ${note.note_type}  ${authorOf(note)}  ${note.body}`);
    });
}

async function listNotes(context: CliContext, { conversation, person, holon }: Options): Promise<readonly Note[]> {
  const given = [conversation, person, holon].filter((id) => id !== undefined);
  if (given.length !== 1) throw new CliError('Name exactly one of --conversation, --person and --holon.', 2);
  if (conversation !== undefined) return (await context.call(conversations.rpcs.listNotes, { conversation_id: conversation })).items;
  const request = person === undefined ? { holon_id: holon ?? 0 } : { person_id: person };
  return (await context.call(directory.rpcs.listNotes, request)).items;
}

function authorOf({ author_person: author }: Note): string {
  return author !== null && 'name' in author ? author.name : '–';
}
