/** `pipelines list|retry`: conversations in pipeline steps and their jobs (P5; rules/steps#pipeline-jobs). */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { jobAdminRpcs, jobStates, type LatestJob } from '#libs/contract';
import { operatorLists, type Position, encodePosition } from '#libs/cursor';
import { describePipelineStatus, jobTypeOf, listPipelineStatuses, pipelineJobs } from '#libs/pipeline';
import { conversations } from '#services/conversations';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment, toned } from './output/cell.ts';
import { table } from './output/table.ts';
import { cursorText, parseCursor, parseId, parseLimit } from './parse-options.ts';

type PipelineStatus = ReturnType<typeof describePipelineStatus>;

interface ListOptions {
  journey?: string;
  step?: string;
  state?: PipelineStatus['state'];
  conversation?: number;
  limit: number;
  cursor?: Position;
  before?: number;
}

function parseEntry(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('must be an entry id printed by the previous page.');
  return Number(text);
}

export function register(group: Command, context: CliContext): void {
  const readJobs = async (type: string, ids: readonly number[]): Promise<readonly LatestJob[]> => {
    const rpcs = jobAdminRpcs(type.split('.')[0] ?? '');
    return (await context.call(rpcs.adminFindLatestJobs, { type, conversation_ids: [...ids] })).items;
  };

  group
    .command('list')
    .description('Lists conversations in pipeline steps, latest entry first')
    .option('--journey <slug>', 'only conversations on this journey')
    .option('--step <slug>', 'only conversations in this step')
    .addOption(
      new Option('--state <state>', 'only conversations whose job is in this state').choices([...jobStates, 'none']),
    )
    .option('--conversation <id>', 'only this conversation', parseId)
    .option('--limit <count>', 'maximum number of results, at most 200', parseLimit, 100)
    .option('--cursor <cursor>', cursorText, parseCursor(operatorLists.pipelines))
    .option('--before <entry>', 'entries older than this one', parseEntry)
    .action(async ({ journey, step, state, conversation, limit, cursor, before }: ListOptions) => {
      const filter = {
        ...(journey === undefined ? {} : { journey }),
        ...(step === undefined ? {} : { step }),
        ...(conversation === undefined ? {} : { conversation_id: conversation }),
      };
      const { items, next } = await listPipelineStatuses({
        limit: Math.min(limit, 200),
        state,
        before: cursor === undefined ? before : Number(cursor.at),
        registry: pipelineJobs,
        readEntries: (page) => context.call(conversations.rpcs.adminListPipelines, { ...filter, ...page }),
        readJobs,
        readJobsIn: async (request) =>
          (await context.call(jobAdminRpcs(request.type.split('.')[0] ?? '').adminListJobs, request)).items,
      });
      context.print(
        items,
        table(items, columns, 'No conversations in pipeline steps.'),
        ...(next === undefined
          ? []
          : [
              `More results may follow: --cursor ${encodePosition(operatorLists.pipelines, { at: String(next), source: 'conversations' })}`,
            ]),
      );
    });

  group
    .command('retry')
    .description('Runs the existing job of a conversation now')
    .argument('<conversation>', 'id', parseId)
    .action(async (id: number) => {
      const { items, is_known: isKnown } = await context.call(conversations.rpcs.adminListPipelines, {
        conversation_id: id,
        limit: 1,
      });
      if (!isKnown) throw new CliError(`There is no conversation ${id}.`, 'not_found');
      const [entry] = items;
      const type = entry === undefined ? undefined : jobTypeOf(pipelineJobs, entry);
      const [job] = type === undefined ? [] : await readJobs(type, [id]);
      if (entry === undefined || type === undefined || job === undefined || job.state === 'succeeded')
        throw new CliError(`Conversation ${id} has no job that can be run now.`);
      const rpcs = jobAdminRpcs(type.split('.')[0] ?? '');
      await context.call(rpcs.adminRetryJob, { id: job.id, conversation_id: id });
      const standing = describePipelineStatus(entry, (await readJobs(type, [id]))[0]);
      context.print(standing, table([standing], columns, ''));
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
