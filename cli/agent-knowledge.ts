/** `agents knowledge list|approve|reject SLUG`: which sentences of visitors an agent can use in other threads (D70). */
import { type Command, InvalidArgumentError } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { agents } from '#services/agents';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment, toned } from './output/cell.ts';
import { table } from './output/table.ts';

type Knowledge = ReplyOf<typeof agents.rpcs.listKnowledge>;

export function registerKnowledgeCommands(group: Command, context: CliContext): void {
  const knowledge = group
    .command('knowledge')
    .description('Sentences of visitors that an agent can use in all threads (AGENT_KNOWLEDGE)');
  knowledge
    .command('list <slug>')
    .description('Lists the collected sentences of an agent, approved and waiting, with the thread of each')
    .option('--waiting', 'only sentences that are not approved')
    .action(async (slug: string, { waiting }: { waiting?: true }) => {
      const state = waiting === true ? ({ state: 'waiting' } as const) : {};
      const { mode, items } = await context.call(agents.rpcs.listKnowledge, { slug, ...state });
      context.print(items, `AGENT_KNOWLEDGE is ${meanings[mode]}.`, table(items, columns, 'No sentences.'));
    });

  knowledge
    .command('approve <slug> <ids...>')
    .description(
      'Approves sentences for use in all threads of the agent. Read them first: they become part of its prompt',
    )
    .action(async (slug: string, ids: string[]) => {
      const { approved } = await context.call(agents.rpcs.approveKnowledge, { slug, ids: ids.map(parseSentenceId) });
      const head = approved === 0 ? 'Nothing changed: already approved.' : `Approved ${countSentences(approved)}.`;
      context.print({ approved }, head);
    });

  knowledge
    .command('reject <slug> [ids...]')
    .description('Permanently deletes sentences, approved or not, and everything derived from them')
    .option('--all', 'every sentence of the agent')
    .option('--yes', 'do not ask')
    .action(async (slug: string, ids: string[], { all, yes }: { all?: true; yes?: true }) => {
      if ((all === true) === ids.length > 0) throw new CliError('Specify ids or --all.', 'usage');
      const request = all === true ? { slug } : { slug, ids: ids.map(parseSentenceId) };
      const what = all === true ? 'all sentences' : countSentences(ids.length);
      if (yes !== true) await confirm(`This deletes ${what} of the agent ${slug} and cannot be undone.`, slug);
      const { rejected } = await context.call(agents.rpcs.rejectKnowledge, request);
      context.print(
        { rejected },
        rejected === 0 ? 'Nothing deleted: no sentences found.' : `Deleted ${countSentences(rejected)}.`,
      );
    });
}

const meanings: Readonly<Record<Knowledge['mode'], string>> = {
  off: 'off: no sentence is used in other threads',
  reviewed: 'reviewed: approved sentences are used in all threads',
  automatic: 'automatic: all sentences are used in all threads',
};

type Sentence = Knowledge['items'][number];

const columns = {
  ID: ({ id }: Sentence) => id,
  STATE: ({ approved_at: at }: Sentence) => (at === null ? toned('waiting', 'wait') : toned('approved', 'good')),
  COLLECTED: ({ created_at: at }: Sentence) => moment(at),
  TURN: ({ up_to_turn: turn }: Sentence) => turn,
  THREAD: ({ thread_key: thread }: Sentence) => thread,
  VISITOR: ({ visitor_id: visitor }: Sentence) => visitor,
  SENTENCE: ({ body }: Sentence) => JSON.stringify(body),
};

const countSentences = (count: number): string => (count === 1 ? '1 sentence' : `${count} sentences`);

function parseSentenceId(text: string): number {
  const id = Number(text);
  if (!/^[0-9]+$/.test(text) || id < 1 || !Number.isSafeInteger(id))
    throw new InvalidArgumentError('must be a positive integer.');
  return id;
}
