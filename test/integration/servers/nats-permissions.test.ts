/**
 * Tests every subject with every account on a server with the production users: the allowed publications and
 * subscriptions match the contracts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { consumerOf } from '#libs/infrastructure/contract';
import { streams } from '#libs/infrastructure/nats';
import { provideGoTool } from '../../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../../libs/product/servers/go-tools.ts';
import { type NatsServer, startNats } from '../../../libs/product/servers/nats.ts';
import { listNatsUrls, listNatsUsers } from '../../../libs/product/servers/service-accounts.ts';
import { contracts } from '../../../libs/product/servers/service-contracts.ts';

const secret = 'a secret of this test';
const services = [...contracts.map(({ service }) => service), 'api-gateway'];
const users = [...services, 'cli'];
const variableOf = (user: string): string => `NATS_URL_${(user === 'api-gateway' ? 'gateway' : user).toUpperCase()}`;

/** Durable consumers with their owners. */
const queues = contracts.flatMap(({ service, jobs, consumers }) => [
  ...Object.values(jobs).map(({ type }) => ({
    service,
    stream: 'JOBS',
    durable: consumerOf(type),
    filter: `jobs.${type}`,
  })),
  ...Object.values(consumers ?? {}).map((consumer) => ({ service, ...consumer })),
]);

