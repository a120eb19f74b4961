/** `overview`: state of the platform, as reported by the services (P1). */
import type { Command } from 'commander';
import { statusRpcs } from '#libs/contract';
import { streamNames } from '#libs/nats';
import { composeOverview, type Overview } from '#libs/overview';
import type { CliContext } from './context.ts';
import { CliError, describeFailure } from './failure.ts';
import { jobServices } from './jobs.ts';
import { moment, toned } from './output/cell.ts';
import { table } from './output/table.ts';

export function register(overview: Command, context: CliContext): void {
  overview.action(async () => {
    const bus = await context.bus();
    const failures: string[] = [];
    const overview = await composeOverview({
      services: jobServices,
      describe: async (name) => {
        const rpcs = statusRpcs(name);
        try {
          return await context.call(rpcs.adminDescribeService, {});
        } catch (error) {
          failures.push(`${name}: ${describeFailure(error)}`);
          throw error;
        }
      },
      streams: streamNames,
      streamSize: (name) => bus.streamSize(name),
    });
    const { services, dependencies, jobs, webhooks, streams, logins } = overview;
    context.print(
      // Gateways have no RPCs: each gateway reports its state and its spool over HTTP only, so the spool is not known
      // here.
      { ...overview, spool: null },
      table(services, serviceColumns, ''),
      '',
      table(dependencies, dependencyColumns, 'No dependencies reported.'),
      '',
      table(jobs, jobColumns, 'No jobs.'),
      '',
      table(webhooks, webhookColumns, 'No webhooks received within a day.'),
      '',
      table(streams, streamColumns, ''),
      '',
      `Failed logins within the last hour: ${logins.failed_last_hour}.`,
      'For the gateway and its spool see GET /api/ops/overview or the console.',
    );
    if (failures.length > 0) throw new CliError(`No reply from ${failures.join('; ')}`, 'unavailable');
  });
}

type Row<List extends 'services' | 'dependencies' | 'jobs' | 'webhooks' | 'streams'> = Overview[List][number];

const serviceColumns = {
  SERVICE: ({ name }: Row<'services'>) => name,
  STATE: ({ ready }: Row<'services'>) => (ready ? toned('ready', 'good') : toned('not ready', 'bad')),
  VERSION: ({ version }: Row<'services'>) => version,
  UP: ({ uptime_seconds: seconds }: Row<'services'>) => (seconds === null ? null : `${Math.floor(seconds / 60)} min`),
  MISSING: ({ missing }: Row<'services'>) => missing.join(', ') || null,
};
const dependencyColumns = {
  DEPENDENCY: ({ name }: Row<'dependencies'>) => name,
  STATE: ({ ready }: Row<'dependencies'>) => (ready ? toned('ready', 'good') : toned('not ready', 'bad')),
  DETAIL: ({ detail }: Row<'dependencies'>) => detail,
};
const jobColumns = {
  TYPE: ({ type }: Row<'jobs'>) => type,
  STATE: ({ state }: Row<'jobs'>) => toned(state, state === 'dead' ? 'bad' : 'dim'),
  JOBS: ({ count }: Row<'jobs'>) => count,
  OLDEST: ({ oldest_at: at }: Row<'jobs'>) => (at === null ? null : moment(at)),
};
const webhookColumns = {
  KIND: ({ kind }: Row<'webhooks'>) => kind,
  OUTCOME: ({ outcome }: Row<'webhooks'>) => outcome,
  HOUR: ({ last_hour: count }: Row<'webhooks'>) => count,
  DAY: ({ last_day: count }: Row<'webhooks'>) => count,
};
const streamColumns = {
  STREAM: ({ name }: Row<'streams'>) => name,
  MESSAGES: ({ messages }: Row<'streams'>) => messages,
  BYTES: ({ bytes }: Row<'streams'>) => bytes,
  LAG: ({ consumers }: Row<'streams'>) => consumers.reduce((sum, { lag }) => sum + lag, 0),
};
