/** Measures the cost of each kind of request per part, on a dedicated platform after the demo. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { streams } from '#libs/infrastructure/nats';
import { type DemoPlatform, readMemory, withDemoPlatform } from '../bench/demo-platform.ts';
import { type Request, runLoad } from '../bench/load.ts';
import { type MeasuredCosts, type OperationCost, type Part, parts } from './costs.ts';
import { type Counted, nothing, readCounted } from './processes.ts';
import { listRequests } from './requests.ts';

/** Process name of `npm start` → component. */
const partOf: Readonly<Record<string, Part>> = { 'api-gateway': 'gateway', PostgreSQL: 'postgresql', NATS: 'nats' };
const streamNames = Object.keys(streams);
const connections = 8;
const warmUpSeconds = 2;
/** Delay after the requests for work that follows an answer, such as jobs and writing logs. */
const settleMs = 1_500;
/**
 * Duration of the measurement of background work, which is subtracted from the cost of requests. It starts after an
 * idle phase, since recently used code is still being compiled.
 */
const idleMs = 5_000;
const restMs = 10_000;
const sampleEveryMs = 100;

/** @param isSelected selects operations by name. @throws Error if `/proc` does not exist */
export function measure(
  seconds: number,
  isSelected: (operation: string) => boolean,
  log: (line: string) => void,
): Promise<MeasuredCosts> {
  return withDemoPlatform({ RATE_LIMIT_LOGIN_PER_MINUTE: '0' }, log, async (platform) => {
    const baseUrl = `http://127.0.0.1:${platform.settings['PORT']}`;
    const play = async (makeRequest: (index: number) => Request, length: number): Promise<number> =>
      (await runLoad({ baseUrl, connections, seconds: length, makeRequest })).requests;
    const requests = Object.entries(await listRequests(baseUrl, platform.settings)).filter(([operation]) =>
      isSelected(operation),
    );
    const meter = await openMeter(platform);
    try {
      const idle = await measureIdle(meter, log);
      // Kinds of requests that leave work behind run first, so that this work is finished when costs are measured.
      log('everything once, to warm up');
      for (const [, makeRequest] of requests.toReversed()) await play(makeRequest, warmUpSeconds);
      const operations: OperationCost[] = [];
      for (const [operation, makeRequest] of requests) {
        log(operation);
        operations.push({
          operation,
          ...(await measureOne(meter, { idle, seconds, load: (length) => play(makeRequest, length) })),
        });
      }
      const memory = new Map(platform.processes.map((item) => [partNamed(item.name), readMemory(item)]));
      return {
        machine: `${cpus().length} cores, ${cpus()[0]?.model.trim() ?? 'unknown'}`,
        syncsPerSecond: measureSyncs(),
        megabytes: byPart((part) => memory.get(part) ?? 0),
        operations,
      };
    } finally {
      await meter.close();
    }
  });
}

/** Measures the platform's background work per second after an idle phase. */
async function measureIdle(meter: Meter, log: (line: string) => void): Promise<Reading> {
  log('nothing, for comparison');
  await sleep(restMs);
  const rest = await meter.read();
  await sleep(idleMs);
  return differ(await meter.read(), rest, () => 0, 1_000 / idleMs);
}

const byPart = <Value>(of: (part: Part) => Value): Record<Part, Value> =>
  Object.fromEntries(parts.map((part) => [part, of(part)])) as Record<Part, Value>;

const partNamed = (name: string): Part =>
  partOf[name] ?? ((parts as readonly string[]).includes(name) ? (name as Part) : 'store');

interface Reading {
  readonly counted: Readonly<Record<Part, Counted>>;
  readonly databaseSyncs: number;
  readonly messages: number;
}

interface Meter {
  read(): Promise<Reading>;
  /** Returns the number of PostgreSQL connections in use. */
  countBusy(): Promise<number>;
  close(): Promise<void>;
}

