/**
 * A day's hour in seconds: requests, jobs and messages as numbers in queues, step by step, while parts are lost and come back. Without IO and without a
 * clock; a seed gives the same run again.
 *
 * Requests that wait longer than their deadline are refused, as the gateway refuses them; an accepted write leaves a job in PostgreSQL (the outbox), which NATS
 * takes when it is there and workers work once. Without NATS no service is reached: what waits and what comes is refused at once (`libs/nats`), and nothing is
 * worked. Without a leader of the streams only what is durable waits. So nothing is lost, and what a fault costs is seen as refused requests and as the time until the jobs are as
 * quick as before.
 */

export interface Load {
  /** Requests a second, on average. */
  readonly perSecond: number;
  /** Share of them that write, each leaving `jobs` jobs. */
  readonly writes: number;
  readonly jobs: number;
}

export interface Capacity {
  /** Requests, and jobs, a second of all pods together. */
  readonly requests: number;
  readonly jobs: number;
  /** Messages a second that NATS takes. */
  readonly messages: number;
}

/** `leader`: NATS is there and has no leader of its streams. */
export type FaultKind = 'database' | 'broker' | 'leader' | 'pods';

export interface Fault {
  readonly kind: FaultKind;
  readonly atSecond: number;
  /** Until another takes its place. */
  readonly seconds: number;
  /** Of pods: the share that is lost (a zone is a third). Of the broker: the share of requests whose way it was; default all. */
  readonly share?: number;
}

export interface Scenario {
  readonly seconds: number;
  readonly load: Load;
  readonly capacity: Capacity;
  readonly faults: readonly Fault[];
  /** Seconds that a request may wait. */
  readonly deadline: number;
  /** Seconds until jobs of a pod that is gone are given to another. */
  readonly lease: number;
}

export interface Outcome {
  readonly asked: number;
  readonly answered: number;
  readonly refused: number;
  /** Still waiting at the end. */
  readonly waiting: number;
  readonly jobsMade: number;
  readonly jobsDone: number;
  readonly jobsWaiting: number;
  /** Seconds in which any request was refused. */
  readonly unavailableSeconds: number;
  readonly mostWaiting: number;
  readonly mostJobs: number;
  /** From the end of the last fault until no more jobs wait than usual; undefined = not within the scenario. */
  readonly recoveredAfterSeconds: number | undefined;
  /** Of what was answered, milliseconds. */
  readonly longestWaitMs: number;
}

const stepSeconds = 0.1;
/** Jobs that wait for no reason but chance, in seconds of their arrival. */
const usualJobSeconds = 2;

export function simulate(scenario: Scenario, seed: number): Outcome {
  const { load, capacity, faults, deadline, lease } = scenario;
  const draw = createPoisson(seed);
  const queue: { since: number; count: number }[] = [];
  let longestWaitMs = 0;
  let [asked, answered, refused, waiting, mostWaiting] = [0, 0, 0, 0, 0];
  let [jobsMade, jobsDone, unsent, ready, mostJobs] = [0, 0, 0, 0, 0];
  /** Jobs under way at lost pods, which come back when their lease ends. */
  const leased: { until: number; count: number }[] = [];
  const unavailable = new Set<number>();
  const lastFaultEnds = Math.max(0, ...faults.map(({ atSecond, seconds }) => atSecond + seconds));
  let recoveredAt: number | undefined;
  const steps = Math.round(scenario.seconds / stepSeconds);
  for (let step = 0; step < steps; step += 1) {
    const now = step * stepSeconds;
    const under = (kind: FaultKind): Fault | undefined =>
      faults.find((fault) => fault.kind === kind && now >= fault.atSecond && now < fault.atSecond + fault.seconds);
    const database = under('database') === undefined;
    const silent = under('broker');
    const [broker, unreached] = [silent === undefined || silent.share !== undefined, silent === undefined ? 0 : (silent.share ?? 1)];
    const lost = under('pods');
    const share = 1 - (lost?.share ?? 0);

    const arrived = draw(load.perSecond * stepSeconds);
    asked += arrived;
    const turnedAway = Math.round(arrived * unreached);
    refused += turnedAway;
    if (turnedAway > 0) unavailable.add(Math.floor(now));
    const taken = arrived - turnedAway;
    waiting += taken;
    if (taken > 0) queue.push({ since: now, count: taken });

    let room = database && broker ? Math.round(capacity.requests * share * stepSeconds) : 0;
    let written = 0;
    while (room > 0 && queue[0] !== undefined) {
      const served = Math.min(room, queue[0].count);
      longestWaitMs = Math.max(longestWaitMs, Math.round((now - queue[0].since) * 1_000));
      queue[0].count -= served;
      room -= served;
      waiting -= served;
      answered += served;
      written += draw(served * load.writes * load.jobs);
      if (queue[0].count === 0) queue.shift();
    }
    const patience = broker ? deadline : 0;
    while (queue[0] !== undefined && now - queue[0].since >= patience) {
      refused += queue[0].count;
      waiting -= queue[0].count;
      unavailable.add(Math.floor(now));
      queue.shift();
    }
    mostWaiting = Math.max(mostWaiting, waiting);

    jobsMade += written;
    unsent += written;
    if (lost !== undefined && now - lost.atSecond < stepSeconds) {
      const underWay = Math.min(ready, Math.round(capacity.jobs * (lost.share ?? 0) * stepSeconds));
      ready -= underWay;
      leased.push({ until: now + lease, count: underWay });
    }
    while (leased[0] !== undefined && leased[0].until <= now) ready += leased.shift()?.count ?? 0;
    if (database && broker && under('leader') === undefined) {
      const sent = Math.min(unsent, Math.round(capacity.messages * stepSeconds));
      unsent -= sent;
      ready += sent;
    }
    if (database && broker) {
      const done = Math.min(ready, Math.round(capacity.jobs * share * stepSeconds));
      ready -= done;
      jobsDone += done;
    }
    const jobsWaiting = unsent + ready + leased.reduce((sum, { count }) => sum + count, 0);
    mostJobs = Math.max(mostJobs, jobsWaiting);
    const usual = load.perSecond * load.writes * load.jobs * usualJobSeconds;
    if (now < lastFaultEnds) recoveredAt = undefined;
    else if (jobsWaiting <= usual && waiting <= load.perSecond) recoveredAt ??= now;
  }
  return {
    asked,
    answered,
    refused,
    waiting,
    jobsMade,
    jobsDone,
    jobsWaiting: jobsMade - jobsDone,
    unavailableSeconds: unavailable.size,
    mostWaiting,
    mostJobs,
    recoveredAfterSeconds: recoveredAt === undefined ? undefined : Math.max(0, recoveredAt - lastFaultEnds),
    longestWaitMs,
  };
}

/** Numbers of what comes by chance at a mean rate: exact for few, as the normal distribution has them for many. */
function createPoisson(seed: number): (mean: number) => number {
  let state = seed >>> 0;
  // Mulberry32: small, and the same everywhere.
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return (mean) => {
    if (mean <= 0) return 0;
    if (mean > 30) {
      const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
    }
    let [count, product] = [0, random()];
    for (const limit = Math.exp(-mean); product > limit; count += 1) product *= random();
    return count;
  };
}
