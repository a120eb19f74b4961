/**
 * `conversations list|deleted`, `conversations show|move|connect|disconnect|import-transcript|delete|restore ID`
 * (rules/cli#admin-cli; D6, D7a, D29, D67).
 */
import type { Command } from 'commander';
import { AppError, appError } from '#libs/infrastructure/errors';
import type { ListDeletedConversationsReply, UpdateConversationRequest } from '../clients/typescript/operations.ts';
import { withPages } from './common-options.ts';
import type { CliContext } from './context.ts';
import { registerConversationCommands } from './conversation-commands.ts';
import { readDetails, registerListCommands } from './conversation-list.ts';
import { CliError } from './failure.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';
import { describeNext, readPages } from './pages.ts';
import { parseId } from './parse-options.ts';

/** Attempts of a change while others change the conversation. */
const maxAttempts = 5;

interface Options {
  step?: string;
  holon?: string;
}

export function register(group: Command, context: CliContext): void {
  registerListCommands(group, context);
  registerConversationCommands(group, context);
  group
    .command('move')
    .description('Moves a conversation to a step of its journey, and adds a note')
    .argument('<id>', 'conversation', parseId)
    .argument('[step]', 'slug of the step')
    .option('--step <slug>', 'slug of the step')
    .action(async (id: number, step: string | undefined, options: Options) => {
      const step_slug = requireSlug(step ?? options.step, 'step');
      const from = (await read(context, id)).step_slug;
      const changed = from !== step_slug;
      if (changed) await update(context, id, { step_slug });
      const reply = { conversation_id: id, from, to: step_slug, changed };
      const where = reply.from === '' ? 'no step' : reply.from;
      context.print(
        reply,
        reply.changed ? `Conversation ${id}: ${where} → ${reply.to}` : `Conversation ${id} is already at ${reply.to}.`,
      );
    });

  for (const [name, done] of [
    ['connect', 'linked to'],
    ['disconnect', 'no longer linked to'],
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
        const changed = await link(context, id, holon_slug, name === 'connect');
        const reply = { conversation_id: id, changed };
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
      await remove(context, id);
      const { deleted } = await readDetails(context, id);
      const reply = { conversation_id: id, removed_from: deleted?.removed_from ?? null };
      context.print(
        reply,
        `Conversation ${id} is deleted; \`conversations restore ${id}\` restores it until ${reply.removed_from}.`,
      );
    });

  withPages(group.command('deleted'), 'conversations')
    .description('Lists deleted conversations that can be restored, newest deletion first')
    .action(async (start: { limit: number; cursor?: string }) => {
      const { items, next } = await readPages(start, async (query) => {
        return (await context.http((api) => api.listDeletedConversations({ query }))).body;
      });
      context.print(items, table(items, deletedColumns, 'No deleted conversations.'), ...describeNext({ next }));
    });

  group
    .command('restore')
    .description('Restores a deleted conversation with all its data, and adds a note')
    .argument('<id>', 'conversation', parseId)
    .action(async (id: number) => {
      const before = await readDetails(context, id);
      await restore(context, id);
      const { booking } = await readDetails(context, id);
      const hasBooking = before.booking === null ? null : booking !== null && !booking.cancelled;
      const reply = { conversation_id: id, has_booking: hasBooking };
      context.print(reply, `Conversation ${id} is restored.${describeBooking(reply.has_booking)}`);
    });
}

const read = async (context: CliContext, id: number) =>
  (await context.http((api) => api.getConversation({ path: { conversation_id: id } }), `conversation ${id}`)).body;

/** @throws AppError `step_not_found` and `holon_not_found` for an unknown slug, else of the API */
async function update(
  context: CliContext,
  id: number,
  body: UpdateConversationRequest['body'],
  ifMatch?: string,
): Promise<void> {
  const headers = ifMatch === undefined ? {} : { 'If-Match': ifMatch };
  const call = { path: { conversation_id: id }, headers, body };
  try {
    await context.http((api) => api.updateConversation(call), `conversation ${id}`);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'bad_request') throw error;
    const reason = body.step_slug === undefined ? 'holon_not_found' : 'step_not_found';
    throw appError('not_found', reason, error.message);
  }
}

/** Links a conversation to a holon, or removes the link. @returns whether anything changed */
async function link(context: CliContext, id: number, slug: string, isLinked: boolean): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    const path = { conversation_id: id };
    const { body, headers } = await context.http((api) => api.getConversation({ path }), `conversation ${id}`);
    const slugs = body.connected.map((holon) => holon.slug);
    if (slugs.includes(slug) === isLinked) return false;
    const connected = isLinked ? [...slugs, slug] : slugs.filter((other) => other !== slug);
    try {
      await update(context, id, { connected_slugs: connected }, headers.get('etag') ?? undefined);
      return true;
    } catch (error) {
      const isStale = error instanceof AppError && error.code === 'precondition_failed';
      if (!isStale || attempt === maxAttempts) throw error;
    }
  }
}

/** @throws AppError `conversation_deleted` when the conversation is already deleted */
async function remove(context: CliContext, id: number): Promise<void> {
  const call = { path: { conversation_id: id } };
  try {
    await context.http((api) => api.deleteConversation(call), `conversation ${id}`);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    if ((await readDetails(context, id)).deleted === null) throw error;
    throw appError('conflict', 'conversation_deleted', `Conversation ${id} is already deleted.`);
  }
}

/** @throws AppError `conversation_not_deleted` */
async function restore(context: CliContext, id: number): Promise<void> {
  const call = { path: { conversation_id: id } };
  try {
    await context.http((api) => api.restoreConversation(call), `conversation ${id}`);
  } catch (error) {
    if (!(error instanceof AppError) || error.reason !== 'not_deleted') throw error;
    throw appError('conflict', 'conversation_not_deleted', error.message);
  }
}

type Deleted = ListDeletedConversationsReply['body']['items'][number];

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
