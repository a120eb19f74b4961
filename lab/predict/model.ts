/**
 * Predicts what a cluster can do from what operations cost: how many a second, which part is busy first, and how long answers take. Without IO.
 *
 * Every part is a station of a queueing network, with a queue for each of its pods: a request comes to any of them, and waits there although another
 * may have nothing to do. A part that is busy `demandMs` for the average request does at most queues × servers × 1000 / demandMs of them a second, and the
 * least of these is the limit of all (utilization law); what it does without any request counts first. Below that limit mean value analysis tells throughput
 * and time of so many callers who each wait for their answer; a queue of several servers counts as one server that is as many times faster, and the rest of
 * its time as plain delay (Seidmann).
 */
import { type MeasuredCosts, type OperationCost, type Part, parts } from '../cost/costs.ts';

/** Operations by their share, or by their number a second: what counts is how they relate. */
export type Mix = Readonly<Record<string, number>>;

interface Placement {
  readonly pods: number;
  /** Cores that one pod uses at most: a Node process runs its JavaScript on one. With less than one it is as much slower. */
  readonly cores: number;
  /** On which it runs with others; absent = on machines of its own. */
  readonly machine?: string;
}

export interface Cluster {
  readonly parts: Readonly<Record<Part, Placement>>;
  /** Cores, by name. */
  readonly machines?: Readonly<Record<string, number>>;
  /** Synced writes a second of the disk of PostgreSQL, and of that of NATS. */
  readonly syncsPerSecond: number;
  /** That PostgreSQL, or the pooler before it, has for all services. */
  readonly connections: number;
}

export interface Station {
  readonly name: string;
  /** For which the average request keeps a server busy. */
  readonly demandMs: number;
  readonly queues: number;
  /** Of each queue. */
  readonly servers: number;
  /** Only a bound: its time is that of other stations already. */
  readonly isBound: boolean;
  /** Requests a second at which it is always busy. */
  readonly limit: number;
}

export interface Prediction {
  readonly perSecond: number;
  /** What is always busy then. */
  readonly first: string;
  /** Ascending by their limit. */
  readonly stations: readonly Station[];
}

/** What the cluster does at most of this mix. @throws Error when the mix names an operation that was not measured, or is empty */
export function predictLimit(costs: MeasuredCosts, mix: Mix, cluster: Cluster): Prediction {
  const stations = listStations(costs, mix, cluster).toSorted((a, b) => a.limit - b.limit);
  const [first] = stations;
  return { perSecond: first?.limit ?? Infinity, first: first?.name ?? 'nothing', stations };
}

/** With so many callers, each of whom sends its next request when the last one is answered. */
export function predictCallers(
  costs: MeasuredCosts,
  mix: Mix,
  cluster: Cluster,
  callers: number,
): { readonly perSecond: number; readonly responseMs: number } {
  const { perSecond: limit, stations } = predictLimit(costs, mix, cluster);
  /** `waiting`: in one of its queues. */
  const queued = stations.filter(({ isBound }) => !isBound).map((station) => ({ ...station, waiting: 0 }));
  const delayMs = queued.reduce((sum, { demandMs, servers }) => sum + (demandMs * (servers - 1)) / servers, 0);
  let perMs = 0;
  for (let count = 1; count <= callers; count += 1) {
    const times = queued.map(({ demandMs, servers, waiting }) => (demandMs / servers) * (1 + waiting));
    perMs = count / (delayMs + times.reduce((sum, time) => sum + time, 0));
    for (const [place, station] of queued.entries()) station.waiting = (perMs * (times[place] ?? 0)) / station.queues;
  }
  const perSecond = Math.min(perMs * 1_000, limit);
  return { perSecond, responseMs: (callers * 1_000) / perSecond };
}

export interface Need {
  readonly pods: Readonly<Record<Part, number>>;
  readonly databaseCores: number;
  /** Synced writes a second of PostgreSQL, and durable messages a second. */
  readonly databaseSyncs: number;
  readonly messages: number;
  /** Connections in use. */
  readonly connections: number;
}

/** What so many a second need when no part is busy for more than `busy` of its time (0 to 1). */
export function planFor(costs: MeasuredCosts, mix: Mix, perSecond: number, busy: number): Need {
  const demand = averageOf(costs, mix);
  const cores = (part: Part): number => (perSecond * demand.parts[part]) / 1_000 / (busy - costs.idleCores[part]);
  return {
    pods: Object.fromEntries(parts.map((part) => [part, Math.max(1, Math.ceil(cores(part)))])) as Record<Part, number>,
    databaseCores: cores('postgresql'),
    databaseSyncs: perSecond * demand.databaseSyncs,
    messages: perSecond * demand.messages,
    connections: (perSecond * demand.connectionMs) / 1_000 / busy,
  };
}

function listStations(costs: MeasuredCosts, mix: Mix, cluster: Cluster): Station[] {
  const demand = averageOf(costs, mix);
  const station = (name: string, demandMs: number, { queues = 1, servers = 1, isBound = false } = {}): Station => ({
    name,
    demandMs,
    queues,
    servers,
    isBound,
    limit: demandMs === 0 ? Infinity : (queues * servers * 1_000) / demandMs,
  });
  const placed = (part: Part): Station => {
    const { pods, cores } = cluster.parts[part];
    const free = Math.min(1, cores) - costs.idleCores[part];
    if (!(free > 0)) throw new Error(`${part} has ${cores} cores, which it takes without any request`);
    return station(part, demand.parts[part] / free, { queues: pods, servers: Math.max(1, cores) });
  };
  const syncMs = 1_000 / cluster.syncsPerSecond;
  return [
    ...parts.map(placed),
    station('disk of PostgreSQL', demand.databaseSyncs * syncMs),
    station('disk of NATS', demand.messages * syncMs),
    station('connections', demand.connectionMs, { servers: cluster.connections, isBound: true }),
    ...Object.entries(cluster.machines ?? {}).map(([name, cores]) => {
      const together = parts.filter((part) => cluster.parts[part].machine === name).reduce((sum, part) => sum + demand.parts[part], 0);
      return station(`machine ${name}`, together, { servers: cores, isBound: true });
    }),
  ];
}

type Average = Pick<OperationCost, 'connectionMs' | 'databaseSyncs' | 'messages'> & { readonly parts: Readonly<Record<Part, number>> };

function averageOf({ operations }: MeasuredCosts, mix: Mix): Average {
  const total = Object.values(mix).reduce((sum, share) => sum + share, 0);
  if (!(total > 0)) throw new Error('a mix needs at least one operation');
  const weighed = Object.entries(mix).map(([name, share]) => {
    const cost = operations.find(({ operation }) => operation === name);
    if (cost === undefined)
      throw new Error(`"${name}" was not measured; there is ${operations.map(({ operation }) => operation).join(', ')}`);
    return { cost, weight: share / total };
  });
  const average = (of: (cost: OperationCost) => number): number => weighed.reduce((sum, { cost, weight }) => sum + of(cost) * weight, 0);
  return {
    parts: Object.fromEntries(parts.map((part) => [part, average((cost) => cost.parts[part].cpuMs)])) as Record<Part, number>,
    connectionMs: average(({ connectionMs }) => connectionMs),
    databaseSyncs: average(({ databaseSyncs }) => databaseSyncs),
    messages: average(({ messages }) => messages),
  };
}
