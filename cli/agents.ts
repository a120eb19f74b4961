/**
 * `agents list`, `agents record SLUG`, `agents forget` and `agents usage`: lists agents, and shows or erases their
 * stored chats (rules/cli#admin-cli).
 */
import { type Command, InvalidArgumentError } from 'commander';
import { encodePosition, operatorLists } from '#libs/infrastructure/cursor';
import type {
  ForgetChatsReply,
  ListAgentsReply,
  ListAgentUsageReply,
  ReadAgentRecordReply,
} from '../clients/typescript/operations.ts';
import { registerAgentCommands } from './agent-commands.ts';
import { registerKnowledgeCommands } from './agent-knowledge.ts';
import { registerWebhookCommands } from './agent-webhook.ts';
import { storeErasuresWithBackups } from './backup/erasures.ts';
import { withConfirmation, withFormerName, withLimit, withPages } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment } from './output/cell.ts';
import { fields, table, type View } from './output/table.ts';
import { describeNext, readPages } from './pages.ts';
import { cursorText, parseLimit } from './parse-options.ts';

interface Options {
  thread?: string;
  all?: true;
  visitor?: string;
  telegramUser?: number;
  limit?: number;
  since?: string;
  yes?: true;
}

type Thread = ReadAgentRecordReply['body']['threads'][number];

export function register(group: Command, context: CliContext): void {
  registerLists(group, context);
  registerAgentCommands(group, context);
  registerWebhookCommands(group, context);
  registerKnowledgeCommands(group, context);
  registerRecord(group, context);
  registerForget(group, context);
  registerUsage(group, context);
}

type Agent = ListAgentsReply['body']['items'][number];
const agentColumns = {
  SLUG: ({ slug }: Agent) => slug,
  NAME: ({ name }: Agent) => name,
  WAITING: ({ waiting }: Agent) => waiting,
  APPROVED: ({ approved }: Agent) => approved,
};
function registerLists(group: Command, context: CliContext): void {
  const list = group
    .command('list')
    .description('Lists agents by slug, with the number of sentences that wait for approval');
  withFormerName(withPages(list, 'agents'), '--after <slug>', '--cursor', (slug) =>
    encodePosition(operatorLists.agents, { at: slug, source: 'agents' }),
  ).action(async (pages: { cursor?: string; limit: number }) => {
    const page = await readPages(pages, async (query) => (await context.http((api) => api.listAgents({ query }))).body);
    context.print(page.items, table(page.items, agentColumns, 'No agents.'), ...describeNext(page));
  });
}

function registerRecord(group: Command, context: CliContext): void {
  const record = group
    .command('record <slug>')
    .description('Shows the threads of an agent with messages and memory, oldest first')
    .option('--thread <id-or-key>', 'only this thread, paged by message');
  withLimit(record, 'threads or messages').option('--cursor <cursor>', cursorText, parseCount);
  withFormerName(record, '--after <next>', '--cursor').action(
    async (slug: string, { thread, cursor: after, limit }: { thread?: string; cursor?: number; limit: number }) => {
      const body = {
        ...(thread === undefined ? {} : toThread(thread)),
        ...(after === undefined ? {} : { after }),
        limit,
      };
      const reply = (await context.http((api) => api.readAgentRecord({ path: { slug }, body }))).body;
      const { agent, threads, next } = reply;
      context.print(
        reply,
        `${agent.name} (${agent.slug}): ${threads.length === 1 ? '1 thread' : `${threads.length} threads`}`,
        fields({ knows: agent.memory.summary || null }),
        ...threads.flatMap(describeThread),
        ...(next === null ? [] : [`\nMore results: --cursor ${next}`]),
      );
    },
  );
}

/** A thread key is never a number. */
const toThread = (text: string) => (/^[1-9]\d{0,14}$/.test(text) ? { thread_id: Number(text) } : { thread_key: text });

function describeThread({ thread_key: key, memory, message_count: count, messages }: Thread): View[] {
  const part = count > messages.length ? ` (${messages.length} of ${count} messages)` : '';
  return [
    `\n${key}${part}`,
    fields({ summary: memory.summary || null }),
    ...memory.facts.map((fact) => fields({ fact })),
    ...memory.notes.map((note) => fields({ note })),
    table(messages, messageColumns, 'No messages.'),
  ];
}

