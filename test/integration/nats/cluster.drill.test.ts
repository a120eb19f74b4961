/** Three real servers that replicate the streams: the loss of any one is tolerated (rules/operations#promises). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect as connectToServer } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/infrastructure/logger';
import { type Bus, connectBus, type StreamName, streamNames } from '#libs/infrastructure/nats';
import { waitFor } from '#libs/product/testing';
import { provideGoTool } from '../../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../../libs/product/servers/go-tools.ts';
import { type NatsServer, startNats } from '../../../libs/product/servers/nats.ts';
import { findFreePort } from '../../../libs/product/servers/ports.ts';
import { makeStreams } from '../../../tools/streams.ts';
import { isRelease, sized } from '../../drill.ts';
import { context, handlers, library } from './parties.ts';

interface Member {
  readonly name: string;
  readonly port: number;
  readonly route: number;
  server: NatsServer;
}

const logger = createLogger({ service: 'test', level: 'fatal' });
const names = ['one', 'two', 'three'];
const limit = 32 * 1024 * 1024;
const limits = { JOBS: limit, EVENTS: limit, WEBHOOKS: limit };
/** Time in which calls may fail after a server is lost. */
const longestOutageMs = 5_000;
let dir: string;
let members: Member[] = [];
let url: string;
let desk: Bus;
let shelves: Bus[] = [];
const worked: string[] = [];

async function start(name: string, port: number, route: number, routes: readonly number[]): Promise<NatsServer> {
  const program = await provideGoTool(natsServerTool, () => {});
  const dataDir = join(dir, name);
  return startNats({
    program,
    dataDir,
    logFile: join(dir, `${name}.log`),
    durable: false,
    port,
    cluster: { name, port: route, routes },
  });
}

const routesOf = (): number[] => members.map(({ route }) => route);
const connect = (name: string): Promise<Bus> => connectBus({ url, name, logger });
const setUp = (replicas?: number): Promise<void> => makeStreams({ url, prefix: '', logger, limits, replicas });

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'coherence-nats-cluster-'));
  const ports: number[] = [];
  while (ports.length < 6) ports.push(await findFreePort());
  const routes = ports.slice(3);
  const servers = await Promise.all(
    names.map((name, index) => start(name, ports[index] ?? 0, routes[index] ?? 0, routes)),
  );
  members = servers.map((server, index) => ({
    name: names[index] ?? '',
    port: ports[index] ?? 0,
    route: routes[index] ?? 0,
    server,
  }));
  url = members.map(({ server }) => server.url).join(',');
  await waitFor(() => setUp().then(() => true), { what: 'a leader of the cluster' });
  desk = await connect('desk');
  shelves = await Promise.all(['shelf-1', 'shelf-2'].map(connect));
  for (const bus of shelves) {
    await bus.serve(library, handlers({ getBook: ({ id }) => Promise.resolve({ id, title: 'here' }) }));
    await bus.consume(
      { stream: 'JOBS', durable: 'w', filter: 'jobs.w.>', concurrency: 4, ackWaitMs: 5_000 },
      async (delivery) => {
        worked.push(Buffer.from(delivery.data).toString('utf8'));
        delivery.ack();
      },
    );
  }
});
afterAll(async () => {
  for (const { server } of members) signal(server, 'SIGCONT');
  await Promise.all([desk, ...shelves].map((bus) => bus.close()));
  await Promise.all(members.map(({ server }) => server.stop()));
  rmSync(dir, { recursive: true, force: true });
});

function signal({ identity }: NatsServer, name: NodeJS.Signals): void {
  try {
    process.kill(identity.pid, name);
  } catch {
    // The process has exited.
  }
}

/**
 * Returns the leader of a stream, the expected number of other replicas, and the number of these that are up to date.
 */
async function look(
  stream: StreamName,
): Promise<{ leader: string | undefined; copies: number; current: number; messages: number }> {
  const connection = await connectToServer({ servers: url.replaceAll('nats://', '').split(',') });
  try {
    const { cluster, state } = await (await jetstreamManager(connection, { checkAPI: false })).streams.info(stream);
    const replicas = cluster?.replicas ?? [];
    const current = replicas.filter((replica) => replica.current && !replica.offline).length;
    return { leader: cluster?.leader, copies: replicas.length, current, messages: state.messages };
  } finally {
    await connection.close();
  }
}

async function leaderOf(stream: StreamName): Promise<Member> {
  const { leader } = await look(stream);
  const found = members.find(({ name }) => name === leader);
  if (found === undefined) throw new Error(`${stream} has no leader`);
  return found;
}

const waitForCopies = (): Promise<unknown> =>
  waitFor(
    async () =>
      (await Promise.all(streamNames.map(look))).every(({ leader, current }) => leader !== undefined && current === 2),
    {
      what: 'two copies of each stream',
    },
  );

interface Outage {
  /** The longest time until a call or publication succeeded, including retries. */
  longestMs: number;
  stored: string[];
}

interface Observed {
  calls: Outage;
  jobs: Outage;
}

