/**
 * `conversations list|deleted`, `conversations show|move|connect|disconnect|import-transcript|delete|restore ID`
 * (rules/cli#admin-cli; D6, D7a, D29, D67).
 */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { conversations } from '#services/conversations';
import type { CliContext } from './context.ts';
import { registerConversationCommands } from './conversation-commands.ts';
import { registerListCommands } from './conversation-list.ts';
import { CliError } from './failure.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';
import { parseId, parseLimit } from './parse-options.ts';

interface Options {
  step?: string;
  holon?: string;
}

export function register(group: Command, context: CliContext): void {
  const { adminMove, adminConnect, adminDisconnect, adminListDeleted, adminRestore } = conversations.rpcs;
  registerListCommands(group, context);
  registerConversationCommands(group, context);
  group
    .command('move')
    .description('Moves a conversation to a step of its journey, and adds a note with your name')
    .argument('<id>', 'conversation', parseId)
    .argument('[step]', 'slug of the step')
    .option('--step <slug>', 'slug of the step')
    .action(async (id: number, step: string | undefined, options: Options) => {
      const step_slug = requireSlug(step ?? options.step, 'step');
      const reply = await context.call(
        adminMove,
        { conversation_id: id, step_slug, operator: userInfo().username },
        `conversation ${id}`,
      );
      const where = reply.from === '' ? 'no step' : reply.from;
      context.print(
        reply,
        reply.changed ? `Conversation ${id}: ${where} → ${reply.to}` : `Conversation ${id} is already at ${reply.to}.`,
      );
    });

  for (const [name, rpc, done] of [
    ['connect', adminConnect, 'linked to'],
    ['disconnect', adminDisconnect, 'no longer linked to'],
  ] as const) {
    group
      .command(name)
      .description(
        name === 'connect' ? 'Links a conversation to a holon' : 'Removes the link between a conversation and a holon',
      )
      .argument('<id>', 'conversation', parseId)
      .argument('[holon]', 'slug of the holon')
      .option('--holon <slug>', 'slug of the holon')
      .action(async (id: number, holon: string | undefined, options: Options) => {
        const holon_slug = requireSlug(holon ?? options.holon, 'holon');
        const reply = await context.call(rpc, { conversation_id: id, holon_slug }, `conversation ${id}`);
        context.print(reply, `Conversation ${id} is ${done} ${holon_slug}${reply.changed ? '' : ' already'}.`);
      });
  }

  group
    .command('import-transcript')
    .description('Starts the transcript importer for a conversation')
    .argument('<id>', 'conversation', parseId)
    .action(async (id: number) => {
      const call = { path: { conversation_id: id }, body: {} };
      const reply = (await context.http((api) => api.importTranscript(call), `conversation ${id}`)).body;
      context.print(reply, `Conversation ${id}: job ${reply.job_id} imports the transcript.`);
    });

  group
    .command('delete')
    .description(
      'Deletes a conversation. It can be restored with `conversations restore` until it is permanently removed',
    )
    .argument('<id>', 'conversation', parseId)
    .action(async (id: number) => {
      const reply = await context.call(
        conversations.rpcs.adminDelete,
        { conversation_id: id, operator: userInfo().username },
        `conversation ${id}`,
      );
      context.print(
        reply,
        `Conversation ${id} is deleted; \`conversations restore ${id}\` restores it until ${reply.removed_from}.`,
      );
    });

  group
    .command('deleted')
    .description('Lists deleted conversations that can be restored, newest deletion first')
    .option('--limit <count>', 'maximum number of results, at most 1000', parseLimit, 100)
    .action(async ({ limit }: { limit: number }) => {
      const { items } = await context.call(adminListDeleted, { limit });
      context.print(items, table(items, deletedColumns, 'No deleted conversations.'));
    });

  group
    .command('restore')
    .description('Restores a deleted conversation with all its data, and adds a note with your name')
    .argument('<id>', 'conversation', parseId)
    .action(async (id: number) => {
      const reply = await context.call(
        adminRestore,
        { conversation_id: id, operator: userInfo().username },
        `conversation ${id}`,
      );
      context.print(reply, `Conversation ${id} is restored.${describeBooking(reply.has_booking)}`);
    });
}

type Deleted = ReplyOf<typeof conversations.rpcs.adminListDeleted>['items'][number];

const deletedColumns = {
  ID: ({ id }: Deleted) => id,
  DELETED: ({ deleted_at: at }: Deleted) => moment(at),
  'RESTORABLE UNTIL': ({ removed_from: end }: Deleted) => moment(end),
  REASON: ({ reason }: Deleted) => reason,
  BY: ({ by }: Deleted) => by,
  TITLE: ({ title }: Deleted) => title,
};

function describeBooking(hasBooking: boolean | null): string {
  if (hasBooking === null) return '';
  return hasBooking ? ' Its booking is active again.' : ' Its booking now belongs to another conversation.';
}

function requireSlug(slug: string | undefined, what: string): string {
  if (slug === undefined || slug === '') throw new CliError(`Specify the ${what}.`, 'usage');
  return slug;
}
