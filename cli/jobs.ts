/**
 * `jobs list|show|redrive|discard|cancel` over every service that has jobs (architecture#jobs; rules/cli#admin-cli).
 */
import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  type JobChange,
  jobAdminRpcs,
  jobStates,
  type ReplyOf,
  type RequestOf,
  type ServiceContract,
} from '#libs/contract';
import { AppError } from '#libs/errors';
import {
  startCursor,
  cursorFor,
  findPosition,
  hasMore,
  jobList,
  mergePages,
  type MergedCursor,
  nextCursor,
  encodeMergedCursor,
} from '#libs/cursor';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import { type Replies, callAll, requireAll, requireDone } from './call-services.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { type Cell, moment, type Tone, toned } from './output/cell.ts';
import { fields, table } from './output/table.ts';
import { cursorText, parseId, parseLimit, parseMergedCursor, parseTime } from './parse-options.ts';

type Rpcs = ReturnType<typeof jobAdminRpcs>;
type Job = ReplyOf<Rpcs['adminListJobs']>['items'][number];
type Listed = Job & { readonly service: string };

interface Filter {
  service?: string;
  type?: string;
  key?: string;
  error?: string;
  conversation?: number;
  request?: string;
  createdAfter?: string;
  createdBefore?: string;
}

interface ListOptions extends Filter {
  state?: Job['state'];
  limit: number;
  cursor?: MergedCursor;
  before?: string;
}

export const contracts: readonly ServiceContract[] = [directory, conversations, transcripts, media, agents, events];

export const jobServices: readonly string[] = contracts
  .filter(({ rpcs }) => 'adminListJobs' in rpcs)
  .map(({ service }) => service);
const list = jobList(jobServices);
/**
 * The last service in cursor order. With it as the source of the cursor, `--before` excludes the jobs of every service
 * at exactly that time.
 */
const lastService = jobServices.toSorted().at(-1) ?? '';

const defaultLimit = 100;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function parseJobId(text: string): string {
  const id = text.toLowerCase();
  if (!uuid.test(id)) throw new InvalidArgumentError('must be a job id, as printed by `jobs list`.');
  return id;
}

