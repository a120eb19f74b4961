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
import { measureOn, urlOf } from '../cost/measure.ts';
import { listRequests } from '../cost/requests.ts';
import { type Calls, callTogether } from './callers.ts';
import { limitCores } from './limit.ts';
import { type Cluster, type Mix, predictCallers } from './model.ts';

export interface Case {
  /** Operations, each with how many of its requests are sent in turn with the others. */
  readonly mix: Mix;
  /** Of what there are several processes, which are what gives way. */
  readonly limited: 'gateway' | 'conversations';
}

export interface Compared {
  readonly case: Case;
  readonly replicas: number;
  readonly predicted: number;
  readonly measured: number;
}

export const coresOfProcess = 0.1;
/** Of each limited process, as many as were there when the cost was measured: the more come at once, the more share a way to the services. */
const callersOfProcess = 8;
/** Of each process before it is limited: with a tenth of a core its code would be compiled for minutes. */
const warmUpSeconds = 6;
const repoDir = join(import.meta.dirname, '..', '..');
const nameOf = { gateway: 'api-gateway', conversations: 'conversations' } as const;

interface Work extends Pick<Calls, 'seconds' | 'makeRequest'>, Case {
  readonly say: (line: string) => void;
}

/** @param seconds of each measurement. @throws Error where processes cannot be limited */
export function compare(
  cases: readonly Case[],
  replicas: readonly number[],
  seconds: number,
  say: (line: string) => void,
): Promise<Compared[]> {
  return withDemoPlatform({ RATE_LIMIT_LOGIN_PER_MINUTE: '0' }, say, async (platform) => {
    const requests = await listRequests(urlOf(platform), platform.settings);
    const rows: Compared[] = [];
    for (const item of cases) {
      const work = { ...item, seconds, makeRequest: takeTurns(requests, item.mix), say };
      say(`${describe(item)}: its cost`);
      const costs = await measureCosts(platform, work);
      for (const count of replicas) {
        say(`${describe(item)}: ${count} of ${coresOfProcess} cores`);
        const measured = await measureLimited(platform, count, work);
        const callers = count * callersOfProcess;
        const predicted = predictCallers(costs, { [describe(item)]: 1 }, describeCluster(costs, item.limited, count), callers).perSecond;
        rows.push({ case: item, replicas: count, predicted, measured });
      }
    }
    return rows;
  });
}

export function describe({ mix, limited }: Case): string {
  const shares = Object.entries(mix);
  return `${shares.map(([name, share]) => (shares.length === 1 ? name : `${share} × ${name}`)).join(', ')}; ${limited}`;
}

function takeTurns(requests: Awaited<ReturnType<typeof listRequests>>, mix: Mix): Calls['makeRequest'] {
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

/** Of the process when it may use as little as those that follow: what waits for its share finds its caches cold, and each request costs more. */
async function measureCosts(platform: DemoPlatform, work: Work): Promise<MeasuredCosts> {
  const { limited, seconds, makeRequest, say } = work;
  const { identity } = findProcess(platform, limited);
  const dir = mkdtempSync(join(tmpdir(), 'coherence-predict-'));
  const limit = limitCores('measured', coresOfProcess);
  try {
    await callTogether(dir, { urls: [urlOf(platform)], callers: callersOfProcess, seconds: warmUpSeconds, makeRequest }, say);
    limit.take(identity.pid);
    return await measureOn(platform, seconds, { [describe(work)]: makeRequest }, say);
  } finally {
    limit.release(identity.pid);
    limit.remove();
    rmSync(dir, { recursive: true, force: true });
  }
}

function findProcess({ processes }: DemoPlatform, limited: Case['limited']): DemoPlatform['processes'][number] {
  const found = processes.find(({ name }) => name === nameOf[limited]);
  if (found === undefined) throw new Error(`the platform has no ${limited}`);
  return found;
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

/** Requests a second of so many processes together, the one that runs among them. */
async function measureLimited(platform: DemoPlatform, replicas: number, { limited, seconds, makeRequest, say }: Work): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'coherence-predict-'));
  const limits = Array.from({ length: replicas }, (_, place) => limitCores(`${limited}-${place}`, coresOfProcess));
  const first = findProcess(platform, limited).identity.pid;
  const added: ServiceProcess[] = [];
  try {
    const urls = [urlOf(platform)];
    const call = (on: readonly string[], callers: number, length: number): Promise<number> =>
      callTogether(dir, { urls: on, callers, seconds: length, makeRequest }, say);
    for (let place = 1; place < replicas; place += 1) {
      const port = await findFreePort();
      added.push(await startAnother(platform, limited, { dir, place, port }));
      if (limited === 'gateway') urls.push(`http://127.0.0.1:${port}`);
      await call(urls.slice(-1), callersOfProcess, warmUpSeconds);
    }
    for (const [place, limit] of limits.entries()) limit.take(place === 0 ? first : (added[place - 1]?.identity?.pid ?? 0));
    return await call(urls, replicas * callersOfProcess, seconds);
  } finally {
    limits[0]?.release(first);
    await Promise.all(added.map((item) => item.stop()));
    for (const limit of limits) limit.remove();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** With the settings of the one that runs. */
async function startAnother(
  platform: DemoPlatform,
  limited: Case['limited'],
  { dir, place, port }: { dir: string; place: number; port: number },
): Promise<ServiceProcess> {
  const given = readFileSync(`/proc/${findProcess(platform, limited).identity.pid}/environ`, 'utf8').split('\0');
  const env = {
    ...Object.fromEntries(
      given.filter((line) => line !== '').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ),
    PORT: String(port),
    METRICS_PORT: String(await findFreePort()),
    WEBHOOK_SPOOL_DIR: join(dir, `spool-${place}`),
    DRAIN_WINDOW_SECONDS: '0',
  };
  const started = await startServiceProcess({ repoDir, name: nameOf[limited], logFile: join(dir, `${place}.log`), env });
  while ((await started.readReadiness()) !== undefined) {
    if (started.hasEnded) throw new Error(`a process ended while starting:\n${started.readLogTail()}`);
    await sleep(50);
  }
  return started;
}
