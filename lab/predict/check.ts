/**
 * The model held against a real platform: gateways, then processes of a service, that may use a tenth of a core each, 1, 2 and 4 of them, under as many callers
 * as keep them busy. What they should do is predicted from the cost of the requests, measured just before at one process with the same limit: of all kinds together
 * as they come, since what comes together is worked together.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../tools/servers/ports.ts';
import { type ServiceProcess, startServiceProcess } from '../../tools/servers/service-process.ts';
import { type DemoPlatform, withDemoPlatform } from '../bench/demo-platform.ts';
import { type MeasuredCosts, type Part, parts } from '../cost/costs.ts';
import { measureIdle, measureOn, type Play, type Reading, urlOf } from '../cost/measure.ts';
import { listRequests } from '../cost/requests.ts';
import { type Calls, callTogether } from './callers.ts';
import { limitCores } from './limit.ts';
import { type Cluster, type Mix, predictCallers } from './model.ts';

/** What there is several processes of, which are what gives way. */
type Limited = 'gateway' | 'conversations';

export interface Trial {
  readonly limited: Limited;
  /** Of operations, each with how many of its requests are sent in turn with the others. */
  readonly mixes: readonly Mix[];
}

export interface Compared {
  readonly limited: Limited;
  readonly mix: Mix;
  readonly replicas: number;
  readonly predicted: number;
  readonly measured: number;
}

export const coresOfProcess = 0.1;
/** Of each limited process, as many as were there when the cost was measured: the more come at once, the more share a way to the services. */
const callersOfProcess = 8;
/** Of each process before it is limited, some 40,000 requests: before V8 has compiled what is used most a request costs twice as much, for minutes with a tenth of a core. */
const warmUpSeconds = 20;
const repoDir = join(import.meta.dirname, '..', '..');
const nameOf = { gateway: 'api-gateway', conversations: 'conversations' } as const;

type Requests = Awaited<ReturnType<typeof listRequests>>;
type Say = (line: string) => void;

/** @param replicas ascending. @param seconds of each measurement. @throws Error where processes cannot be limited */
export function compare(trials: readonly Trial[], replicas: readonly number[], seconds: number, say: Say): Promise<Compared[]> {
  return withDemoPlatform({ RATE_LIMIT_LOGIN_PER_MINUTE: '0' }, say, async (platform) => {
    const requests = await listRequests(urlOf(platform), platform.settings);
    const idle = await measureIdle(platform, say);
    const rows: Compared[] = [];
    for (const trial of trials) rows.push(...(await compareTrial(platform, trial, requests, { replicas, seconds, idle, say })));
    return rows;
  });
}

async function compareTrial(
  platform: DemoPlatform,
  { limited, mixes }: Trial,
  requests: Requests,
  { replicas, seconds, idle, say }: { replicas: readonly number[]; seconds: number; idle: Reading; say: Say },
): Promise<Compared[]> {
  const fleet = new Fleet(platform, limited, say);
  const costs = new Map<Mix, MeasuredCosts>();
  const rows: Compared[] = [];
  try {
    for (const count of replicas) {
      await fleet.growTo(count, takeTurns(requests, Object.assign({}, ...mixes) as Mix));
      for (const mix of mixes) {
        const makeRequest = takeTurns(requests, mix);
        const name = describe({ limited, mix });
        const play: Play = async (make, length) => length * (await fleet.call(length, make));
        const costly = { requests: { [name]: makeRequest }, play, seconds, idle };
        const cost = costs.get(mix) ?? (await fleet.whileLimited(() => measureOn(platform, costly, say)));
        costs.set(mix, cost);
        say(`${name}: ${count} of ${coresOfProcess} cores`);
        const measured = await fleet.whileLimited(() => fleet.call(seconds, makeRequest));
        const predicted = predictCallers(cost, { [name]: 1 }, describeCluster(cost, limited, count), count * callersOfProcess).perSecond;
        rows.push({ limited, mix, replicas: count, predicted, measured });
      }
    }
    return rows.toSorted((one, other) => mixes.indexOf(one.mix) - mixes.indexOf(other.mix));
  } finally {
    await fleet.stop();
  }
}

export function describe({ limited, mix }: { limited: Limited; mix: Mix }): string {
  const shares = Object.entries(mix);
  return `${shares.map(([name, share]) => (shares.length === 1 ? name : `${share} × ${name}`)).join(', ')}; ${limited}`;
}

