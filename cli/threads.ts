/**
 * `threads list|show|take|say|hand-back`: shows chats with agents, and lets an operator take over a chat, reply and
 * return it to the agent (H1 to H5).
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { GetThreadReply, ListThreadsReply, ListThreadsRequest } from '../clients/typescript/operations.ts';
import { withFormerName, withLimit, withPages } from './common-options.ts';
import type { CliContext } from './context.ts';
import { moment, toned } from './output/cell.ts';
import { table } from './output/table.ts';
import { describeNext, readPages } from './pages.ts';
import { cursorText, parseId } from './parse-options.ts';

type ListOptions = Omit<ListThreadsRequest['query'] & object, 'limit'> & { readonly limit: number };

export function register(group: Command, context: CliContext): void {
  withPages(group.command('list'), 'chats', { preset: 50 })
    .description('Lists chats, latest message first')
    .option('--agent <slug>', 'only chats with this agent')
    .addOption(new Option('--channel <channel>', 'only chats of this channel').choices(['web', 'telegram']))
    .option('--taken', 'only chats taken over by an operator')
    .option('--no-taken', 'only chats answered by the agent')
    .action(async ({ limit, cursor, ...filter }: ListOptions) => {
      const page = await readPages(
        { limit, cursor },
        async (query) => (await context.http((api) => api.listThreads({ query: { ...filter, ...query } }))).body,
      );
      const items = page.items.map(toThread);
      context.print(items, table(items, threadColumns, 'No chats found.'), ...describeNext(page));
    });

  const show = withLimit(group.command('show'), 'messages', { max: 200, preset: 50 })
    .description('Shows a chat with its newest messages and their authors')
    .argument('<thread>', 'id', parseThread)
    .option('--cursor <cursor>', cursorText, parseId);
  withFormerName(show, '--before <turn>', '--cursor').action(
    async (id: number, { limit, cursor }: { limit: number; cursor?: number }) => {
      const query = { limit, ...(cursor === undefined ? {} : { before: cursor }) };
      const { body } = await context.http((api) => api.getThread({ path: { thread_id: id }, query }), `thread ${id}`);
      const found = { ...body, thread: toThread(body.thread), messages: body.messages.map(toMessage) };
      context.print(
        found,
        table([found.thread], threadColumns, ''),
        table(found.messages, messageColumns, 'No messages.'),
        ...describeNext({ next: found.before === null ? null : String(found.before) }),
      );
    },
  );

  group
    .command('take')
    .description('Takes over a chat: the agent does not reply until it is handed back')
    .argument('<thread>', 'id', parseThread)
    .action(async (id: number) => {
      const call = { path: { thread_id: id }, body: {} };
      const thread = toThread((await context.http((api) => api.takeThread(call), `thread ${id}`)).body.thread);
      context.print(thread, table([thread], threadColumns, ''));
    });

  group
    .command('say')
    .description('Sends a message in a chat that was taken over with the CLI')
    .argument('<thread>', 'id', parseThread)
    .argument('<message>', 'Markdown')
    .action(async (id: number, body: string) => {
      const call = { path: { thread_id: id }, body: { body } };
      const message = toMessage((await context.http((api) => api.sayInThread(call), `thread ${id}`)).body.message);
      context.print(message, table([message], messageColumns, ''));
    });

  group
    .command('hand-back')
    .description('Hands a chat back to the agent')
    .argument('<thread>', 'id', parseThread)
    .action(async (id: number) => {
      const call = { path: { thread_id: id }, body: {} };
      const thread = toThread((await context.http((api) => api.handThreadBack(call), `thread ${id}`)).body.thread);
      context.print(thread, table([thread], threadColumns, ''));
    });
}

/** Returns a thread with the id of its operator's account, as commands print it. */
const toThread = ({ taken_by: holder, ...thread }: ListThreadsReply['body']['items'][number]) => ({
  ...thread,
  taken_by: holder === null ? null : { ...holder, account_id: holder.account?.id ?? null },
});
type Thread = ReturnType<typeof toThread>;

/** Returns a message with its author's kind and account id, as commands print it. */
const toMessage = ({ author, ...message }: GetThreadReply['body']['messages'][number]) => ({
  ...message,
  author: author.kind,
  account_id: author.account?.id ?? null,
});
type Message = ReturnType<typeof toMessage>;

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
