/**
 * `jobs list|show|redrive|discard|cancel` over every service that has jobs (architecture#jobs; rules/cli#admin-cli).
 */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { jobStates } from '#libs/infrastructure/contract';
import { encodeMergedCursor, jobList, startCursor } from '#libs/infrastructure/cursor';
import { AppError } from '#libs/infrastructure/errors';
import type {
  CancelJobsReply,
  GetJobReply,
  ListJobsReply,
  ListJobsRequest,
  RedriveJobsRequest,
} from '../clients/typescript/operations.ts';
import { withFormerName, withPages, withTimes } from './common-options.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { type Cell, moment, type Tone, toned } from './output/cell.ts';
import { fields, table } from './output/table.ts';
import { describeNext, readPages, requireAll } from './pages.ts';
import { parseId } from './parse-options.ts';
import { serviceNames } from './services.ts';

type Listed = ListJobsReply['body']['items'][number];
type Job = GetJobReply['body'];
type Selection = RedriveJobsRequest['body'];
type Change = (selection: Selection) => Promise<{ readonly body: CancelJobsReply['body'] }>;

interface Filter {
  service?: (typeof serviceNames)[number];
  type?: string;
  key?: string;
  error?: string;
  conversation?: number;
  request?: string;
  since?: string;
  until?: string;
}

interface ListOptions extends Filter {
  state?: Listed['state'];
  limit: number;
  cursor?: string;
}

/**
 * The last service in cursor order. With it as the source of the cursor, `--before` excludes the jobs of every service
 * at exactly that time.
 */
const lastService = serviceNames.toSorted().at(-1) ?? '';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function parseJobId(text: string): string {
  const id = text.toLowerCase();
  if (!uuid.test(id)) throw new InvalidArgumentError('must be a job id, as printed by `jobs list`.');
  return id;
}

const cursorBefore = (id: string): string =>
  encodeMergedCursor(jobList(serviceNames), { ...startCursor, position: { at: parseJobId(id), source: lastService } });

