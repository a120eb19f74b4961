/** `agents knowledge list|approve|reject SLUG`: which sentences of visitors an agent can use in other threads (D70). */
import { type Command, InvalidArgumentError } from 'commander';
import type { ListAgentKnowledgeReply } from '../clients/typescript/operations.ts';
import { withConfirmation } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment, toned } from './output/cell.ts';
import { table } from './output/table.ts';
import { readPages } from './pages.ts';

type Knowledge = ListAgentKnowledgeReply['body'];

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
      const { mode, items } = await listKnowledge(context, slug, state);
      context.print(items, `AGENT_KNOWLEDGE is ${meanings[mode]}.`, table(items, columns, 'No sentences.'));
    });

  knowledge
    .command('approve <slug> <ids...>')
    .description(
      'Approves sentences for use in all threads of the agent. Read them first: they become part of its prompt',
    )
    .action(async (slug: string, ids: string[]) => {
      const call = { path: { slug }, body: { ids: ids.map(parseSentenceId) } };
      const { approved } = (await context.http((api) => api.approveAgentKnowledge(call))).body;
      const head = approved === 0 ? 'Nothing changed: already approved.' : `Approved ${countSentences(approved)}.`;
      context.print({ approved }, head);
    });

  withConfirmation(knowledge.command('reject <slug> [ids...]'))
    .description('Permanently deletes sentences, approved or not, and everything derived from them')
    .option('--all', 'every sentence of the agent')
    .action(async (slug: string, ids: string[], { all, yes }: { all?: true; yes?: true }) => {
      if ((all === true) === ids.length > 0) throw new CliError('Specify ids or --all.', 'usage');
      const named = ids.map(parseSentenceId);
      const what = all === true ? 'all sentences' : countSentences(ids.length);
      if (yes !== true) await confirm(`This deletes ${what} of the agent ${slug} and cannot be undone.`, slug);
      const chosen = all === true ? (await listKnowledge(context, slug, {})).items.map(({ id }) => id) : named;
      const rejected = await rejectAll(context, slug, chosen);
      context.print(
        { rejected },
        rejected === 0 ? 'Nothing deleted: no sentences found.' : `Deleted ${countSentences(rejected)}.`,
      );
    });
}

/** Returns all sentences of an agent. */
async function listKnowledge(context: CliContext, slug: string, state: { state?: 'waiting' }) {
  let mode: Knowledge['mode'] = 'off';
  const { items } = await readPages({ limit: Infinity }, async (page) => {
    const { body } = await context.http((api) =>
      api.listAgentKnowledge({ path: { slug }, query: { ...state, ...page } }),
    );
    ({ mode } = body);
    return body;
  });
  return { mode, items };
}

/** Number of sentences that one request can name. */
const maxNamed = 1_000;

/** Rejects sentences. @returns their number */
async function rejectAll(context: CliContext, slug: string, ids: readonly number[]): Promise<number> {
  let count = 0;
  for (let start = 0; start < ids.length; start += maxNamed) {
    const call = { path: { slug }, body: { ids: ids.slice(start, start + maxNamed) } };
    count += (await context.http((api) => api.rejectAgentKnowledge(call))).body.rejected;
  }
  return count;
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
  THREAD: ({ thread_id: thread }: Sentence) => thread,
  CHANNEL: ({ channel }: Sentence) => channel,
  SENTENCE: ({ body }: Sentence) => JSON.stringify(body),
};

const countSentences = (count: number): string => (count === 1 ? '1 sentence' : `${count} sentences`);

function parseSentenceId(text: string): number {
  const id = Number(text);
  if (!/^[0-9]+$/.test(text) || id < 1 || !Number.isSafeInteger(id))
    throw new InvalidArgumentError('must be a positive integer.');
  return id;
}
