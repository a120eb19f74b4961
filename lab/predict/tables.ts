/** The tables of docs/scaling.md, from the costs that were measured last. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MeasuredCosts, type Part, parts, toTable } from '../cost/costs.ts';
import { type Cluster, type Mix, planFor, predictLimit } from './model.ts';

/** What docs/guides/sizing.md reckons with: each second. */
const busyHour: Mix = {
  'read the room': 300,
  'read a conversation': 25,
  'change a conversation (PATCH)': 25,
  'search everything': 5,
  'answer a visitor': 2,
};
const perSecond = Object.values(busyHour).reduce((sum, count) => sum + count, 0);
/** Peaks, and the loss of a zone. */
const busy = 0.5;

export const readMeasured = (): MeasuredCosts =>
  JSON.parse(readFileSync(join(import.meta.dirname, '..', 'cost', 'measured.json'), 'utf8')) as MeasuredCosts;

/** What multiples of the load need. */
export function renderNeeds(costs: MeasuredCosts): string {
  const rows = [1, 10, 100, 1_000].map((factor) => {
    const need = planFor(costs, busyHour, perSecond * factor, busy);
    const services = parts.filter((part) => !['gateway', 'postgresql', 'nats', 'store'].includes(part));
    return [
      `${factor} ×`,
      perSecond * factor,
      need.pods.gateway,
      services.map((part) => `${part} ${need.pods[part]}`).join(', '),
      need.databaseCores.toFixed(1),
      Math.ceil(need.databaseSyncs),
      Math.ceil(need.messages),
      Math.ceil(need.connections),
    ].map(String);
  });
  const heads = [
    'load',
    'requests a second',
    'gateways',
    'pods',
    'cores of PostgreSQL',
    'its syncs a second',
    'durable messages a second',
    'connections in use',
  ];
  return toTable(heads, rows);
}

/** What gives way first, and when, in clusters that grow. */
export function renderLimits(costs: MeasuredCosts): string {
  const clusters: readonly (readonly [string, number, number])[] = [
    ['two pods of each service, PostgreSQL of 4 cores', 2, 4],
    ['six pods of each, 8 cores', 6, 8],
    ['twenty pods of each, 32 cores', 20, 32],
    ['a hundred pods of each, 32 cores', 100, 32],
  ];
  const rows = clusters.map(([title, pods, databaseCores]) => {
    const [first, second] = predictLimit(costs, busyHour, describe(pods, databaseCores, costs.syncsPerSecond)).stations;
    const tell = (item: typeof first): string =>
      item === undefined ? '' : `${item.name}, at ${Math.floor(item.limit).toLocaleString('en')}`;
    return [title, tell(first), tell(second)];
  });
  return toTable(['cluster', 'busy first', 'then'], rows);
}

function describe(pods: number, databaseCores: number, syncsPerSecond: number): Cluster {
  const own: Partial<Record<Part, { pods: number; cores: number }>> = {
    postgresql: { pods: 1, cores: databaseCores },
    nats: { pods: 3, cores: 2 },
    store: { pods: 4, cores: 2 },
  };
  return {
    parts: Object.fromEntries(parts.map((part) => [part, own[part] ?? { pods, cores: 1 }])) as Cluster['parts'],
    syncsPerSecond,
    connections: 120,
  };
}
