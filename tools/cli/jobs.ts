/** `jobs list|show|redrive|discard|cancel` over every service that has jobs (architecture §2, Jobs; §7). */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { jobAdminRpcs, jobStates, type ReplyOf, type ServiceContract } from '#libs/contract';
import { AppError } from '#libs/errors';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import { CliError, describeFailure, type CliContext } from './context.ts';
import { parseLimit } from './parse-limit.ts';

type Rpcs = ReturnType<typeof jobAdminRpcs>;
type Job = ReplyOf<Rpcs['jobsList']>['items'][number];
type Listed = Job & { readonly service: string };

interface Filter {
  service?: string;
  type?: string;
  key?: string;
  error?: string;
  json?: true;
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
      .option('--error <text>', 'only jobs whose error contains this')
      .option('--json', 'print JSON');

  withFilter(group.command('list'))
    .description('Lists jobs, newest first')
    .addOption(new Option('--state <state>', 'only jobs in this state').choices(jobStates))
    .option('--limit <count>', 'at most this many, at most 1000', parseLimit, defaultLimit)
    .option('--before <id>', 'the page after the one that ends with this job', parseJobId)
    .action(async ({ state, limit, before, json, ...filter }: Filter & { state?: Job['state']; limit: number; before?: string }) => {
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
      if (json === true) context.printJson(items);
      else for (const item of items) context.printLine(describe(item));
      throwFailures(failures);
    });

  group
    .command('show')
    .description('Shows a job with its payload and result')
    .argument('<id>', 'job', parseJobId)
    .option('--json', 'print it as JSON')
    .action(async (id: string, { json }: { json?: true }) => {
      const { service, job } = await findJob(context, id);
      if (json === true) {
        context.printJson({ service, ...job });
        return;
      }
      context.printLine(describe({ service, ...job }));
      for (const name of ['key', 'phase', 'worker', 'request_id', 'created_at', 'run_at', 'started_at', 'finished_at'] as const) {
        if (job[name] !== null) context.printLine(`${name}: ${job[name]}`);
      }
      context.printLine(`payload: ${JSON.stringify(job.payload)}`);
      if (job.result !== null) context.printLine(`result: ${JSON.stringify(job.result)}`);
    });

  for (const { name, rpc, counted, description, done } of [
    {
      name: 'redrive',
      rpc: 'jobsRedrive',
      counted: 'redriven',
      description: 'Queues dead jobs again, with all their attempts: one by its id (a cancelled one too), or all that match',
      done: 'queued again',
    },
    {
      name: 'discard',
      rpc: 'jobsDiscard',
      counted: 'discarded',
      description: 'Gives dead jobs up, one by its id or all that match: they are cancelled, and no longer counted or warned of',
      done: 'cancelled',
    },
  ] as const) {
    withFilter(group.command(name))
      .description(description)
      .argument('[id]', 'job', parseJobId)
      .option('--all', 'every dead job, when nothing else limits them')
      .action(async (id: string | undefined, { json, all, ...filter }: Filter & { all?: true }) => {
        const limited = Object.keys(filter).length > 0;
        if (id === undefined && !limited && all !== true) throw new CliError('Name a job, a filter, or --all.', 2);
        const { found, failures } = await askAll(context, filter.service, async (_service, rpcs) => {
          const reply = await context.call(rpcs[rpc], { ...toRequest(filter), ...(id === undefined ? {} : { id }) });
          return Number((reply as Record<string, unknown>)[counted]);
        });
        const count = found.reduce((sum, own) => sum + own, 0);
        throwFailures(failures, count === 0 ? '' : `${count} jobs are ${done}. `);
        if (id !== undefined && count === 0) throw new CliError(await describeRefusal(context, id));
        if (json === true) context.printJson({ [counted]: count });
        else context.printLine(`${count === 1 ? '1 job is' : `${count} jobs are`} ${done}.`);
      });
  }

  group
    .command('cancel')
    .description('Ends a queued or running job: it is cancelled, and can be redriven by its id')
    .argument('<id>', 'job', parseJobId)
    .option('--json', 'print the count as JSON')
    .action(async (id: string, { json }: { json?: true }) => {
      const { rpcs } = await findJob(context, id);
      const cancelled = Number((await context.call(rpcs.jobsCancel, { id }))['cancelled']);
      if (cancelled === 0) throw new CliError(await describeRefusal(context, id));
      if (json === true) context.printJson({ cancelled });
      else context.printLine(`Job ${id} is cancelled.`);
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
  if (failures.length > 0) throw new CliError(`${done}No answer from ${failures.join('; ')}`);
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
  throw new CliError(`There is no job ${id}.`);
}

function describe({ id, type, state, attempts, percent, error, created_at, run_at }: Listed): string {
  const progress = state === 'running' && percent > 0 ? ` ${percent} %` : '';
  const when = state === 'queued' ? `runs at ${run_at}` : `created ${created_at}`;
  return `${id}  ${type}  ${state}${progress}  ${attempts} attempts  ${when}${error === null ? '' : `  ${error}`}`;
}
