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
  const platform = new Platform(scenario, seed);
  const steps = Math.round(scenario.seconds / stepSeconds);
  for (let step = 0; step < steps; step += 1) platform.step(step * stepSeconds);
  return platform.describe();
}

/** What a fault leaves of the platform at a moment. */
interface Condition {
  readonly database: boolean;
  /** Somebody is reached through it. */
  readonly broker: boolean;
  /** Share of the requests that reach nobody. */
  readonly unreached: number;
  readonly leader: boolean;
  readonly lost: Fault | undefined;
}

class Platform {
  readonly #scenario: Scenario;
  readonly #draw: (mean: number) => number;
  readonly #lastFaultEnds: number;
  readonly #queue: { since: number; count: number }[] = [];
  /** Jobs under way at lost pods, which come back when their lease ends. */
  readonly #leased: { until: number; count: number }[] = [];
  readonly #unavailable = new Set<number>();
  #asked = 0;
  #answered = 0;
  #refused = 0;
  #waiting = 0;
  #mostWaiting = 0;
  #jobsMade = 0;
  #jobsDone = 0;
  #unsent = 0;
  #ready = 0;
  #mostJobs = 0;
  #longestWaitMs = 0;
  #recoveredAt: number | undefined;

  constructor(scenario: Scenario, seed: number) {
    this.#scenario = scenario;
    this.#draw = createPoisson(seed);
    this.#lastFaultEnds = Math.max(0, ...scenario.faults.map(({ atSecond, seconds }) => atSecond + seconds));
  }

  step(now: number): void {
    const condition = this.#findCondition(now);
    this.#arrive(now, condition);
    const written = this.#serve(now, condition);
    this.#giveUp(now, condition.broker ? this.#scenario.deadline : 0);
    this.#mostWaiting = Math.max(this.#mostWaiting, this.#waiting);
    this.#jobsMade += written;
    this.#unsent += written;
    this.#work(now, condition);
    this.#look(now);
  }

  describe(): Outcome {
    const recoveredAt = this.#recoveredAt;
    return {
      asked: this.#asked,
      answered: this.#answered,
      refused: this.#refused,
      waiting: this.#waiting,
      jobsMade: this.#jobsMade,
      jobsDone: this.#jobsDone,
      jobsWaiting: this.#jobsMade - this.#jobsDone,
      unavailableSeconds: this.#unavailable.size,
      mostWaiting: this.#mostWaiting,
      mostJobs: this.#mostJobs,
      recoveredAfterSeconds: recoveredAt === undefined ? undefined : Math.max(0, recoveredAt - this.#lastFaultEnds),
      longestWaitMs: this.#longestWaitMs,
    };
  }

  #findCondition(now: number): Condition {
    const under = (kind: FaultKind): Fault | undefined =>
      this.#scenario.faults.find((fault) => fault.kind === kind && now >= fault.atSecond && now < fault.atSecond + fault.seconds);
    const silent = under('broker');
    return {
      database: under('database') === undefined,
      broker: silent === undefined || silent.share !== undefined,
      unreached: silent === undefined ? 0 : (silent.share ?? 1),
      leader: under('leader') === undefined,
      lost: under('pods'),
    };
  }

  #arrive(now: number, { unreached }: Condition): void {
    const arrived = this.#draw(this.#scenario.load.perSecond * stepSeconds);
    this.#asked += arrived;
    const turnedAway = Math.round(arrived * unreached);
    this.#refused += turnedAway;
    if (turnedAway > 0) this.#unavailable.add(Math.floor(now));
    const taken = arrived - turnedAway;
    this.#waiting += taken;
    if (taken > 0) this.#queue.push({ since: now, count: taken });
  }

  /** @returns jobs that were made. */
  #serve(now: number, { database, broker, lost }: Condition): number {
    const { capacity, load } = this.#scenario;
    const queue = this.#queue;
    let room = database && broker ? Math.round(capacity.requests * shareOf(lost) * stepSeconds) : 0;
    let written = 0;
    while (room > 0 && queue[0] !== undefined) {
      const served = Math.min(room, queue[0].count);
      this.#longestWaitMs = Math.max(this.#longestWaitMs, Math.round((now - queue[0].since) * 1_000));
      queue[0].count -= served;
      room -= served;
      this.#waiting -= served;
      this.#answered += served;
      written += this.#draw(served * load.writes * load.jobs);
      if (queue[0].count === 0) queue.shift();
    }
    return written;
  }

  #giveUp(now: number, patience: number): void {
    const queue = this.#queue;
    while (queue[0] !== undefined && now - queue[0].since >= patience) {
      this.#refused += queue[0].count;
      this.#waiting -= queue[0].count;
      this.#unavailable.add(Math.floor(now));
      queue.shift();
    }
  }

  #work(now: number, { database, broker, leader, lost }: Condition): void {
    const { capacity, lease } = this.#scenario;
    const leased = this.#leased;
    if (lost !== undefined && now - lost.atSecond < stepSeconds) {
      const underWay = Math.min(this.#ready, Math.round(capacity.jobs * (lost.share ?? 0) * stepSeconds));
      this.#ready -= underWay;
      leased.push({ until: now + lease, count: underWay });
    }
    while (leased[0] !== undefined && leased[0].until <= now) this.#ready += leased.shift()?.count ?? 0;
    if (!database || !broker) return;
    if (leader) {
      const sent = Math.min(this.#unsent, Math.round(capacity.messages * stepSeconds));
      this.#unsent -= sent;
      this.#ready += sent;
    }
    const done = Math.min(this.#ready, Math.round(capacity.jobs * shareOf(lost) * stepSeconds));
    this.#ready -= done;
    this.#jobsDone += done;
  }

  /** Whether all is as usual again. */
  #look(now: number): void {
    const { load } = this.#scenario;
    const jobsWaiting = this.#unsent + this.#ready + this.#leased.reduce((sum, { count }) => sum + count, 0);
    this.#mostJobs = Math.max(this.#mostJobs, jobsWaiting);
    const usual = load.perSecond * load.writes * load.jobs * usualJobSeconds;
    if (now < this.#lastFaultEnds) this.#recoveredAt = undefined;
    else if (jobsWaiting <= usual && this.#waiting <= load.perSecond) this.#recoveredAt ??= now;
  }
}

/** Of the pods that are left. */
const shareOf = (lost: Fault | undefined): number => 1 - (lost?.share ?? 0);

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
