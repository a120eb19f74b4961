/** `conversations create|update|timeline|notes|note` over HTTP (W8). */
import type { Command } from 'commander';
import type {
  CreateConversationReply,
  CreateConversationRequest,
  GetConversationTimelineReply,
  UpdateConversationRequest,
} from '../clients/typescript/operations.ts';
import { withPages } from './common-options.ts';
import type { CliContext } from './context.ts';
import { listNotes, type Note } from './note-pages.ts';
import { moment } from './output/cell.ts';
import { fields, table, type View } from './output/table.ts';
import { describeNext } from './pages.ts';
import { parseId, parseTime } from './parse-options.ts';
import { fileOption, readBody } from './write-options.ts';

type Conversation = CreateConversationReply['body'];

type Entry = GetConversationTimelineReply['body']['items'][number];

interface WriteOptions {
  readonly from?: string;
  readonly journey?: string;
  readonly event?: string;
  readonly step?: string;
  readonly start?: string;
  readonly finish?: string;
  readonly participant?: string[];
  readonly connected?: string[];
}

const noteColumns = {
  CREATED: ({ created_at: at }: Note) => moment(at),
  TYPE: ({ note_type: type }: Note) => type,
  NOTE: ({ body }: Note) => body,
};

const entryColumns = {
  AT: ({ at }: Entry) => moment(at),
  KIND: ({ kind }: Entry) => kind,
  BY: ({ actor }: Entry) => actor?.name ?? actor?.kind,
  WHAT: ({ title, detail }: Entry) => (detail === null ? title : `${title} ${JSON.stringify(detail)}`),
};

export function registerConversationCommands(group: Command, context: CliContext): void {
  const withOptions = (command: Command): Command =>
    command
      .option('--event <slug>', 'conversation event that owns it')
      .option('--step <slug>', 'step to enter')
      .option('--start <time>', 'a date or an instant', (text) => parseTime(text))
      .option('--finish <time>', 'a date or an instant', (text) => parseTime(text))
      .option('--participant <id...>', 'ids of all participants')
      .option('--connected <slug...>', 'slugs of all linked holons')
      .option(...fileOption);

  withOptions(group.command('create'))
    .description('Creates a conversation')
    .option('--journey <slug>', 'journey of the conversation')
    .action(async ({ from, ...options }: WriteOptions) => {
      const body = await readBody<CreateConversationRequest['body']>(from, toFields(options));
      const created = (await context.http((api) => api.createConversation({ body }))).body;
      context.print(created, `Created conversation ${created.id}.`, describe(created));
    });

  withOptions(group.command('update'))
    .description('Changes the times, participants, linked holons, event or step of a conversation')
    .argument('<id>', 'conversation', parseId)
    .action(async (id: number, { from, ...options }: WriteOptions) => {
      const body = await readBody<UpdateConversationRequest['body']>(from, toFields(options));
      const call = { path: { conversation_id: id }, body };
      const changed = (await context.http((api) => api.updateConversation(call), `conversation ${id}`)).body;
      context.print(changed, `Changed conversation ${id}.`, describe(changed));
    });

  withPages(group.command('notes'), 'notes')
    .description('Lists the notes of a conversation, newest first')
    .argument('<id>', 'conversation', parseId)
    .action(async (conversation: number, page: { limit: number; cursor?: string }) => {
      const listed = await listNotes(context, { conversation }, page);
      context.print(listed.items, table(listed.items, noteColumns, 'No notes.'), ...describeNext(listed));
    });

  group
    .command('timeline')
    .description('Shows what happened to a conversation, oldest first')
    .argument('<id>', 'conversation', parseId)
    .action(async (id: number) => {
      const call = { path: { conversation_id: id } };
      const timeline = (await context.http((api) => api.getConversationTimeline(call), `conversation ${id}`)).body;
      const { items, missing } = timeline;
      const incomplete = missing.length === 0 ? [] : [`Incomplete, no reply from: ${missing.join(', ')}`];
      context.print(timeline, table(items, entryColumns, 'No entries.'), ...incomplete);
    });

  group
    .command('note')
    .description('Adds a note to a conversation')
    .argument('<id>', 'conversation', parseId)
    .argument('<text>', 'the note')
    .action(async (id: number, body: string) => {
      const call = { path: { conversation_id: id }, body: { body } };
      const { note } = (await context.http((api) => api.createConversationNote(call), `conversation ${id}`)).body;
      context.print(note, `Added a note to conversation ${id}.`);
    });
}

/** Returns the options under the names of the request's fields. */
function toFields({ journey, event, step, start, finish, participant, connected }: Omit<WriteOptions, 'from'>) {
  return {
    journey_slug: journey,
    event_slug: event,
    step_slug: step,
    start,
    finish,
    participant_ids: participant?.map(parseId),
    connected_slugs: connected,
  };
}

const describe = (conversation: Conversation): View =>
  fields({
    id: conversation.id,
    journey: conversation.journey_slug,
    step: conversation.step_slug,
    start: moment(conversation.start),
    finish: moment(conversation.finish),
    participants: conversation.participants.map(({ id, name }) => `${name} (${id})`).join(', ') || null,
    connected: conversation.connected.map(({ slug }) => slug).join(', ') || null,
  });
