/**
 * Faults that are injected into a running platform, one at a time. Each fault is reverted before the next one starts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runStatements } from '../../libs/product/testing/postgres-pair.ts';
import type { TcpProxy } from '../../libs/product/testing/tcp-proxy.ts';
import { waitFor } from '../../libs/product/testing/wait-for.ts';
import type { ServiceProcess } from '../../libs/product/servers/service-process.ts';
import type { ChaosPlatform } from './platform.ts';
import type { Random } from './random.ts';
import type { ChaosServers, NatsMember } from './servers.ts';

export interface Target {
  readonly chaos: ChaosPlatform;
  readonly servers: ChaosServers;
  readonly random: Random;
}

/** Injects a fault and resolves when it has been reverted. @returns the name of the affected process or server */
export type Fault = (target: Target) => Promise<string>;

/** Duration of faults that are reverted after a time. */
const longMs = 4_000;
const slowMs = 250;
const services = ['directory', 'conversations', 'media', 'transcripts', 'agents', 'events', 'api-gateway'] as const;
type Service = (typeof services)[number];

function pickProcess({ chaos, random }: Target, among: readonly Service[] = services): [string, ServiceProcess] {
  const name = `${random.pick(among)}${random.pick(['', '#2'])}`;
  const found = chaos.platform.processes.get(name);
  if (found === undefined) throw new Error(`${name} is not there`);
  return [name, found];
}

/** Power loss: kills one replica of a service, then restarts it. */
const killService =
  (...among: Service[]): Fault =>
  async (target) => {
    const [name, running] = pickProcess(target, among);
    running.kill('SIGKILL');
    await running.ended;
    await target.chaos.platform.restart(name);
    return name;
  };

/** Deployment: stops a process gracefully and restarts it. */
const restartService: Fault = async (target) => {
  const [name, running] = pickProcess(target);
  running.kill('SIGTERM');
  const end = await running.ended;
  await target.chaos.platform.restart(name);
  return `${name}, which ${end}`;
};

/** Freezes a process: its connections remain open, and it later continues as if no time had passed. */
const freezeService: Fault = async (target) => {
  const [name, running] = pickProcess(target);
  running.kill('SIGSTOP');
  try {
    await sleep(longMs);
  } finally {
    running.kill('SIGCONT');
  }
  return name;
};

async function loseBroker(servers: ChaosServers, member: NatsMember): Promise<string> {
  process.kill(member.server.identity.pid, 'SIGKILL');
  await member.server.ended;
  await waitFor(() => servers.findLeader(), { what: 'another leader' });
  await member.restart();
  await servers.waitUntilWhole();
  return member.name;
}

const loseLeader: Fault = async ({ servers }) => loseBroker(servers, await servers.findLeader());

const freezeBroker: Fault = async ({ servers, random }) => {
  const member = random.pick(servers.nats);
  process.kill(member.server.identity.pid, 'SIGSTOP');
  try {
    await sleep(longMs);
  } finally {
    process.kill(member.server.identity.pid, 'SIGCONT');
  }
  await servers.waitUntilWhole();
  return member.name;
};

/** Kills the primary; the standby, which has every acknowledged commit, is promoted. */
const loseDatabase: Fault = async ({ servers }) => {
  const { postgres } = servers;
  const { host } = new URL(postgres.primary.url);
  await postgres.losePrimary();
  await postgres.promote();
  await sleep(longMs);
  await postgres.rejoin();
  return host;
};

const loseObjectStore: Fault = async ({ servers: { objectStore } }) => {
  process.kill(objectStore.server.identity.pid, 'SIGKILL');
  await objectStore.server.ended;
  await sleep(longMs / 2);
  await objectStore.restart();
  return 'the object store';
};

/** Reported instead of a target when a disk fault could not be injected. */
export const noDisk = 'nothing: this machine allows no small disks (user name spaces)';

/** Fills the disk of the object store, then frees it. */
const fillObjectStoreDisk: Fault = async ({ servers }) => {
  const disk = servers.findDisk(servers.objectStore.dataDir);
  if (disk === undefined) return noDisk;
  disk.fill();
  await sleep(longMs);
  disk.empty();
  return 'the object store';
};