/** Every subject to which the platform publishes, with the users that may publish to it. */
const published: readonly (readonly [string, readonly string[]])[] = [
  ...contracts.flatMap(({ rpcs }) =>
    Object.values(rpcs).map(({ subject, callers }) => [subject, Object.keys(callers)] as const),
  ),
  ...contracts.flatMap(({ service, jobs }) =>
    Object.values(jobs).map(({ type, startedBy }) => [`jobs.${type}`, [service, ...startedBy]] as const),
  ),
  ...contracts.flatMap(({ service, events }) =>
    Object.values(events).map(({ subject }) => [subject, [service]] as const),
  ),
  ...contracts.flatMap(({ service, feed }) => (feed === undefined ? [] : [[`feed.${service}`, [service]] as const])),
  ...queues.filter(({ stream }) => stream === 'WEBHOOKS').map(({ filter }) => [filter, ['api-gateway']] as const),
  ...queues.flatMap(({ service, stream, durable, filter }) =>
    [
      `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
      `$JS.API.CONSUMER.CREATE.${stream}.${durable}.${filter}`,
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
      `$JS.ACK.${stream}.${durable}.1.1.1.1.0`,
    ].map((subject) => [subject, [service]] as const),
  ),
  ...Object.keys(streams).map((stream) => [`$JS.API.STREAM.INFO.${stream}`, users] as const),
  ['$SYS.REQ.USER.INFO', users] as const,
  ...['JOBS', 'EVENTS', 'FEED'].map((stream) => [`$JS.API.STREAM.PURGE.${stream}`, ['cli']] as const),
];

/** Subjects that only the administrator may use. */
const forbidden = [
  ...Object.keys(streams).flatMap((stream) => [
    ...['CREATE', 'UPDATE', 'DELETE', 'PURGE', 'MSG.GET', 'MSG.DELETE', 'SNAPSHOT', 'RESTORE'].map(
      (verb) => `$JS.API.STREAM.${verb}.${stream}`,
    ),
    `$JS.API.DIRECT.GET.${stream}`,
    `$JS.API.CONSUMER.CREATE.${stream}`,
    `$JS.API.CONSUMER.LIST.${stream}`,
    `$JS.API.CONSUMER.CREATE.${stream}.a-new-one`,
    `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.a-new-one`,
  ]),
  ...queues.flatMap(({ stream, durable, filter }) => [
    `$JS.API.CONSUMER.DELETE.${stream}.${durable}`,
    `$JS.API.CONSUMER.CREATE.${stream}.a-new-one.${filter}`,
    `$JS.API.CONSUMER.PAUSE.${stream}.${durable}`,
  ]),
  ...services.flatMap((service) => [
    `${service}.something.new`,
    `admin.${service}.something.new`,
    `jobs.${service}.something-new`,
    `events.${service}.something.new`,
    `webhooks.${service}.something-new`,
  ]),
  '$SRV.PING',
  '$SYS.REQ.SERVER.PING',
  '$JS.API.STREAM.NAMES',
  '$JS.API.ACCOUNT.PURGE.$G',
  'anything',
];

describe('NATS accounts (docs/adr/service-accounts.md)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'coherence-nats-'));
  let server: NatsServer;
  let urls: Record<string, string>;

  beforeAll(async () => {
    server = await startNats({
      program: await provideGoTool(natsServerTool, (line) => void process.stderr.write(`${line}\n`)),
      dataDir: join(dir, 'data'),
      logFile: join(dir, 'nats.log'),
      durable: false,
      users: listNatsUsers(secret, { anyPrefix: false }),
    });
    urls = listNatsUrls(server.url, secret);
  });
  afterAll(async () => {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** Runs `work` and returns the subjects that the server denied to `user`. */
  async function refusalsTo(
    user: string,
    operation: 'publish' | 'subscription',
    work: (connection: NatsConnection) => void,
  ): Promise<Set<string>> {
    const { hostname, port, username, password } = new URL(urls[variableOf(user)] ?? '');
    const connection = await connect({
      servers: `${hostname}:${port}`,
      user: username,
      pass: password,
      inboxPrefix: `_INBOX.${user}`,
    });
    const refused = new Set<string>();
    const listening = (async () => {
      for await (const status of connection.status()) {
        if (status.type !== 'error') continue;
        const error = status.error as Error & { operation?: string; subject?: string };
        if (error.operation === operation && error.subject !== undefined) refused.add(error.subject);
      }
    })();
    work(connection);
    await connection.flush();
    await connection.close();
    await listening;
    return refused;
  }

  it.each(users)('%s can publish the subjects of its contracts, and no others', async (user) => {
    const inboxes = [...users, 'admin', 'somebody'].map((name) => `_INBOX.${name}.token`);
    const subjects = [...new Set([...published.map(([subject]) => subject), ...forbidden, ...inboxes])];
    const refused = await refusalsTo(user, 'publish', (connection) => {
      for (const subject of subjects) connection.publish(subject, '{}');
    });
    const calls = (caller: string, callee: string): boolean =>
      contracts.some(
        ({ service, rpcs }) =>
          service === callee && Object.values(rpcs).some(({ callers }) => Object.hasOwn(callers, caller)),
      );
    const peers = users.filter((other) => calls(user, other) || calls(other, user));
    const expected = [
      ...published.filter(([, allowed]) => allowed.includes(user)).map(([subject]) => subject),
      ...['admin', ...peers].map((name) => `_INBOX.${name}.token`),
    ];
    expect(subjects.filter((subject) => !refused.has(subject)).toSorted()).toEqual([...new Set(expected)].toSorted());
  });

  it.each(users)('%s can subscribe to its own subjects and those that name it, and no others', async (user) => {
    const events = contracts.flatMap((contract) => Object.values(contract.events));
    const subjects = [
      ...[...users, 'admin'].map((name) => `_INBOX.${name}.>`),
      ...contracts.flatMap(({ service }) => [`${service}.>`, `${service}.*.*`, `admin.${service}.>`]),
      ...events.map(({ subject }) => subject),
      '>',
      '*.>',
      'jobs.>',
      'webhooks.>',
      'admin.>',
      '_INBOX.>',
      '$JS.>',
      '$SYS.>',
      '$SRV.>',
    ];
    const refused = await refusalsTo(user, 'subscription', (connection) => {
      for (const subject of subjects) connection.subscribe(subject, { callback: () => undefined });
    });
    const expected = [
      `_INBOX.${user}.>`,
      ...(contracts.some(({ service }) => service === user) ? [`${user}.*.*`, `admin.${user}.>`] : []),
      ...events.filter(({ subscribers }) => subscribers.includes(user)).map(({ subject }) => subject),
    ];
    expect(subjects.filter((subject) => !refused.has(subject)).toSorted()).toEqual(expected.toSorted());
  });
});