export function register(group: Command, context: CliContext): void {
  const withFilter = (command: Command): Command =>
    command
      .addOption(new Option('--service <name>', 'only jobs of this service').choices(jobServices))
      .option('--type <type>', 'only jobs of this type, e.g. transcripts.transcript-import')
      .option('--key <key>', 'only jobs with this key')
      .option('--error <text>', 'only jobs whose error contains this text')
      .option('--conversation <id>', 'only jobs of this conversation', parseId)
      .option('--request <id>', 'only jobs caused by this request')
      .option(
        '--created-after <time>',
        'only jobs created at this time or later: a date, an instant, or an age (2h)',
        (text) => parseTime(text),
      )
      .option('--created-before <time>', 'only jobs created before this time', (text) => parseTime(text));

  withFilter(group.command('list'))
    .description('Lists jobs, newest first')
    .addOption(new Option('--state <state>', 'only jobs in this state').choices(jobStates))
    .option('--limit <count>', 'maximum number of results, at most 1000', parseLimit, defaultLimit)
    .option('--cursor <cursor>', cursorText, parseMergedCursor(list))
    .option('--before <id>', 'jobs older than this one', parseJobId)
    .action(async ({ state, limit, cursor, before, ...filter }: ListOptions) => {
      const start =
        cursor ??
        (before === undefined ? startCursor : { ...startCursor, position: { at: before, source: lastService } });
      const services = jobServices.filter(
        (service) => (filter.service ?? service) === service && hasMore(start, service),
      );
      await context.bus();
      const answers = await callAll(services, async (service) => {
        const position = findPosition(start, service);
        const request = {
          ...toRequest(filter),
          limit: limit + 1,
          ...(state === undefined ? {} : { state }),
          ...(position === undefined ? {} : cursorFor(service, position)),
        };
        const { items } = await context.call(jobAdminRpcs(service).adminListJobs, request);
        return items.map((item): Listed => ({ service, ...item }));
      });
      const { found, failures } = answers;
      if (found.length === 0) requireAll(answers);
      const { items, next } = mergePages(found, {
        limit,
        positionOf: ({ id, service }) => ({ at: id, source: service }),
      });
      const nextPosition = nextCursor(start, { next, missing: [...failures.keys()] });
      const more =
        nextPosition === undefined ? [] : [`More results: --cursor ${encodeMergedCursor(list, nextPosition)}`];
      context.print(items, table(items, columns, 'No jobs found.'), ...more);
      requireAll(answers);
    });

  group
    .command('show')
    .description('Shows a job with its payload and result')
    .argument('<id>', 'job', parseJobId)
    .action(async (id: string) => {
      const { service, job } = await findJob(context, id);
      const { payload, result, attempts, ...rest } = job;
      context.print(
        { service, ...job },
        fields({
          id,
          service,
          type: rest.type,
          state: stateOf(rest),
          attempts: attempts.length,
          key: rest.key,
          phase: rest.phase,
          worker: rest.worker,
          'request id': rest.request_id,
          created: moment(rest.created_at),
          runs: rest.state === 'queued' ? moment(rest.run_at) : null,
          started: moment(rest.started_at),
          finished: moment(rest.finished_at),
          error: rest.error,
          payload: JSON.stringify(payload),
          result: result === null ? null : JSON.stringify(result),
        }),
        ...(attempts.length === 0 ? [] : ['', table(attempts, attemptColumns, '')]),
      );
    });

  for (const { name, change, counted, description, done } of [
    {
      name: 'redrive',
      change: (rpcs: Rpcs, request: Request) => context.call(rpcs.adminRedriveJobs, request),
      counted: 'redriven',
      description: 'Queues dead jobs again with all attempts: all that match, or one by its id (also a cancelled one)',
      done: 'queued again',
    },
    {
      name: 'discard',
      change: (rpcs: Rpcs, request: Request) => context.call(rpcs.adminCancelJobs, { ...request, state: 'dead' }),
      counted: 'discarded',
      description: 'Cancels dead jobs, all that match or one by its id: they no longer count for alerts',
      done: 'cancelled',
    },
  ] as const) {
    withFilter(group.command(name))
      .description(description)
      .argument('[id]', 'job', parseJobId)
      .option('--all', 'all dead jobs; required without a filter')
      .option('--dry-run', 'count the jobs without changing them')
      .action(async (id: string | undefined, { all, dryRun, ...filter }: Filter & { all?: true; dryRun?: true }) => {
        const limited = Object.keys(filter).length > 0;
        if (id === undefined && !limited && all !== true)
          throw new CliError('Specify a job id, a filter, or --all.', 'usage');
        await changeJobs(context, {
          id,
          filter,
          dryRun,
          change,
          counted,
          done,
          refused: 'No dead jobs match: nothing changed.',
        });
      });
  }

  withFilter(group.command('cancel'))
    .description('Cancels queued and running jobs, all that match or one by its id; they can be redriven by id')
    .argument('[id]', 'job', parseJobId)
    .addOption(new Option('--state <state>', 'only jobs in this state').choices(['queued', 'running']))
    .option('--dry-run', 'count the jobs without changing them')
    .action(
      async (
        id: string | undefined,
        { dryRun, ...filter }: Filter & { state?: 'queued' | 'running'; dryRun?: true },
      ) => {
        if (id === undefined && Object.keys(filter).length === 0)
          throw new CliError('Specify a job id or a filter.', 'usage');
        if (id !== undefined && (await findJob(context, id)).job.state === 'dead')
          throw new CliError(await describeRefusal(context, id));
        const change = (rpcs: Rpcs, request: Request) => context.call(rpcs.adminCancelJobs, request);
        const refused = 'No queued or running jobs match: nothing changed.';
        await changeJobs(context, { id, filter, dryRun, change, counted: 'cancelled', done: 'cancelled', refused });
      },
    );
}

type Request = RequestOf<Rpcs['adminRedriveJobs']>;

