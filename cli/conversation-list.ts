/** `conversations list` and `conversations show ID`: lists conversations, and shows one with all stored data. */
import type { Command } from 'commander';
import { encodeCursor } from '#libs/infrastructure/cursor';
import type { GetConversationDetailsReply, ListAllConversationsReply } from '../clients/typescript/operations.ts';
import { withFormerName, withPages, withTimes } from './common-options.ts';
import type { CliContext } from './context.ts';
import { moment, toned } from './output/cell.ts';
import { fields, table } from './output/table.ts';
import { describeNext, readPages } from './pages.ts';
import { findPersonId } from './person-data/person.ts';
import { parseId } from './parse-options.ts';

type Listed = ListAllConversationsReply['body']['items'][number];
type Details = GetConversationDetailsReply['body'];

interface ListOptions {
  journey?: string;
  event?: string;
  person?: string;
  since?: string;
  until?: string;
  cursor?: string;
  limit: number;
}

export function registerListCommands(group: Command, context: CliContext): void {
  const list = withPages(group.command('list'), 'conversations')
    .description('Lists conversations, newest first, without deleted ones')
    .option('--journey <slug>', 'only conversations on this journey')
    .option('--event <slug>', 'only conversations of this conversation event')
    .option('--person <person>', 'only conversations of this participant: id, key, email, phone number or name');
  withFormerName(withTimes(list, 'only conversations that start'), '--before <id>', '--cursor', (id) =>
    encodeCursor(['conversations', parseId(id)]),
  ).action(async ({ journey, event, person: identifier, since, until, ...pages }: ListOptions) => {
    const filter = {
      ...(journey === undefined ? {} : { journey_slug: journey }),
      ...(event === undefined ? {} : { event_slug: event }),
      ...(identifier === undefined ? {} : { person_id: await findPersonId(context, identifier) }),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    };
    const listed = await readPages(pages, async (page) => {
      const { body } = await context.http((api) => api.listAllConversations({ query: { ...filter, ...page } }));
      return body;
    });
    context.print(listed.items, table(listed.items, columns, 'No conversations found.'), ...describeNext(listed));
  });

  group
    .command('show')
    .description('Shows a conversation, also a deleted one; with --json all stored data')
    .argument('<id>', 'conversation', parseId)
    .action(async (id: number) => {
      const details = await readDetails(context, id);
      context.print(details, fields(fieldsOf(details)));
    });
}

/** Returns a conversation with all its data, also a deleted one. @throws AppError not_found */
export async function readDetails(context: CliContext, id: number): Promise<Details> {
  return (await context.http((api) => api.getConversationDetails({ path: { id } }), `conversation ${id}`)).body;
}

const namesOf = ({ participants }: Listed): string => participants.map(({ name }) => name).join(', ');

const columns = {
  ID: ({ id }: Listed) => id,
  START: ({ start }: Listed) => moment(start),
  JOURNEY: ({ journey }: Listed) => journey,
  STEP: ({ step }: Listed) => step,
  TITLE: ({ title }: Listed) => title,
  PARTICIPANTS: namesOf,
};

function fieldsOf(details: Details) {
  const { deleted, booking } = details;
  return {
    id: details.id,
    title: details.title,
    state: deleted === null ? null : toned(`deleted: ${deleted.reason.replaceAll('_', ' ')} (${deleted.by})`, 'bad'),
    deleted: deleted === null ? null : moment(deleted.deleted_at),
    'restorable until': deleted === null ? null : moment(deleted.removed_from),
    journey: details.journey,
    step: details.step,
    event: details.event,
    start: moment(details.start),
    finish: moment(details.finish),
    participants: details.participants.map(({ id, name }) => `${name} (${id})`).join(', ') || null,
    connected: details.connected.map(({ slug }) => slug).join(', ') || null,
    booking: booking === null ? null : `${booking.id}${booking.cancelled ? ' (cancelled)' : ''}`,
    'workspace file key': details.import_key,
    audio: details.audio_blob_id === null ? null : `blob ${details.audio_blob_id}`,
    notes: details.notes,
    infos: sizeOf(details.infos),
    config: sizeOf(details.config),
    room: details.room === null ? null : sizeOf(details.room),
    created: moment(details.created_at),
    updated: moment(details.updated_at),
  };
}

/** Returns only the property names; --json prints the values. */
function sizeOf(value: unknown): string | null {
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return names.length === 0 ? null : names.join(', ');
}
