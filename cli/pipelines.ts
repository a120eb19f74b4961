/** `pipelines list|retry`: conversations in pipeline steps and their jobs (P5; rules/steps#pipeline-jobs). */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { jobStates } from '#libs/infrastructure/contract';
import { encodePosition, operatorLists } from '#libs/infrastructure/cursor';
import { AppError } from '#libs/infrastructure/errors';
import type { ListPipelinesReply } from '../clients/typescript/operations.ts';
import { withFormerName, withPages } from './common-options.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment, toned } from './output/cell.ts';
import { table } from './output/table.ts';
import { describeNext, readPages } from './pages.ts';
import { parseId } from './parse-options.ts';

type PipelineStatus = ListPipelinesReply['body']['items'][number];

interface ListOptions {
  journey?: string;
  step?: string;
  state?: PipelineStatus['state'];
  conversation?: number;
  limit: number;
  cursor?: string;
}

/** Returns the cursor that starts after an entry. */
function parseEntry(text: string): string {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('must be an entry id printed by the previous page.');
  return encodePosition(operatorLists.pipelines, { at: text, source: 'conversations' });
}

export function register(group: Command, context: CliContext): void {
  const list = withPages(group.command('list'), 'conversations')
    .description('Lists conversations in pipeline steps, latest entry first')
    .option('--journey <slug>', 'only conversations on this journey')
    .option('--step <slug>', 'only conversations in this step')
    .addOption(
      new Option('--state <state>', 'only conversations whose job is in this state').choices([...jobStates, 'none']),
    )
    .option('--conversation <id>', 'only this conversation', parseId);
  withFormerName(list, '--before <entry>', '--cursor', parseEntry).action(
    async ({ journey, step, state, conversation, ...pages }: ListOptions) => {
      const filter = {
        ...(journey === undefined ? {} : { journey }),
        ...(step === undefined ? {} : { step }),
        ...(state === undefined ? {} : { state }),
        ...(conversation === undefined ? {} : { conversation_id: conversation }),
      };
      const page = await readPages(
        pages,
        async (query) => (await context.http((api) => api.listPipelines({ query: { ...filter, ...query } }))).body,
      );
      context.print(
        page.items,
        table(page.items, columns, 'No conversations in pipeline steps.'),
        ...describeNext(page),
      );
    },
  );

  group
    .command('retry')
    .description('Runs the existing job of a conversation now')
    .argument('<conversation>', 'id', parseId)
    .action(async (id: number) => {
      const call = { path: { conversation_id: id }, body: {} };
      const { body } = await context
        .http((api) => api.retryPipeline(call), `conversation ${id}`)
        .catch((error: unknown) => {
          if (!(error instanceof AppError) || error.reason !== 'no_job') throw error;
          throw new CliError(`Conversation ${id} has no job that can be run now.`);
        });
      context.print(body, table([body], columns, ''));
    });
}

const columns = {
  CONVERSATION: ({ conversation_id: id }: PipelineStatus) => id,
  JOURNEY: ({ journey }: PipelineStatus) => journey,
  STEP: ({ step }: PipelineStatus) => step,
  STATE: ({ state }: PipelineStatus) =>
    toned(state, state === 'dead' ? 'bad' : state === 'succeeded' ? 'good' : 'wait'),
  SINCE: ({ since }: PipelineStatus) => moment(since),
  'WAITS FOR': ({ waiting_for: what }: PipelineStatus) => what,
  ERROR: ({ error }: PipelineStatus) => error,
};