/** Changes the jobs of every service, and prints the number of changed jobs. */
async function changeJobs(
  context: CliContext,
  act: {
    readonly id: string | undefined;
    readonly filter: Filter & { readonly state?: Job['state'] };
    readonly dryRun: true | undefined;
    readonly change: (rpcs: Rpcs, request: Request) => Promise<JobChange>;
    readonly counted: string;
    readonly done: string;
    readonly refused: string;
  },
): Promise<void> {
  const { id, filter, dryRun = false, change, counted, done, refused } = act;
  const request = {
    ...toRequest(filter),
    ...(filter.state === undefined ? {} : { state: filter.state }),
    ...(id === undefined ? {} : { ids: [id] }),
    dry_run: dryRun,
  };
  const { found, failures } = await callServices(context, filter.service, async (service, rpcs) => {
    const own = await change(rpcs, request);
    return { service, count: dryRun ? own.matched : own.changed };
  });
  const count = found.reduce((sum, own) => sum + own.count, 0);
  const verb = dryRun ? 'would be' : count === 1 ? 'is' : 'are';
  const summary = `${count === 1 ? '1 job' : `${count} jobs`} ${verb} ${done}`;
  // A job belongs to one service: after that service has changed it, missing replies of other services do not matter.
  if (id === undefined || count === 0) {
    const parts = found.filter((own) => own.count > 0).map((own) => `${own.service} ${own.count}`);
    const counts = Object.fromEntries(found.map((own) => [own.service, { [counted]: own.count }]));
    requireDone(failures, `${summary}${parts.length === 0 ? '' : ` (${parts.toSorted().join(', ')})`}.`, counts);
  }
  if (id !== undefined && count === 0) throw new CliError(await describeRefusal(context, id));
  context.print({ [counted]: count, ...(dryRun ? { dry_run: true } : {}) }, count === 0 ? refused : `${summary}.`);
}

const nextActions: Readonly<Record<Job['state'], string>> = {
  queued: 'cancel it with `jobs cancel`',
  running: 'cancel it with `jobs cancel`',
  dead: 'queue it again with `jobs redrive`, or cancel it with `jobs discard`',
  cancelled: 'queue it again with `jobs redrive` and its id',
  succeeded: 'no action is possible',
};

/**
 * Returns the state of a job that was not changed, and the possible actions. @throws CliError when the job does not
 * exist
 */
async function describeRefusal(context: CliContext, id: string): Promise<string> {
  const { job } = await findJob(context, id);
  return `Job ${id} is ${job.state}: ${nextActions[job.state]}.`;
}

function toRequest({ type, key, error, conversation, request, createdAfter, createdBefore }: Filter): Request {
  const given = {
    type,
    key,
    error,
    conversation_id: conversation,
    request_id: request,
    created_after: createdAfter,
    created_before: createdBefore,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Calls the service `only`, or all services with jobs. */
async function callServices<T>(
  context: CliContext,
  only: string | undefined,
  call: (service: string, rpcs: Rpcs) => Promise<T>,
): Promise<Replies<T>> {
  await context.bus();
  const services = jobServices.filter((service) => only === undefined || only === service);
  return callAll(services, (service) => call(service, jobAdminRpcs(service)));
}

async function findJob(
  context: CliContext,
  id: string,
): Promise<{ service: string; rpcs: Rpcs; job: ReplyOf<Rpcs['adminShowJob']> }> {
  const answers = await callServices(context, undefined, async (service, rpcs) => {
    try {
      return { service, rpcs, job: await context.call(rpcs.adminShowJob, { id }) };
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return undefined;
      throw error;
    }
  });
  const job = answers.found.find((item) => item !== undefined);
  if (job !== undefined) return job;
  requireAll(answers);
  throw new CliError(`There is no job ${id}.`, 'not_found');
}

const tones: Readonly<Record<Job['state'], Tone>> = {
  queued: 'wait',
  running: 'busy',
  succeeded: 'good',
  dead: 'bad',
  cancelled: 'dim',
};

const stateOf = ({ state, percent }: Pick<Job, 'state' | 'percent'>): Cell =>
  toned(state === 'running' && percent > 0 ? `${state} ${percent} %` : state, tones[state]);

type Attempt = ReplyOf<Rpcs['adminShowJob']>['attempts'][number];

const attemptColumns = {
  STARTED: ({ started_at: at }: Attempt) => moment(at),
  MS: ({ duration_ms: duration }: Attempt) => duration,
  WORKER: ({ worker }: Attempt) => worker,
  ERROR: ({ error }: Attempt) => error,
};

const columns = {
  ID: ({ id }: Listed) => id,
  TYPE: ({ type }: Listed) => type,
  STATE: stateOf,
  ATTEMPTS: ({ attempts }: Listed) => attempts,
  CREATED: ({ created_at: at }: Listed) => moment(at),
  RUNS: ({ state, run_at: at }: Listed) => (state === 'queued' ? moment(at) : null),
  ERROR: ({ error }: Listed) => error,
};