function takeTurns(requests: Requests, mix: Mix): Calls['makeRequest'] {
  const turns = Object.entries(mix).flatMap(([operation, share]) => {
    const makeRequest = requests[operation];
    if (makeRequest === undefined) throw new Error(`"${operation}" is no request that is measured`);
    return Array.from({ length: share }, () => makeRequest);
  });
  return (index) => {
    const makeRequest = turns[index % turns.length];
    if (makeRequest === undefined) throw new Error('a mix needs at least one operation');
    return makeRequest(index);
  };
}

function describeCluster({ syncsPerSecond }: MeasuredCosts, limited: Part, replicas: number): Cluster {
  const one = { pods: 1, cores: 1, machine: 'this' };
  const placed = parts.map((part) => [part, part === limited ? { pods: replicas, cores: coresOfProcess, machine: 'this' } : one]);
  return {
    parts: { ...(Object.fromEntries(placed) as Cluster['parts']), postgresql: { ...one, cores: cpus().length } },
    machines: { this: cpus().length },
    syncsPerSecond,
    connections: 60,
  };
}

/** The processes of one kind: that of the platform, and others that are started beside it. */
class Fleet {
  readonly #platform: DemoPlatform;
  readonly #limited: Limited;
  readonly #say: Say;
  readonly #dir = mkdtempSync(join(tmpdir(), 'coherence-predict-'));
  readonly #added: ServiceProcess[] = [];
  readonly #pids: number[];
  readonly #urls: string[];
  #warm = 0;

  constructor(platform: DemoPlatform, limited: Limited, say: Say) {
    this.#platform = platform;
    this.#limited = limited;
    this.#say = say;
    this.#pids = [this.#first.identity.pid];
    this.#urls = [urlOf(platform)];
  }

  get #first(): DemoPlatform['processes'][number] {
    const found = this.#platform.processes.find(({ name }) => name === nameOf[this.#limited]);
    if (found === undefined) throw new Error(`the platform has no ${this.#limited}`);
    return found;
  }

  /** Starts as many as are missing, and lets them all work until they are as quick as they become. */
  async growTo(count: number, makeRequest: Calls['makeRequest']): Promise<void> {
    const hasOwnUrls = this.#limited === 'gateway';
    while (this.#pids.length < count) {
      const port = await findFreePort();
      const started = await this.#startAnother(port);
      this.#added.push(started);
      this.#pids.push(started.identity?.pid ?? 0);
      if (hasOwnUrls) this.#urls.push(`http://127.0.0.1:${port}`);
    }
    // Of a service each gets its part of what all are called.
    const seconds = warmUpSeconds * (hasOwnUrls ? count - this.#warm : count);
    this.#say(`${count} × ${this.#limited}: ${seconds} s to warm up`);
    await this.call(seconds, makeRequest, hasOwnUrls ? this.#urls.slice(this.#warm) : this.#urls);
    this.#warm = count;
  }

  /** @returns requests a second */
  call(seconds: number, makeRequest: Calls['makeRequest'], urls: readonly string[] = this.#urls): Promise<number> {
    return callTogether(this.#dir, { urls, callers: this.#pids.length * callersOfProcess, seconds, makeRequest }, this.#say);
  }

  /** What waits for its share finds its caches cold, and each request costs more: so costs are measured likewise. */
  async whileLimited<Result>(work: () => Promise<Result>): Promise<Result> {
    const limits = this.#pids.map((pid, place) => ({ pid, limit: limitCores(`${this.#limited}-${place}`, coresOfProcess) }));
    try {
      for (const { pid, limit } of limits) limit.take(pid);
      return await work();
    } finally {
      for (const { pid, limit } of limits) {
        limit.release(pid);
        limit.remove();
      }
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#added.map((item) => item.stop()));
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** With the settings of the one that runs. */
  async #startAnother(port: number): Promise<ServiceProcess> {
    const given = readFileSync(`/proc/${this.#first.identity.pid}/environ`, 'utf8').split('\0');
    const place = this.#pids.length;
    const env = {
      ...Object.fromEntries(
        given.filter((line) => line !== '').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      ),
      PORT: String(port),
      METRICS_PORT: String(await findFreePort()),
      WEBHOOK_SPOOL_DIR: join(this.#dir, `spool-${place}`),
      DRAIN_WINDOW_SECONDS: '0',
    };
    const started = await startServiceProcess({ repoDir, name: nameOf[this.#limited], logFile: join(this.#dir, `${place}.log`), env });
    while ((await started.readReadiness()) !== undefined) {
      if (started.hasEnded) throw new Error(`a process ended while starting:\n${started.readLogTail()}`);
      await sleep(50);
    }
    return started;
  }
}