const messageColumns = {
  SENT: ({ created_at: at }: Thread['messages'][number]) => moment(at),
  BY: ({ note_type: type }: Thread['messages'][number]) => type.replace('chat_', ''),
  MESSAGE: ({ body }: Thread['messages'][number]) => body,
};

function registerForget(group: Command, context: CliContext): void {
  withConfirmation(group.command('forget [slug]'))
    .description('Permanently deletes threads with their messages, facts and the knowledge derived from them')
    .option('--thread <key>', 'the thread with this key; the agent can be omitted')
    .option('--all', 'every thread of the agent')
    .option('--visitor <id>', 'all threads of this chat page visitor, with any agent')
    .option(
      '--telegram-user <id>',
      'private chats of this Telegram user and their turns in groups, with any agent',
      parseCount,
    )
    .action(async (slug: string | undefined, options: Options) => {
      const counts = await forget(context, slug, options);
      const nothing = counts.threads + counts.messages + counts.facts === 0;
      const done = `Deleted ${counts.threads} threads, ${counts.messages} messages and ${counts.facts} facts.`;
      context.print(counts, nothing ? 'Nothing deleted: no matching data.' : done);
    });
}

async function forget(
  context: CliContext,
  slug: string | undefined,
  { thread, all, visitor, telegramUser, yes }: Options,
): Promise<ForgetChatsReply['body']> {
  const named = [thread, all, visitor, telegramUser].filter((value) => value !== undefined).length;
  if (named !== 1)
    throw new CliError('Specify exactly one of --thread, --all, --visitor and --telegram-user.', 'usage');
  if (slug === undefined && all === true) throw new CliError('--all needs the slug of an agent.', 'usage');
  if (slug !== undefined && (visitor !== undefined || telegramUser !== undefined)) {
    throw new CliError('--visitor and --telegram-user apply to all agents: omit the slug.', 'usage');
  }
  if (yes !== true) await confirm('This permanently deletes threads and everything derived from them.', 'forget');
  const given = { slug, all, thread_key: thread, visitor_id: visitor, telegram_user_id: telegramUser };
  const body = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const { body: counts } = await context.http((api) => api.forgetChats({ body }));
  if (visitor !== undefined) await storeErasuresWithBackups(context);
  return counts;
}

type Usage = ListAgentUsageReply['body']['items'][number];

const usageColumns = {
  DAY: ({ day }: Usage) => day,
  AGENT: ({ slug }: Usage) => slug,
  PURPOSE: ({ purpose }: Usage) => purpose,
  CALLS: ({ calls }: Usage) => calls,
  FAILED: ({ failed_calls: failed }: Usage) => failed,
  UNCOUNTED: ({ calls_without_usage: uncounted }: Usage) => uncounted,
  'TOKENS IN': ({ prompt_tokens: tokens }: Usage) => tokens,
  OUT: ({ completion_tokens: tokens }: Usage) => tokens,
  MS: ({ duration_ms: ms }: Usage) => ms,
};

function registerUsage(group: Command, context: CliContext): void {
  group
    .command('usage [slug]')
    .description('Shows language model calls, tokens and duration by day (UTC), agent and purpose, newest first')
    .option('--since <day>', 'first day, YYYY-MM-DD', parseDay)
    .option('--limit <count>', 'maximum number of rows, at most 1000', parseLimit, 100)
    .action(async (slug: string | undefined, { since, limit }: Options) => {
      const query = {
        ...(slug === undefined ? {} : { slug }),
        ...(since === undefined ? {} : { since }),
        ...(limit === undefined ? {} : { limit }),
      };
      const { items } = (await context.http((api) => api.listAgentUsage({ query }))).body;
      context.print(items, table(items, usageColumns, 'No calls recorded.'));
    });
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^[0-9]+$/.test(text) || !Number.isSafeInteger(count))
    throw new InvalidArgumentError('must be a non-negative integer.');
  return count;
}

function parseDay(text: string): string {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  if (day === undefined || Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text) {
    throw new InvalidArgumentError('must be a day, YYYY-MM-DD.');
  }
  return text;
}
