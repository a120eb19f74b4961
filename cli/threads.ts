/**
 * `threads list|show|take|say|hand-back`: shows chats with agents, and lets an operator take over a chat, reply and
 * return it to the agent (H1 to H5).
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { operatorLists, type Position, parseInstantKey, encodePosition } from '#libs/cursor';
import { agents } from '#services/agents';
import type { CliContext } from './context.ts';
import { moment, toned } from './output/cell.ts';
import { table } from './output/table.ts';
import { cursorText, parseCursor, parseId, parseLimit } from './parse-options.ts';

type Thread = ReplyOf<typeof agents.rpcs.adminListThreads>['items'][number];
type Message = ReplyOf<typeof agents.rpcs.adminReadThread>['messages'][number];

interface ListOptions {
  agent?: string;
  channel?: 'web' | 'telegram';
  taken?: boolean;
  limit: number;
  cursor?: Position;
}

/** Maximum number of threads or messages per request to the service. */
const maxThreads = 200;

export function register(group: Command, context: CliContext): void {
  const { adminListThreads, adminReadThread, adminTakeThread, adminSayInThread, adminHandThreadBack } = agents.rpcs;

  group
    .command('list')
    .description('Lists chats, latest message first')
    .option('--agent <slug>', 'only chats with this agent')
    .addOption(new Option('--channel <channel>', 'only chats of this channel').choices(['web', 'telegram']))
    .option('--taken', 'only chats taken over by an operator')
    .option('--no-taken', 'only chats answered by the agent')
    .option('--limit <count>', 'maximum number of results, at most 200', parseLimit, 50)
    .option('--cursor <cursor>', cursorText, parseCursor(operatorLists.threads))
    .action(async ({ limit: requestedLimit, cursor, ...filter }: ListOptions) => {
      const limit = Math.min(requestedLimit, maxThreads);
      const before = cursor === undefined ? undefined : parseInstantKey(cursor.at);
      const page = { limit: limit + 1, ...(before === undefined ? {} : { before }) };
      const { items: found } = await context.call(adminListThreads, { ...filter, ...page });
      const items = found.slice(0, limit);
      const last = found.length > limit ? items.at(-1) : undefined;
      context.print(
        items,
        table(items, threadColumns, 'No chats found.'),
        ...(last === undefined ? [] : [describeMore(last)]),
      );
    });

  group
    .command('show')
    .description('Shows a chat with its newest messages and their authors')
    .argument('<thread>', 'id', parseThread)
    .option('--limit <count>', 'maximum number of messages, at most 200', parseLimit, 50)
    .option('--before <turn>', 'messages before this turn, as printed by the previous page', parseId)
    .action(async (id: number, { limit, before }: { limit: number; before?: number }) => {
      const request = {
        thread_id: id,
        limit: Math.min(limit, maxThreads),
        ...(before === undefined ? {} : { before }),
      };
      const found = await context.call(adminReadThread, request);
      context.print(
        found,
        table([found.thread], threadColumns, ''),
        table(found.messages, messageColumns, 'No messages.'),
        ...(found.before === null ? [] : [`Earlier messages: --before ${found.before}`]),
      );
    });

  group
    .command('take')
    .description('Takes over a chat: the agent does not reply until it is handed back')
    .argument('<thread>', 'id', parseThread)
    .action(async (id: number) => {
      const { thread } = await context.call(adminTakeThread, { thread_id: id });
      context.print(thread, table([thread], threadColumns, ''));
    });

  group
    .command('say')
    .description('Sends a message in a chat that was taken over with the CLI')
    .argument('<thread>', 'id', parseThread)
    .argument('<message>', 'Markdown')
    .action(async (id: number, body: string) => {
      const { message } = await context.call(adminSayInThread, { thread_id: id, body });
      context.print(message, table([message], messageColumns, ''));
    });

  group
    .command('hand-back')
    .description('Hands a chat back to the agent')
    .argument('<thread>', 'id', parseThread)
    .action(async (id: number) => {
      const { thread } = await context.call(adminHandThreadBack, { thread_id: id });
      context.print(thread, table([thread], threadColumns, ''));
    });
}

const describeMore = ({ updated_at: at, id }: Thread): string =>
  `More results: --cursor ${encodePosition(operatorLists.threads, { at: `${at} ${id}`, source: 'agents' })}`;

function parseThread(text: string): number {
  const id = Number(text);
  if (!/^[1-9]\d*$/.test(text) || !Number.isSafeInteger(id)) throw new InvalidArgumentError('must be an id.');
  return id;
}

const threadColumns = {
  THREAD: ({ id }: Thread) => id,
  AGENT: ({ agent }: Thread) => agent,
  CHANNEL: ({ channel }: Thread) => channel,
  TURNS: ({ turns }: Thread) => turns,
  LAST: ({ updated_at: at }: Thread) => moment(at),
  WAITING: ({ waiting }: Thread) => (waiting ? toned('yes', 'wait') : 'no'),
  'TAKEN BY': ({ taken_by: holder }: Thread) =>
    holder === null ? null : holder.account_id === null ? 'admin CLI' : `account ${holder.account_id}`,
};

const messageColumns = {
  SENT: ({ created_at: at }: Message) => moment(at),
  BY: ({ author, account_id: id }: Message) => (id === null ? author : `${author} ${id}`),
  DELIVERY: ({ delivery }: Message) =>
    delivery === null ? null : toned(delivery, delivery === 'sent' ? 'good' : 'wait'),
  MESSAGE: ({ body }: Message) => body,
};
