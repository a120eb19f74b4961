/** `jobs list|show|redrive|discard|cancel` over every service that has jobs (architecture#jobs; rules/cli#admin-cli). */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { jobAdminRpcs, jobStates, type ReplyOf, type ServiceContract } from '#libs/contract';
import { AppError } from '#libs/errors';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import type { CliContext } from './context.ts';
import { CliError, describeFailure } from './failure.ts';
import { type Cell, moment, type Tone, toned } from './output/cell.ts';
import { fields, table } from './output/table.ts';
import { parseLimit } from './parse-limit.ts';

type Rpcs = ReturnType<typeof jobAdminRpcs>;
type Job = ReplyOf<Rpcs['jobsList']>['items'][number];
type Listed = Job & { readonly service: string };

interface Filter {
  service?: string;
  type?: string;
  key?: string;
  error?: string;
}

const contracts: readonly ServiceContract[] = [directory, conversations, transcripts, media, agents];

/** Services whose jobs can be listed. */
export const jobServices: readonly string[] = contracts.filter(({ rpcs }) => 'jobsList' in rpcs).map(({ service }) => service);

const defaultLimit = 100;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function parseJobId(text: string): string {
  const id = text.toLowerCase();
  if (!uuid.test(id)) throw new InvalidArgumentError('must be the id of a job, as `jobs list` shows it.');
  return id;
}

