/** `agents record SLUG`, `agents forget` and `agents usage` (architecture §7): what is stored of conversations with agents. */
import { type Command, InvalidArgumentError } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { agents } from '#services/agents';
import { registerKnowledgeCommands } from './agent-knowledge.ts';
import { registerWebhookCommands } from './agent-webhook.ts';
import { CliError, type CliContext } from './context.ts';
import { parseLimit } from './parse-limit.ts';

interface Options {
  thread?: string;
  all?: true;
  visitor?: string;
  telegramUser?: number;
  after?: number;
  limit?: number;
  since?: string;
  json?: true;
}

type Thread = ReplyOf<typeof agents.rpcs.getRecord>['threads'][number];

export function register(program: Command, context: CliContext): void {
  const group = program.command('agents').description('What is stored of conversations with agents, and what they cost');
  registerWebhookCommands(group, context);
  registerKnowledgeCommands(group, context);
  registerRecord(group, context);
  registerForget(group, context);
  registerUsage(group, context);
}

function registerRecord(group: Command, context: CliContext): void {
  group
    .command('record <slug>')
    .description('Shows the threads of an agent with messages and memory, oldest first, in pages')
    .option('--thread <key>', 'only the thread with this key; the pages are of its messages')
    .option('--limit <count>', 'threads or messages of a page, at most 1000', parseLimit, 100)
    .option('--after <next>', 'the page after the one that named this', parseCount)
    .option('--json', 'print the record as JSON; `next` is null on the last page')
    .action(async (slug: string, { thread, after, limit, json }: Options) => {
      const record = await context.call(agents.rpcs.getRecord, {
        slug,
        ...(thread === undefined ? {} : { thread_key: thread }),
        ...(after === undefined ? {} : { after }),
        ...(limit === undefined ? {} : { limit }),
      });
      if (json === true) {
        context.printJson(record);
        return;
      }
      const { agent, threads, next } = record;
      context.printLine(`${agent.name} (${agent.slug}): ${threads.length} threads`);
      if (agent.memory.summary !== '') context.printLine(`  knows: ${agent.memory.summary}`);
      for (const item of threads) printThread(context, item);
      if (next !== null) context.printLine(`\nMore with --after ${next}`);
    });
}

function printThread(context: CliContext, thread: Thread): void {
  context.printLine(`\n${thread.thread_key}`);
  if (thread.memory.summary !== '') context.printLine(`  summary: ${thread.memory.summary}`);
  for (const fact of thread.memory.facts) context.printLine(`  fact: ${fact}`);
  for (const note of thread.memory.notes) context.printLine(`  note of the agent: ${note}`);
  if (thread.message_count > thread.messages.length) context.printLine(`  ${thread.messages.length} of ${thread.message_count} messages:`);
  for (const message of thread.messages) {
    context.printLine(`  ${message.created_at}  ${message.note_type === 'chat_visitor' ? 'visitor' : 'agent'}: ${message.body}`);
  }
}

function registerForget(group: Command, context: CliContext): void {
  group
    .command('forget [slug]')
    .description('Deletes conversations for good, with messages, facts and what agents know from them')
    .option('--thread <key>', 'the thread with this key; with or without the agent')
    .option('--all', 'every thread of the agent')
    .option('--visitor <id>', 'the conversations of this visitor of the chat page, with any agent')
    .option('--telegram-user <id>', 'the private chats of this Telegram user, and their turns in groups, with any agent', parseCount)
    .option('--json', 'print the counts as JSON')
    .action(async (slug: string | undefined, options: Options) => {
      const counts = await forget(context, slug, options);
      if (options.json === true) context.printJson(counts);
      else context.printLine(`Deleted ${counts.threads} threads, ${counts.messages} messages and ${counts.facts} facts.`);
    });
}

async function forget(
  context: CliContext,
  slug: string | undefined,
  { thread, all, visitor, telegramUser }: Options,
): Promise<ReplyOf<typeof agents.rpcs.forgetThreads>> {
  const { forgetThreads, forgetPerson } = agents.rpcs;
  const named = [thread, all, visitor, telegramUser].filter((value) => value !== undefined).length;
  if (named !== 1) throw new CliError('Name exactly one of --thread, --all, --visitor and --telegram-user.', 2);
  if (slug === undefined && all === true) throw new CliError('--all needs the slug of an agent.', 2);
  if (slug !== undefined && (visitor !== undefined || telegramUser !== undefined)) {
    throw new CliError('--visitor and --telegram-user are forgotten by every agent: leave the slug out.', 2);
  }
  if (slug !== undefined) return await context.call(forgetThreads, { slug, ...(thread === undefined ? {} : { thread_key: thread }) });
  if (thread !== undefined) return await context.call(forgetPerson, { thread_key: thread });
  if (visitor !== undefined) return await context.call(forgetPerson, { visitor_id: visitor });
  return await context.call(forgetPerson, { telegram_user_id: telegramUser ?? 0 });
}

function registerUsage(group: Command, context: CliContext): void {
  group
    .command('usage [slug]')
    .description('Shows calls, tokens and time of the language model by day (UTC), agent and purpose, newest day first')
    .option('--since <day>', 'from this day on, YYYY-MM-DD', parseDay)
    .option('--limit <count>', 'at most this many rows, at most 1000', parseLimit, 100)
    .option('--json', 'print the rows as JSON')
    .action(async (slug: string | undefined, { since, limit, json }: Options) => {
      const { items } = await context.call(agents.rpcs.listUsage, {
        ...(slug === undefined ? {} : { slug }),
        ...(since === undefined ? {} : { since }),
        ...(limit === undefined ? {} : { limit }),
      });
      if (json === true) {
        context.printJson(items);
        return;
      }
      for (const item of items) {
        const tokens = `${item.prompt_tokens} tokens in, ${item.completion_tokens} out`;
        const calls = `${item.calls} calls (${item.failed_calls} failed, ${item.calls_without_usage} without token counts)`;
        context.printLine(`${item.day}  ${item.slug}  ${item.purpose}: ${calls}, ${tokens}, ${item.duration_ms} ms`);
      }
    });
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^[0-9]+$/.test(text) || !Number.isSafeInteger(count)) throw new InvalidArgumentError('must be a number.');
  return count;
}

function parseDay(text: string): string {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  if (day === undefined || Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text) {
    throw new InvalidArgumentError('must be a day, YYYY-MM-DD.');
  }
  return text;
}
