/**
 * What the NATS user of each service may do, derived from the contracts: it answers its own subjects, calls the services whose contract it
 * imports, listens to events, and takes from its own queues alone. `files/nats-users.json` of the chart; `npm start` and the tests use it too.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceContract } from '#libs/contract';
import { consumerOf } from '#libs/jobs';
import { streams } from '#libs/nats';
import { pipelineJobs } from '#libs/pipeline';
import { contracts } from './service-contracts.ts';

/** A user as the server's configuration knows it. */
export interface NatsUser {
  readonly user: string;
  readonly password?: string;
  readonly permissions?: { readonly publish: { readonly allow: string[] }; readonly subscribe: { readonly allow: string[] } };
}

/** Starts the jobs of journey steps, whose declarations are in the registry and not in a contract that it imports. */
const pipelineStarter = 'conversations';

const servicesDir = join(import.meta.dirname, '..', '..', 'services');

/** The users, the administrator first: it makes the streams, and the admin CLI speaks as it. */
export function describePermissions(): NatsUser[] {
  const names = readdirSync(servicesDir).toSorted();
  return [
    { user: 'admin' },
    ...names.map((name) =>
      describeUser(
        name,
        contracts.find((contract) => contract.service === name),
      ),
    ),
  ];
}

export function describeNatsUsers(): Promise<string> {
  return Promise.resolve(`${JSON.stringify(describePermissions(), null, 2)}\n`);
}

function describeUser(service: string, contract: ServiceContract | undefined): NatsUser {
  const called = findCalled(service);
  const queues = contract === undefined ? [] : listQueues(contract);
  const publish = [
    '_INBOX.>',
    '$JS.API.INFO',
    ...Object.keys(streams).map((stream) => `$JS.API.STREAM.INFO.${stream}`),
    ...called.flatMap((other) => [`${other}.>`, `jobs.${other}.>`]),
    ...(service === pipelineStarter ? [...pipelineJobs.values()].map(({ jobType }) => `jobs.${jobType}`) : []),
    ...(contract === undefined ? ['webhooks.>'] : [`jobs.${service}.>`, `events.${service}.>`]),
    ...queues.flatMap(({ stream, durable, filter }) => [
      `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
      `$JS.API.CONSUMER.CREATE.${stream}.${durable}.${filter}`,
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
      `$JS.ACK.${stream}.${durable}.>`,
    ]),
  ];
  const subscribe = [`_INBOX.${service}.>`, 'events.>', '$SRV.>', ...(contract === undefined ? [] : [`${service}.>`])];
  return { user: service, permissions: { publish: { allow: publish }, subscribe: { allow: subscribe } } };
}

/** Durable consumers of a service: one for each job, and those that it declares. */
function listQueues({ jobs, consumers }: ServiceContract): { stream: string; durable: string; filter: string }[] {
  return [
    ...Object.values(jobs).map(({ type }) => ({ stream: 'JOBS', durable: consumerOf(type), filter: `jobs.${type}` })),
    ...Object.values(consumers ?? {}),
  ];
}

/** Other services whose contract a service imports: whoever talks to another one needs its declarations. */
function findCalled(service: string): string[] {
  const files = readdirSync(join(servicesDir, service), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const found = files.flatMap((file) =>
    [...readFileSync(join(servicesDir, service, file), 'utf8').matchAll(/'#services\/([a-z-]+)'/g)].map((match) => match[1] ?? ''),
  );
  return [...new Set(found)].filter((name) => name !== service).toSorted();
}