export function register(program: Command, context: CliContext): void {
  const group = program.command('jobs').description('Jobs of all services: what waits, runs, is done, dead or cancelled');
  const withFilter = (command: Command): Command =>
    command
      .addOption(new Option('--service <name>', 'only jobs of this service').choices(jobServices))
      .option('--type <type>', 'only this type, e.g. transcripts.transcript-import')
      .option('--key <key>', 'only this key')
      .option('--error <text>', 'only jobs whose error contains this');

  withFilter(group.command('list'))
    .description('Lists jobs, newest first')
    .addOption(new Option('--state <state>', 'only jobs in this state').choices(jobStates))
    .option('--limit <count>', 'at most this many, at most 1000', parseLimit, defaultLimit)
    .option('--before <id>', 'the page after the one that ends with this job', parseJobId)
    .action(async ({ state, limit, before, ...filter }: Filter & { state?: Job['state']; limit: number; before?: string }) => {
      const { found, failures } = await askAll(context, filter.service, async (service, rpcs) => {
        const request = {
          ...toRequest(filter),
          limit,
          ...(state === undefined ? {} : { state }),
          ...(before === undefined ? {} : { before }),
        };
        const { items } = await context.call(rpcs.jobsList, request);
        return items.map((item): Listed => ({ service, ...item }));
      });
      const items = found
        .flat()
        .toSorted((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit);
      const last = items.length < limit ? undefined : items.at(-1);
      const more = last === undefined ? [] : [`There may be more: --before ${last.id}`];
      context.print(items, table(items, columns, 'There are no such jobs.'), ...more);
      throwFailures(failures);
    });

  group
    .command('show')
    .description('Shows a job with its payload and result')
    .argument('<id>', 'job', parseJobId)
    .action(async (id: string) => {
      const { service, job } = await findJob(context, id);
      const { payload, result, ...rest } = job;
      context.print(
        { service, ...job },
        fields({
          id,
          service,
          type: rest.type,
          state: stateOf(rest),
          attempts: rest.attempts,
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
      );
    });

  for (const { name, rpcOf, counted, description, done } of [
    {
      name: 'redrive',
      rpcOf: (rpcs: Rpcs) => rpcs.jobsRedrive,
      counted: 'redriven',
      description: 'Queues dead jobs again, with all their attempts: one by its id (a cancelled one too), or all that match',
      done: 'queued again',
    },
    {
      name: 'discard',
      rpcOf: (rpcs: Rpcs) => rpcs.jobsDiscard,
      counted: 'discarded',
      description: 'Gives dead jobs up, one by its id or all that match: they are cancelled, and no longer counted or warned of',
      done: 'cancelled',
    },
  ] as const) {
    withFilter(group.command(name))
      .description(description)
      .argument('[id]', 'job', parseJobId)
      .option('--all', 'every dead job, when nothing else limits them')
      .action(async (id: string | undefined, { all, ...filter }: Filter & { all?: true }) => {
        const limited = Object.keys(filter).length > 0;
        if (id === undefined && !limited && all !== true) throw new CliError('Name a job, a filter, or --all.', 'usage');
        const { found, failures } = await askAll(context, filter.service, async (_service, rpcs) => {
          const reply = await context.call(rpcOf(rpcs), { ...toRequest(filter), ...(id === undefined ? {} : { id }) });
          return Number((reply as Record<string, unknown>)[counted]);
        });
        const count = found.reduce((sum, own) => sum + own, 0);
        const told = count === 1 ? `1 job is ${done}.` : `${count} jobs are ${done}.`;
        throwFailures(failures, count === 0 ? '' : `${told} `);
        if (id !== undefined && count === 0) throw new CliError(await describeRefusal(context, id));
        context.print({ [counted]: count }, count === 0 ? 'No dead job matches: nothing was changed.' : told);
      });
  }

  group
    .command('cancel')
    .description('Ends a queued or running job: it is cancelled, and can be redriven by its id')
    .argument('<id>', 'job', parseJobId)
    .action(async (id: string) => {
      const { rpcs } = await findJob(context, id);
      const cancelled = Number((await context.call(rpcs.jobsCancel, { id }))['cancelled']);
      if (cancelled === 0) throw new CliError(await describeRefusal(context, id));
      context.print({ cancelled }, `Job ${id} is cancelled.`);
    });
}

const waysOut: Readonly<Record<Job['state'], string>> = {
  queued: '`jobs cancel` ends it',
  running: '`jobs cancel` ends it',
  dead: '`jobs redrive` queues it again, `jobs discard` gives it up',
  cancelled: '`jobs redrive` with its id queues it again',
  succeeded: 'there is nothing left to do',
};

/** Why nothing was done to a job, and what can be. @throws CliError when there is no such job */
async function describeRefusal(context: CliContext, id: string): Promise<string> {
  const { job } = await findJob(context, id);
  return `Job ${id} is ${job.state}: ${waysOut[job.state]}.`;
}

function toRequest({ type, key, error }: Filter): { type?: string; key?: string; error?: string } {
  return { ...(type === undefined ? {} : { type }), ...(key === undefined ? {} : { key }), ...(error === undefined ? {} : { error }) };
}

interface Answers<T> {
  readonly found: T[];
  readonly failures: string[];
}

/** Asks every service, or the named one. One that does not answer hides nothing that the others say. */
async function askAll<T>(
  context: CliContext,
  only: string | undefined,
  ask: (service: string, rpcs: Rpcs) => Promise<T>,
): Promise<Answers<T>> {
  await context.bus();
  const found: T[] = [];
  const failures: string[] = [];
  const services = jobServices.filter((service) => only === undefined || only === service);
  await Promise.all(
    services.map(async (service) => {
      try {
        found.push(await ask(service, jobAdminRpcs(service)));
      } catch (error) {
        failures.push(`${service}: ${describeFailure(error)}`);
      }
    }),
  );
  return { found, failures };
}

function throwFailures(failures: readonly string[], done = ''): void {
  if (failures.length > 0) throw new CliError(`${done}No answer from ${failures.join('; ')}`, 'unavailable');
}

async function findJob(context: CliContext, id: string): Promise<{ service: string; rpcs: Rpcs; job: ReplyOf<Rpcs['jobsShow']> }> {
  const { found, failures } = await askAll(context, undefined, async (service, rpcs) => {
    try {
      return { service, rpcs, job: await context.call(rpcs.jobsShow, { id }) };
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return undefined;
      throw error;
    }
  });
  const job = found.find((item) => item !== undefined);
  if (job !== undefined) return job;
  throwFailures(failures);
  throw new CliError(`There is no job ${id}.`, 'not_found');
}

const tones: Readonly<Record<Job['state'], Tone>> = { queued: 'wait', running: 'busy', succeeded: 'good', dead: 'bad', cancelled: 'dim' };

const stateOf = ({ state, percent }: Pick<Job, 'state' | 'percent'>): Cell =>
  toned(state === 'running' && percent > 0 ? `${state} ${percent} %` : state, tones[state]);

const columns = {
  ID: ({ id }: Listed) => id,
  TYPE: ({ type }: Listed) => type,
  STATE: stateOf,
  ATTEMPTS: ({ attempts }: Listed) => attempts,
  CREATED: ({ created_at: at }: Listed) => moment(at),
  RUNS: ({ state, run_at: at }: Listed) => (state === 'queued' ? moment(at) : null),
  ERROR: ({ error }: Listed) => error,
};
