/** `overview`: state of the platform, as reported by the services (P1). */
import type { Command } from 'commander';
import type { GetOverviewReply } from '../clients/typescript/operations.ts';
import type { CliContext } from './context.ts';
import { moment, toned } from './output/cell.ts';
import { table } from './output/table.ts';
import { requireAll } from './pages.ts';

type Overview = GetOverviewReply['body'];

export function register(overview: Command, context: CliContext): void {
  overview.action(async () => {
    const { body } = await context.http((api) => api.getOverview());
    const { services, dependencies, jobs, webhooks, streams, spool, logins } = body;
    context.print(
      body,
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
      `Webhooks buffered by the gateway: ${spool.entries} (${spool.bytes} bytes).`,
    );
    requireAll(services.filter(({ version }) => version === null).map(({ name }) => name));
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
