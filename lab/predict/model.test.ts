import { describe, expect, it } from '@jest/globals';
import { type MeasuredCosts, type OperationCost, type Part, parts } from '../cost/costs.ts';
import { type Cluster, planFor, predictCallers, predictLimit } from './model.ts';

const all = <Value>(of: (part: Part) => Value): Record<Part, Value> =>
  Object.fromEntries(parts.map((part) => [part, of(part)])) as Record<Part, Value>;
const operation = (name: string, cpuMs: Partial<Record<Part, number>>, more: Partial<OperationCost> = {}): OperationCost => ({
  operation: name,
  parts: all((part) => ({ cpuMs: cpuMs[part] ?? 0, bytes: 0, diskBytes: 0 })),
  connectionMs: 0,
  databaseSyncs: 0,
  messages: 0,
  ...more,
});
const costsOf = (...operations: OperationCost[]): MeasuredCosts => ({
  takenAt: '2026-01-01T00:00:00Z',
  release: '0',
  machine: 'of this test',
  syncsPerSecond: 1_000,
  idleCores: all(() => 0),
  megabytes: all(() => 0),
  operations,
});
const clusterOf = (changes: Partial<Record<Part, number>> = {}, more: Partial<Cluster> = {}): Cluster => ({
  parts: all((part) => ({ pods: changes[part] ?? 1, cores: 1 })),
  syncsPerSecond: 1_000,
  connections: 100,
  ...more,
});
const read = operation('read', { gateway: 2, conversations: 1, postgresql: 0.5 });
const write = operation('write', { gateway: 2, postgresql: 4 }, { connectionMs: 50, databaseSyncs: 0.5, messages: 2 });

describe('the limit of a cluster', () => {
  it('is that of the part which a request keeps busy for longest, until that has pods enough', () => {
    expect(predictLimit(costsOf(read), { read: 1 }, clusterOf())).toMatchObject({ perSecond: 500, first: 'gateway' });
    expect(predictLimit(costsOf(read), { read: 1 }, clusterOf({ gateway: 2 }))).toMatchObject({ perSecond: 1_000 });
    expect(predictLimit(costsOf(read), { read: 1 }, clusterOf({ gateway: 8, conversations: 3 }))).toMatchObject({
      perSecond: 2_000,
      first: 'postgresql',
    });
  });

  it('follows the mix, whatever its shares add up to', () => {
    const costs = costsOf(read, write);
    expect(predictLimit(costs, { read: 1, write: 1 }, clusterOf())).toMatchObject({ first: 'postgresql', perSecond: 1_000 / 2.25 });
    const { stations } = predictLimit(costs, { read: 30, write: 10 }, clusterOf());
    expect(stations.find(({ name }) => name === 'postgresql')).toMatchObject({ demandMs: 0.75 * 0.5 + 0.25 * 4 });
  });

  it('is that of the disks, the connections or the machine when those come first', () => {
    const costs = costsOf(write);
    const many = { gateway: 50, postgresql: 50 };
    expect(predictLimit(costs, { write: 1 }, clusterOf(many))).toMatchObject({ perSecond: 500, first: 'disk of NATS' });
    expect(predictLimit(costs, { write: 1 }, clusterOf(many, { syncsPerSecond: 100_000, connections: 5 }))).toMatchObject({
      perSecond: 100,
      first: 'connections',
    });
    const onOne = { ...clusterOf(), machines: { small: 1 }, parts: all(() => ({ pods: 9, cores: 1, machine: 'small' })) };
    expect(predictLimit(costsOf(read), { read: 1 }, onOne)).toMatchObject({ first: 'machine small', perSecond: 1_000 / 3.5 });
  });

  it('is unknown for what was not measured', () => {
    expect(() => predictLimit(costsOf(read), { dance: 1 }, clusterOf())).toThrow('"dance" was not measured; there is read');
    expect(() => predictLimit(costsOf(read), {}, clusterOf())).toThrow('at least one');
  });
});

describe('callers who wait for their answers', () => {
  it('are served without waiting while there is one, and at the limit when there are many', () => {
    const [costs, cluster] = [costsOf(read), clusterOf()];
    expect(predictCallers(costs, { read: 1 }, cluster, 1)).toEqual({ perSecond: 1_000 / 3.5, responseMs: 3.5 });
    const few = predictCallers(costs, { read: 1 }, cluster, 2);
    expect(few.perSecond).toBeGreaterThan(1_000 / 3.5);
    expect(few.perSecond).toBeLessThan(500);
    const many = predictCallers(costs, { read: 1 }, cluster, 400);
    expect(many.perSecond / 500).toBeCloseTo(1, 2);
    expect(many.responseMs).toBeCloseTo(400_000 / many.perSecond, 6);
  });

  it('are served as by a balanced network of known times', () => {
    // Two equal stations and n callers: throughput is n / (n + 1) of what one of them does alone.
    const balanced = costsOf(operation('even', { gateway: 1, conversations: 1 }));
    for (const callers of [1, 2, 5, 20]) {
      expect(predictCallers(balanced, { even: 1 }, clusterOf(), callers).perSecond).toBeCloseTo((1_000 * callers) / (callers + 1), 6);
    }
  });
});

describe('pods', () => {
  const even = costsOf(operation('even', { gateway: 1 }));
  const gateways = (pods: number, cores: number): Cluster => ({
    ...clusterOf(),
    parts: { ...clusterOf().parts, gateway: { pods, cores } },
  });

  it('with a part of a core are as much slower', () => {
    expect(predictLimit(even, { even: 1 }, gateways(1, 0.1)).perSecond).toBeCloseTo(100, 6);
    expect(predictCallers(even, { even: 1 }, gateways(1, 0.1), 1)).toEqual({ perSecond: 100, responseMs: 10 });
  });

  it('work for requests in what is left of their time', () => {
    const idle = { ...even, idleCores: all((part) => (part === 'gateway' ? 0.02 : 0)) };
    expect(predictLimit(idle, { even: 1 }, gateways(2, 0.1)).perSecond).toBeCloseTo(160, 6);
    expect(planFor(idle, { even: 1 }, 960, 0.5).pods.gateway).toBe(2);
    expect(planFor(idle, { even: 1 }, 961, 0.5).pods.gateway).toBe(3);
    expect(() => predictLimit(idle, { even: 1 }, gateways(1, 0.02))).toThrow('gateway has 0.02 cores, which it takes without any request');
  });

  it('have a queue each: callers wait at one while another has nothing to do', () => {
    // Of n queues that callers choose by chance, with nothing else on the way: callers / (callers + n − 1) of what all of them do.
    for (const [pods, callers] of [
      [2, 1],
      [2, 16],
      [4, 32],
    ] as const) {
      const { perSecond } = predictCallers(even, { even: 1 }, gateways(pods, 0.1), callers);
      expect(perSecond).toBeCloseTo((100 * pods * callers) / (callers + pods - 1), 6);
    }
  });
});

describe('what a load needs', () => {
  it('has pods so that none is busier than asked, at least one of each', () => {
    const need = planFor(costsOf(read, write), { read: 1, write: 1 }, 1_000, 0.5);
    expect(need.pods).toEqual(all((part) => ({ gateway: 4, conversations: 1, postgresql: 5 })[part as string] ?? 1));
    expect(need).toMatchObject({ databaseCores: 4.5, databaseSyncs: 250, messages: 1_000, connections: 50 });
    const least = { ...need, ...planFor(costsOf(read, write), { read: 1, write: 1 }, 1, 0.5) };
    expect(new Set(Object.values(least.pods))).toEqual(new Set([1]));
  });
});