/** Fills the disk of the primary. PostgreSQL stops when it needs space for its log, and the standby is promoted. */
const fillDatabaseDisk: Fault = async ({ servers: { postgres, findDisk } }) => {
  const { primary } = postgres;
  const disk = findDisk(primary.dataDir);
  if (disk === undefined) return noDisk;
  let end: string | undefined;
  void primary.ended.then((text) => (end = text));
  disk.fill();
  await sleep(longMs);
  disk.empty();
  const { host } = new URL(primary.url);
  await waitFor(() => end !== undefined || runStatements(primary.url, 'select 1').then(() => true), {
    what: 'PostgreSQL, or its end',
  });
  if (end === undefined) return host;
  await postgres.promote();
  await postgres.rejoin();
  return `${host}, which ${end}`;
};

/** Fills the disk of one NATS server. The server stores no messages until space is freed and it is restarted. */
const fillBrokerDisk: Fault = async ({ servers }) => {
  const member = servers.nats.find(({ dataDir }) => servers.findDisk(dataDir) !== undefined);
  if (member === undefined) return noDisk;
  const disk = servers.findDisk(member.dataDir);
  disk?.fill();
  await sleep(longMs);
  disk?.empty();
  await member.server.stop();
  await member.restart();
  await servers.waitUntilWhole();
  return member.name;
};

/** Shifts the clock of one process by an hour, then corrects it. */
const jumpClock: Fault = async (target) => {
  const [name, running] = pickProcess(target);
  const [hours, where] = target.random.pick([[1, 'ahead'] as const, [-1, 'back'] as const]);
  target.chaos.shiftClock(running, hours * 3_600_000);
  await sleep(longMs / 2);
  target.chaos.shiftClock(running, 0);
  return `${name}, an hour ${where}`;
};

type Line = 'database' | 'broker' | 'object store';
const proxiesOf = (servers: ChaosServers, line: Line): readonly TcpProxy[] =>
  ({ database: servers.databaseProxies, broker: servers.natsProxies, 'object store': [servers.objectStoreProxy] })[
    line
  ];

/** Injects a fault in which a connection is reset and new connections are refused. */
const cutLine =
  (line: Line): Fault =>
  async ({ servers }) => {
    const proxies = proxiesOf(servers, line);
    for (const proxy of proxies) proxy.cut();
    await sleep(longMs / 2);
    for (const proxy of proxies) proxy.restore();
    return line;
  };

/** Injects a fault in which connections are accepted and remain open, but receive no data (half-open). */
const hangLine =
  (line: Line): Fault =>
  async ({ servers }) => {
    const proxies = proxiesOf(servers, line);
    for (const proxy of proxies) proxy.hang();
    await sleep(longMs);
    for (const proxy of proxies) proxy.restore();
    return line;
  };

/** Injects a fault in which every answer is delayed. */
const slowLine =
  (line: Line): Fault =>
  async ({ servers }) => {
    const proxies = proxiesOf(servers, line);
    for (const proxy of proxies) proxy.delay(slowMs);
    await sleep(longMs);
    for (const proxy of proxies) proxy.delay(0);
    return line;
  };

/** Faults by the names that `--faults` accepts. */
export const faults: Readonly<Record<string, Fault>> = {
  'kill-service': killService(...services),
  'kill-gateway': killService('api-gateway'),
  'restart-service': restartService,
  'freeze-service': freezeService,
  'lose-leader': loseLeader,
  'freeze-broker': freezeBroker,
  'lose-database': loseDatabase,
  'lose-object-store': loseObjectStore,
  'fill-database-disk': fillDatabaseDisk,
  'fill-broker-disk': fillBrokerDisk,
  'fill-object-store-disk': fillObjectStoreDisk,
  'jump-clock': jumpClock,
  'cut-database': cutLine('database'),
  'cut-broker': cutLine('broker'),
  'cut-object-store': cutLine('object store'),
  'hang-database': hangLine('database'),
  'hang-broker': hangLine('broker'),
  'hang-object-store': hangLine('object store'),
  'slow-database': slowLine('database'),
  'slow-broker': slowLine('broker'),
  'slow-object-store': slowLine('object store'),
};

/** Yields all faults in a seeded order, repeatedly. */
export function* listTurns(names: readonly string[], random: Random): Generator<string> {
  for (;;) {
    const remainingMs = [...names];
    while (remainingMs.length > 0) yield remainingMs.splice(random.below(remainingMs.length), 1)[0] ?? '';
  }
}