/** Long enough for effects that appear only after a timeout. */
const observedMs = sized({ smoke: 1_000, release: 6_000 });
/** The number of successful calls and of successful publications after which the service counts as recovered. */
const enough = 20;
let series = 0;

/**
 * Sends calls and publishes jobs one after the other, each retried until it succeeds, from before `harm` until the
 * service has recovered.
 */
async function observe(harm: () => Promise<unknown>): Promise<Observed> {
  const from = ++series;
  const state = { goesOn: true };
  const outage = (): Outage => ({ longestMs: 0, stored: [] });
  const seen = { calls: outage(), jobs: outage() };
  const run = async (kind: Outage, once: (name: string) => Promise<unknown>): Promise<void> => {
    for (let n = 0; state.goesOn; n++) {
      const name = `${from}-${n}`;
      const startedAt = performance.now();
      await waitFor(() => once(name), { what: name, intervalMs: 20 });
      kind.longestMs = Math.max(kind.longestMs, performance.now() - startedAt);
      kind.stored.push(name);
    }
  };
  const deadline = (): number => Date.now() + 1_000;
  const work = Promise.all([
    run(seen.calls, () => desk.call(library.rpcs.getBook, { id: 1 }, { ...context(), deadlineMs: deadline() })),
    // Publishes again with the same id until the message is confirmed, as the outbox does.
    run(seen.jobs, (name) => desk.publishDurable('jobs.w.x', name, { msgId: name, timeoutMs: 1_000 })),
  ]);
  const kinds = [seen.calls, seen.jobs];
  await waitFor(() => kinds.every(({ stored }) => stored.length >= enough));
  await harm();
  const until = performance.now() + observedMs;
  await waitFor(() => performance.now() > until, { intervalMs: 100 });
  const before = kinds.map(({ stored }) => stored.length);
  await waitFor(() => kinds.every(({ stored }, index) => stored.length >= (before[index] ?? 0) + enough), {
    what: 'calls and jobs',
  });
  state.goesOn = false;
  await work;
  return seen;
}

/**
 * Checks that every confirmed job has run. Calls may fail only for a limited time, because a client then receives 503;
 * jobs wait in the outbox instead.
 */
async function expectNothingLost({ calls, jobs }: Observed): Promise<void> {
  await waitFor(() => jobs.stored.every((name) => worked.includes(name)), { what: 'every confirmed job' });
  if (isRelease) expect(calls.longestMs).toBeLessThan(longestOutageMs);
}

describe('streams on a NATS cluster (NATS_STREAM_REPLICAS)', () => {
  it('creates streams with one replica by default, and extends them to three in a running installation without losing messages', async () => {
    expect((await look('WEBHOOKS')).copies).toBe(0);
    for (let n = 0; n < 50; n++)
      await desk.publishDurable('webhooks.shop.orders', `order ${n}`, { msgId: `order-${n}` });
    const { jobs } = await observe(() => setUp(3));
    await waitForCopies();
    expect((await look('WEBHOOKS')).messages).toBe(50);
    await waitFor(() => jobs.stored.every((name) => worked.includes(name)), { what: 'every confirmed job' });
    // Without a configured replica count the streams are unchanged.
    await setUp();
    expect((await look('WEBHOOKS')).copies).toBe(2);
  });

  it('rejects more stream replicas than servers, with a message that names the setting', async () => {
    await expect(setUp(5)).rejects.toThrow(/cannot keep stream JOBS on 5 servers, as NATS_STREAM_REPLICAS asks: /);
    expect((await look('JOBS')).copies).toBe(2);
  });
});

const losses = { 'is killed': 'SIGKILL', 'hangs and says nothing': 'SIGSTOP' } as const;
type Loss = keyof typeof losses;

describe('the loss of one of three NATS servers', () => {
  it.each(sized<readonly Loss[]>({ smoke: ['is killed'], release: ['is killed', 'hangs and says nothing'] }))(
    'recovers within five seconds and loses no confirmed message when the server that leads the jobs %s',
    async (loss) => {
      await waitForCopies();
      const lost = await leaderOf('JOBS');
      const observed = await observe(async () => signal(lost.server, losses[loss])).finally(() =>
        signal(lost.server, 'SIGCONT'),
      );
      if (loss === 'is killed') {
        expect((await leaderOf('JOBS')).name).not.toBe(lost.name);
        lost.server = await start(lost.name, lost.port, lost.route, routesOf());
      }
      await waitForCopies();
      await expectNothingLost(observed);
    },
  );

  it('uses a server that was down when the client connected, after the other servers fail', async () => {
    const [first, ...others] = members as [Member, Member, Member];
    await first.server.stop();
    const late = await connect('late');
    try {
      first.server = await start(first.name, first.port, first.route, routesOf());
      await waitForCopies();
      for (const { server } of others) signal(server, 'SIGSTOP');
      // Two of three servers hang: streams have no leader, but the remaining server accepts connections.
      await waitFor(() => late.ping().then(() => true), { what: 'a connection to the one that is left' });
    } finally {
      for (const { server } of others) signal(server, 'SIGCONT');
      await late.close();
    }
    await waitForCopies();
  });
});
