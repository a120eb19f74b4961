/**
 * `notes list --conversation ID|--person ID|--holon ID` (rules/cli#admin-cli): lists notes as described in
 * rules/memberships#notes.
 */
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';
import { parseId, parseLimit } from './parse-options.ts';

interface Options {
  limit: number;
  before?: number;
  conversation?: number;
  person?: number;
  holon?: number;
}

type Note =
  | ReplyOf<typeof directory.rpcs.listNotes>['items'][number]
  | ReplyOf<typeof conversations.rpcs.listNotes>['items'][number];

export function register(notes: Command, context: CliContext): void {
  notes
    .command('list')
    .description('Lists notes, newest first')
    .option('--conversation <id>', 'notes of this conversation', parseId)
    .option('--person <id>', 'notes of this person', parseId)
    .option('--holon <id>', 'notes of this holon', parseId)
    .option('--limit <count>', 'notes per page, at most 1000', parseLimit, 100)
    .option('--before <id>', 'notes older than this one', parseId)
    .action(async (options: Options) => {
      const notes = await listNotes(context, options);
      const last = notes.length < options.limit ? undefined : notes.at(-1);
      const more = last === undefined ? [] : [`More results may follow: --before ${last.id}`];
      context.print(notes, table(notes, columns, 'No notes.'), ...more);
    });
}

const columns = {
  ID: ({ id }: Note) => id,
  CREATED: ({ created_at: at }: Note) => moment(at),
  TYPE: ({ note_type: type }: Note) => type,
  AUTHOR: ({ author_person: author }: Note) => (author !== null && 'name' in author ? author.name : null),
  NOTE: ({ body }: Note) => body,
};

async function listNotes(
  context: CliContext,
  { conversation, person, holon, limit, before }: Options,
): Promise<readonly Note[]> {
  const given = [conversation, person, holon].filter((id) => id !== undefined);
  if (given.length !== 1) throw new CliError('Specify exactly one of --conversation, --person and --holon.', 'usage');
  const page = { limit, ...(before === undefined ? {} : { before }) };
  if (conversation !== undefined)
    return (
      await context.call(
        conversations.rpcs.listNotes,
        { conversation_id: conversation, ...page },
        `conversation ${conversation}`,
      )
    ).items;
  const request = { ...page, ...(person === undefined ? { holon_id: holon ?? 0 } : { person_id: person }) };
  const subject = person === undefined ? `holon ${holon}` : `person ${person}`;
  return (await context.call(directory.rpcs.listNotes, request, subject)).items;
}
