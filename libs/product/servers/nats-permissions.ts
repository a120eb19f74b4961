/**
 * Permissions of each service's NATS user, derived from the contracts. A service may respond on its own subjects, call
 * the operations and start the jobs whose declarations name it, publish its own events, receive the events that name
 * it, and read its own queues. Everything else is denied. Used for `files/nats.conf` of the chart, `npm start` and the
 * tests.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  consumerOf,
  type Event,
  feedSubjectOf,
  type Job,
  type Rpc,
  type ServiceContract,
} from '#libs/infrastructure/contract';
import { streams } from '#libs/infrastructure/nats';
import { contracts } from './service-contracts.ts';

/** A user in the server's configuration. */
export interface NatsUser {
  readonly user: string;
  readonly password?: string;
  readonly permissions?: NatsPermissions;
}

export interface NatsPermissions {
  readonly publish: { readonly allow: readonly string[] };
  readonly subscribe: { readonly allow: readonly string[] };
}

/** Creates streams and has all permissions; used by the setup, not by services. */
const administrator = 'admin';
/** Receives webhooks for all services. */
const gateway = 'api-gateway';
/** NATS user of the admin CLI. */
export const operator = 'cli';

const servicesDir = join(import.meta.dirname, '..', '..', '..', 'services');

/** Returns the users, starting with the administrator. */
export function describePermissions(): NatsUser[] {
  const names = [...readdirSync(servicesDir).toSorted(), operator];
  return [
    { user: administrator },
    ...names.map((name) => ({ user: name, permissions: permissionsOf(name, contracts) })),
  ];
}

/** Returns the subjects that `user` may publish and subscribe to, given all contracts. */
export function permissionsOf(user: string, all: readonly ServiceContract[]): NatsPermissions {
  const own = all.find((contract) => contract.service === user);
  const list = <Item>(pick: (contract: ServiceContract) => Readonly<Record<string, Item>>): Item[] =>
    all.flatMap((contract) => Object.values(pick(contract)));
  const called = list<Rpc>(({ rpcs }) => rpcs).filter(({ callers }) => Object.hasOwn(callers, user));
  const started = list<Job>(({ jobs }) => jobs).filter(
    ({ type, startedBy }) => startedBy.includes(user) || type.startsWith(`${user}.`),
  );
  const received = list<Event>(({ events }) => events).filter(({ subscribers }) => subscribers.includes(user));
  const webhooks = user === gateway ? all.flatMap(({ consumers }) => Object.values(consumers ?? {})) : [];
  const publish = [
    ...findPeers(user, all).map((peer) => `_INBOX.${peer}.>`),
    // Lets a client read its own permissions.
    '$SYS.REQ.USER.INFO',
    ...Object.keys(streams).map((stream) => `$JS.API.STREAM.INFO.${stream}`),
    // After a restore the broker's messages belong to another state of the database (rules/operations#after-a-restore).
    ...(user === operator ? ['JOBS', 'EVENTS', 'FEED'].map((stream) => `$JS.API.STREAM.PURGE.${stream}`) : []),
    ...called.map(({ subject }) => subject),
    ...started.map(({ type }) => `jobs.${type}`),
    ...webhooks.filter(({ stream }) => stream === 'WEBHOOKS').map(({ filter }) => filter),
    ...Object.values(own?.events ?? {}).map(({ subject }) => subject),
    ...(own?.feed === undefined ? [] : [feedSubjectOf(user)]),
    ...(own === undefined ? [] : listQueues(own)).flatMap(({ stream, durable, filter }) => [
      `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
      `$JS.API.CONSUMER.CREATE.${stream}.${durable}.${filter}`,
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
      `$JS.ACK.${stream}.${durable}.>`,
    ]),
  ];
  const subscribe = [
    `_INBOX.${user}.>`,
    ...received.map(({ subject }) => subject),
    ...(own === undefined ? [] : [`${user}.*.*`, `admin.${user}.>`, ...listMonitoring(user)]),
  ];
  return { publish: { allow: publish }, subscribe: { allow: subscribe } };
}

/**
 * Returns the services to whose inboxes the user publishes: callers receive replies, and called services receive
 * flow-control messages of long replies.
 */
function findPeers(user: string, all: readonly ServiceContract[]): string[] {
  const callers = all
    .filter(({ service }) => service === user)
    .flatMap(({ rpcs }) => Object.values(rpcs).flatMap((rpc) => Object.keys(rpc.callers)));
  const callees = all
    .filter(({ rpcs }) => Object.values(rpcs).some((rpc) => Object.hasOwn(rpc.callers, user)))
    .map(({ service }) => service);
  return [...new Set([administrator, ...callers, ...callees])].toSorted();
}

/** Returns the subjects of the NATS services protocol. */
function listMonitoring(service: string): string[] {
  return ['PING', 'INFO', 'STATS'].flatMap((verb) => [
    `$SRV.${verb}`,
    `$SRV.${verb}.${service}`,
    `$SRV.${verb}.${service}.*`,
  ]);
}

/** Returns the durable consumers of a service: one for each job, and the consumers that the service declares. */
function listQueues({ jobs, consumers }: ServiceContract): { stream: string; durable: string; filter: string }[] {
  return [
    ...Object.values(jobs).map(({ type }) => ({ stream: 'JOBS', durable: consumerOf(type), filter: `jobs.${type}` })),
    ...Object.values(consumers ?? {}),
  ];
}