async function openMeter({ settings, processes }: DemoPlatform): Promise<Meter> {
  const database = new pg.Client({ connectionString: settings['DATABASE_URL'], application_name: 'cost' });
  database.on('error', () => {}); // statements that fail report their errors themselves
  await database.connect();
  // Connects as the user of the admin CLI, which can read the streams by name.
  const { host, username, password } = new URL(settings['NATS_URL'] ?? '');
  const nats = await connect({ servers: host, user: username, pass: password, name: 'cli', inboxPrefix: '_INBOX.cli' });
  const manager = await jetstreamManager(nats, { checkAPI: false });
  return {
    read: async () => {
      const counted = readCounted(processes);
      const { rows } = await database.query<{ syncs: string }>(
        `select coalesce(sum(fsyncs), 0) as syncs from pg_stat_io where object = 'wal'`,
      );
      const sizes = await Promise.all(streamNames.map((name) => manager.streams.info(name)));
      return {
        counted: byPart(
          (part) =>
            processes
              .filter(({ name }) => partNamed(name) === part)
              .map(({ name }) => counted.get(name) ?? nothing)[0] ?? nothing,
        ),
        databaseSyncs: Number(rows[0]?.syncs),
        messages: sizes.reduce((sum, { state }) => sum + state.last_seq, 0),
      };
    },
    countBusy: async () => {
      const { rows } = await database.query<{ busy: string }>(
        `select count(*) as busy from pg_stat_activity where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()`,
      );
      return Number(rows[0]?.busy);
    },
    close: async () => {
      await database.end();
      await nats.close();
    },
  };
}

/** Returns `scale` × (after − before − background work), at least zero. */
function differ(
  after: Reading,
  before: Reading,
  anyway: (value: (reading: Reading) => number) => number,
  scale: number,
): Reading {
  const value = (of: (reading: Reading) => number): number => Math.max(0, of(after) - of(before) - anyway(of)) * scale;
  return {
    counted: byPart((part) => ({
      cpuMs: value(({ counted }) => counted[part].cpuMs),
      bytes: value(({ counted }) => counted[part].bytes),
      diskBytes: value(({ counted }) => counted[part].diskBytes),
    })),
    databaseSyncs: value(({ databaseSyncs }) => databaseSyncs),
    messages: value(({ messages }) => messages),
  };
}

/** @param idle background work per second */
async function measureOne(
  meter: Meter,
  { idle, seconds, load }: { idle: Reading; seconds: number; load: (seconds: number) => Promise<number> },
): Promise<Omit<OperationCost, 'operation'>> {
  await load(warmUpSeconds);
  await sleep(settleMs);
  const before = await meter.read();
  const beganAt = performance.now();
  const samples: number[] = [];
  const running = load(seconds);
  const state = { runs: true };
  const sampling = (async () => {
    while (state.runs) {
      samples.push(await meter.countBusy());
      await sleep(sampleEveryMs);
    }
  })();
  const requests = await running.finally(() => (state.runs = false));
  await sampling;
  await sleep(settleMs);
  const after = await meter.read();
  const passed = (performance.now() - beganAt) / 1_000;
  const { counted, databaseSyncs, messages } = differ(after, before, (of) => of(idle) * passed, 1 / requests);
  const busy = samples.reduce((sum, count) => sum + count, 0) / samples.length;
  // Little's law: connections in use = requests per second × seconds during which each request uses a connection.
  return { parts: counted, connectionMs: (busy * seconds * 1_000) / requests, databaseSyncs, messages };
}

/** Returns the number of synced writes per second, measured with blocks of 8 KB in a file in this folder. */
function measureSyncs(): number {
  const dir = mkdtempSync(join(process.cwd(), '.data', 'syncs-'));
  const file = openSync(join(dir, 'block'), 'w');
  const block = Buffer.alloc(8_192, 1);
  try {
    const startedAt = performance.now();
    let count = 0;
    for (; performance.now() - startedAt < 1_000; count += 1) {
      writeSync(file, block, 0, block.length, count * block.length);
      fdatasyncSync(file);
    }
    return Math.round((count * 1_000) / (performance.now() - startedAt));
  } finally {
    closeSync(file);
    rmSync(dir, { recursive: true });
  }
}
