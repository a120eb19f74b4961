/** `agents knowledge list|approve|reject SLUG`: which sentences of visitors an agent may let other visitors hear (D70). */
import { type Command, InvalidArgumentError } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { agents } from '#services/agents';
import { CliError, type CliContext } from './context.ts';

type Knowledge = ReplyOf<typeof agents.rpcs.listKnowledge>;

export function registerKnowledgeCommands(group: Command, context: CliContext): void {
  const knowledge = group
    .command('knowledge')
    .description('What visitors told an agent and other visitors may hear from it (AGENT_KNOWLEDGE)');
  knowledge
    .command('list <slug>')
    .description('Shows the sentences that an agent gathered, approved and waiting, each with the thread that it comes from')
    .option('--waiting', 'only those that nobody has approved')
    .option('--json', 'print them as JSON')
    .action(async (slug: string, { waiting, json }: { waiting?: true; json?: true }) => {
      const { mode, items } = await context.call(agents.rpcs.listKnowledge, { slug });
      const shown = waiting === true ? items.filter((item) => item.approved_at === null) : items;
      if (json === true) context.printJson(shown);
      else print(context, mode, shown);
    });

  knowledge
    .command('approve <slug> <ids...>')
    .description('Lets the agent draw on sentences in all its conversations: read them first, every word goes into its prompt')
    .action(async (slug: string, ids: string[]) => {
      const { approved } = await context.call(agents.rpcs.approveKnowledge, { slug, ids: ids.map(parseSentenceId) });
      context.printLine(`Approved ${approved} sentences.`);
    });

  knowledge
    .command('reject <slug> [ids...]')
    .description('Deletes sentences for good, approved or not, with what was made of them')
    .option('--all', 'every sentence of the agent')
    .action(async (slug: string, ids: string[], { all }: { all?: true }) => {
      if ((all === true) === ids.length > 0) throw new CliError('Name ids, or --all.', 2);
      const request = all === true ? { slug } : { slug, ids: ids.map(parseSentenceId) };
      const { rejected } = await context.call(agents.rpcs.rejectKnowledge, request);
      context.printLine(`Deleted ${rejected} sentences.`);
    });
}

const meanings: Readonly<Record<Knowledge['mode'], string>> = {
  off: 'off: none of these reaches anybody',
  reviewed: 'reviewed: those that are approved reach every visitor',
  automatic: 'automatic: all of these reach every visitor',
};

function print(context: CliContext, mode: Knowledge['mode'], items: Knowledge['items']): void {
  context.printLine(`AGENT_KNOWLEDGE is ${meanings[mode]}.`);
  for (const { id, body, thread_key: thread, visitor_id: visitor, up_to_turn: turn, created_at: at, approved_at: approved } of items) {
    context.printLine(`${id}  ${approved === null ? 'waiting' : `approved ${approved}`}  ${JSON.stringify(body)}`);
    context.printLine(`    ${at}, turn ${turn} or before of ${thread}${visitor === null ? '' : `, visitor ${visitor}`}`);
  }
}

function parseSentenceId(text: string): number {
  const id = Number(text);
  if (!/^[0-9]+$/.test(text) || id < 1 || !Number.isSafeInteger(id)) throw new InvalidArgumentError('must be an id.');
  return id;
}