export function register(group: Command, context: CliContext): void {
  const withFilter = (command: Command): Command => {
    withTimes(command, 'only jobs created')
      .addOption(new Option('--service <name>', 'only jobs of this service').choices(serviceNames))
      .option('--type <type>', 'only jobs of this type, e.g. transcripts.transcript-import')
      .option('--key <key>', 'only jobs with this key')
      .option('--error <text>', 'only jobs whose error contains this text')
      .option('--conversation <id>', 'only jobs of this conversation', parseId)
      .option('--request <id>', 'only jobs caused by this request');
    withFormerName(command, '--created-after <time>', '--since');
    return withFormerName(command, '--created-before <time>', '--until');
  };

  const list = withPages(withFilter(group.command('list')), 'jobs')
    .description('Lists jobs, newest first')
    .addOption(new Option('--state <state>', 'only jobs in this state').choices(jobStates));
  withFormerName(list, '--before <id>', '--cursor', cursorBefore).action(
    async ({ state, limit, cursor, ...filter }: ListOptions) => {
      const listed = { ...toFilter(filter), ...(state === undefined ? {} : { state }) };
      const page = await readPages(
        { limit, cursor },
        async (query) => (await context.http((api) => api.listJobs({ query: { ...listed, ...query } }))).body,
      );
      context.print(page.items, table(page.items, columns, 'No jobs found.'), ...describeNext(page));
      requireAll(page.missing);
    },
  );

  group
    .command('show')
    .description('Shows a job with its payload and result')
    .argument('<id>', 'job', parseJobId)
    .action(async (id: string) => {
      const job = await findJob(context, id);
      const { service, payload, result, attempts, ...rest } = job;
      context.print(
        job,
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
      change: (body: Selection) => context.http((api) => api.redriveJobs({ body })),
      counted: 'redriven',
      description: 'Queues dead jobs again with all attempts: all that match, or one by its id (also a cancelled one)',
      done: 'queued again',
    },
    {
      name: 'discard',
      change: (body: Selection) => context.http((api) => api.cancelJobs({ body })),
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
          // A filter is required, and both commands change dead jobs only.
          filter: { ...toFilter(filter), state: 'dead' },
          states: name === 'redrive' ? ['dead', 'cancelled'] : ['dead'],
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
        const { state, ...rest } = filter;
        await changeJobs(context, {
          id,
          filter: { ...toFilter(rest), ...(state === undefined ? {} : { state }) },
          states: state === undefined ? ['queued', 'running'] : [state],
          dryRun,
          change: (body: Selection) => context.http((api) => api.cancelJobs({ body })),
          counted: 'cancelled',
          done: 'cancelled',
          refused: 'No queued or running jobs match: nothing changed.',
        });
      },
    );
}

/** Changes one job or all that match, and prints the number of changed jobs. */
async function changeJobs(
  context: CliContext,
  act: {
    readonly id: string | undefined;
    readonly filter: NonNullable<Selection['filter']>;
    /** States in which a job can be changed by its id. */
    readonly states: readonly Job['state'][];
    readonly dryRun: true | undefined;
    readonly change: Change;
    readonly counted: string;
    readonly done: string;
    readonly refused: string;
  },
): Promise<void> {
  const { id, filter, states, dryRun = false, change, counted, done, refused } = act;
  const job = id === undefined ? undefined : await findJob(context, id);
  if (job !== undefined && !states.includes(job.state)) throw new CliError(describeRefusal(job));
  const chosen = job === undefined ? { filter } : { ids: [{ service: job.service, id: job.id }] };
  const { body } = await change({ ...chosen, dry_run: dryRun });
  const count = dryRun ? body.matched : body.changed;
  const verb = dryRun ? 'would be' : count === 1 ? 'is' : 'are';
  const summary = `${count === 1 ? '1 job' : `${count} jobs`} ${verb} ${done}.`;
  requireAll(body.missing, `${summary} `, { done: { [counted]: count } });
  if (job !== undefined && count === 0) throw new CliError(describeRefusal(await findJob(context, job.id)));
  context.print({ [counted]: count, ...(dryRun ? { dry_run: true } : {}) }, count === 0 ? refused : summary);
}

const nextActions: Readonly<Record<Job['state'], string>> = {
  queued: 'cancel it with `jobs cancel`',
  running: 'cancel it with `jobs cancel`',
  dead: 'queue it again with `jobs redrive`, or cancel it with `jobs discard`',
  cancelled: 'queue it again with `jobs redrive` and its id',
  succeeded: 'no action is possible',
};

/** Returns the state of a job that was not changed, and the possible actions. */
const describeRefusal = ({ id, state }: Job): string => `Job ${id} is ${state}: ${nextActions[state]}.`;

function toFilter({ service, type, key, error, conversation, request, since, until }: Filter) {
  const given = {
    service,
    type,
    key,
    error,
    conversation_id: conversation,
    request_id: request,
    created_after: since,
    created_before: until,
  };
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as ListJobsRequest['query'] & object;
}

/** Looks for a job in every service. @throws CliError when it does not exist, or a service does not reply */
async function findJob(context: CliContext, id: string): Promise<Job> {
  const missing: string[] = [];
  const found = await Promise.all(
    serviceNames.map(async (service) => {
      try {
        return (await context.http((api) => api.getJob({ path: { service, job_id: id } }))).body;
      } catch (error) {
        if (!(error instanceof AppError) || !['not_found', 'unavailable', 'deadline_exceeded'].includes(error.code))
          throw error;
        if (error.code !== 'not_found') missing.push(service);
        return undefined;
      }
    }),
  );
  const job = found.find((item) => item !== undefined);
  if (job !== undefined) return job;
  requireAll(missing.toSorted());
  throw new CliError(`Job ${id} does not exist.`, 'not_found');
}

const tones: Readonly<Record<Job['state'], Tone>> = {
  queued: 'wait',
  running: 'busy',
  succeeded: 'good',
  dead: 'bad',
  cancelled: 'dim',
};

const stateOf = ({ state, percent }: Pick<Listed, 'state' | 'percent'>): Cell =>
  toned(state === 'running' && percent > 0 ? `${state} ${percent} %` : state, tones[state]);

type Attempt = Job['attempts'][number];

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
