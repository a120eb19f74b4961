/**
 * The job state machine against a model: random sequences of commands on the real library, PostgreSQL and NATS. The
 * handler waits for the test to end each attempt, so a command can also act on an attempt that has lost its lease.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { appError } from '#libs/infrastructure/errors';
import { type JobRun, LeaseLost, PermanentJobError, RetryLater } from '#libs/infrastructure/jobs';
import { createTestEnvironment, type TestEnvironment, waitFor } from '#libs/product/testing';
import { sized } from '../../drill.ts';
import { addEffect, countEffects, migrateShop, openReplica, readJob, type Replica, shop } from './fixture.ts';

const maxAttempts = shop.jobs.step.policy.maxAttempts;

interface ModelJob {
  readonly n: number;
  id: string;
  state: 'running' | 'succeeded' | 'dead' | 'cancelled';
  attempts: number;
  /** The number of attempts that the library has started, including stale ones. */
  begun: number;
  /** Attempts without a lease whose handler has not ended. */
  stale: number;
}
interface Model {
  readonly jobs: ModelJob[];
}

interface LiveAttempt {
  readonly run: JobRun<{ n: number }>;
  finish(error?: Error): void;
}

/** Runs the library and records all attempts that were passed to its handler, in order. */
class Shop {
  readonly attempts = new Map<number, LiveAttempt[]>();
  readonly env: TestEnvironment;
  replica!: Replica;

  constructor(env: TestEnvironment) {
    this.env = env;
  }

  readonly handler = (run: JobRun<{ n: number }>): Promise<void> =>
    new Promise((resolve, reject) => {
      const finish = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      const list = this.attempts.get(run.payload.n) ?? [];
      list.push({ run, finish });
      this.attempts.set(run.payload.n, list);
    });

  /** Returns the attempt with this number, counted from 1 across all redrives of the job. */
  attempt(n: number, number: number): Promise<LiveAttempt> {
    return waitFor(() => this.attempts.get(n)?.[number - 1], { what: `attempt ${number} of ${n}` });
  }

  async check(job: ModelJob): Promise<void> {
    if (job.state === 'running') await this.attempt(job.n, job.begun);
    const row = await waitFor(
      async () => {
        const found = await readJob(this.env, job.id);
        return found?.state === job.state && found.attempts === job.attempts ? found : undefined;
      },
      { what: `job ${job.n} to be ${job.state} with ${job.attempts} attempts` },
    );
    expect(row.state).toBe(job.state);
    expect(this.attempts.get(job.n)).toHaveLength(job.begun);
    await expect(countEffects(this.env, job.n)).resolves.toBe(job.state === 'succeeded' ? 1 : 0);
  }
}

type Step = fc.AsyncCommand<Model, Shop>;

let nextN = 1;

class Enqueue implements Step {
  check = ({ jobs }: Readonly<Model>): boolean => jobs.length < 3;
  async run(model: Model, real: Shop): Promise<void> {
    const n = nextN++;
    const id = await real.replica.jobs.transaction((tx) => real.replica.jobs.enqueue(tx, shop.jobs.step, { n }));
    const job: ModelJob = { n, id, state: 'running', attempts: 1, begun: 1, stale: 0 };
    model.jobs.push(job);
    await real.check(job);
  }
  toString = (): string => 'enqueue';
}

/** A command on one job of the model. The job is selected by index among the jobs to which the command applies. */
abstract class OnJob implements Step {
  readonly index: number;
  abstract readonly name: string;

  constructor(index: number) {
    this.index = index;
  }

  abstract fits(job: ModelJob): boolean;
  abstract act(job: ModelJob, real: Shop): Promise<void>;

  check({ jobs }: Readonly<Model>): boolean {
    return jobs.some((job) => this.fits(job));
  }

  async run({ jobs }: Model, real: Shop): Promise<void> {
    const fitting = jobs.filter((job) => this.fits(job));
    const job = fitting[this.index % fitting.length];
    if (job === undefined) return;
    await this.act(job, real);
    for (const other of jobs) await real.check(other);
  }

  toString(): string {
    return `${this.name}(${this.index})`;
  }
}

/** Applies a failure that counts as an attempt to the model. */
function failInModel(job: ModelJob): void {
  if (job.attempts >= maxAttempts) job.state = 'dead';
  else {
    job.attempts++;
    job.begun++;
  }
}

class Succeed extends OnJob {
  readonly name = 'succeed';
  fits = (job: ModelJob): boolean => job.state === 'running';
  async act(job: ModelJob, real: Shop): Promise<void> {
    const { run, finish } = await real.attempt(job.n, job.begun);
    await run.complete((tx) => tx.query(addEffect, [job.n, run.id]));
    finish();
    job.state = 'succeeded';
  }
}

class Fail extends OnJob {
  readonly name = 'fail';
  fits = (job: ModelJob): boolean => job.state === 'running';
  async act(job: ModelJob, real: Shop): Promise<void> {
    (await real.attempt(job.n, job.begun)).finish(appError('unavailable', 'provider', 'provider is away'));
    failInModel(job);
  }
}

class FailForGood extends OnJob {
  readonly name = 'fail for good';
  fits = (job: ModelJob): boolean => job.state === 'running';
  async act(job: ModelJob, real: Shop): Promise<void> {
    (await real.attempt(job.n, job.begun)).finish(new PermanentJobError('impossible'));
    job.state = 'dead';
  }
}

class Postpone extends OnJob {
  readonly name = 'postpone';
  fits = (job: ModelJob): boolean => job.state === 'running';
  async act(job: ModelJob, real: Shop): Promise<void> {
    (await real.attempt(job.n, job.begun)).finish(new RetryLater('not yet', { delayMs: 5 }));
    job.begun++;
  }
}

class LoseLease extends OnJob {
  readonly name = 'lose lease';
  fits = (job: ModelJob): boolean => job.state === 'running' && job.stale < 2;
  async act(job: ModelJob, real: Shop): Promise<void> {
    await real.attempt(job.n, job.begun);
    const before = (await readJob(real.env, job.id))?.lease ?? 0;
    await waitFor(async () => {
      await real.env.sql(
        `update shop.jobs set lease_until = now() - interval '1 second' where id = $1 and lease = $2 and state = 'running'`,
        [job.id, before],
      );
      return ((await readJob(real.env, job.id))?.lease ?? 0) > before;
    });
    job.stale++;
    failInModel(job);
  }
}

class Cancel extends OnJob {
  readonly name = 'cancel';
  fits = (job: ModelJob): boolean => job.state === 'running';
  async act(job: ModelJob, real: Shop): Promise<void> {
    await expect(real.replica.jobs.admin.cancel({ ids: [job.id] })).resolves.toMatchObject({ changed: 1 });
    job.stale++;
    job.state = 'cancelled';
  }
}

class Discard extends OnJob {
  readonly name = 'discard';
  fits = (job: ModelJob): boolean => job.state === 'dead';
  async act(job: ModelJob, real: Shop): Promise<void> {
    await expect(real.replica.jobs.admin.cancel({ ids: [job.id], state: 'dead' })).resolves.toMatchObject({
      changed: 1,
    });
    job.state = 'cancelled';
  }
}

/** Whether the job is finished unless it is redriven. */
const isOver = ({ state }: ModelJob): boolean => state === 'dead' || state === 'cancelled';

class CompleteStale extends OnJob {
  readonly name = 'complete without a lease';
  fits = (job: ModelJob): boolean => job.stale > 0;
  async act(job: ModelJob, real: Shop): Promise<void> {
    const entitled = isOver(job) ? undefined : job.begun;
    const attempts = real.attempts.get(job.n) ?? [];
    for (const [index, { run, finish }] of attempts.entries()) {
      if (index + 1 === entitled) continue;
      const outcome: unknown = await run
        .complete((tx) => tx.query(addEffect, [job.n, run.id]))
        .then(
          () => 'completed',
          (error: unknown) => error,
        );
      // This also applies to attempts that ended normally, because they have no lease any more.
      expect(outcome).toBeInstanceOf(LeaseLost);
      finish(outcome as Error);
    }
    job.stale = 0;
  }
}

class Redrive extends OnJob {
  readonly name = 'redrive';
  fits = isOver;
  async act(job: ModelJob, real: Shop): Promise<void> {
    await expect(real.replica.jobs.admin.redrive({ ids: [job.id] })).resolves.toMatchObject({ changed: 1 });
    job.state = 'running';
    job.attempts = 1;
    job.begun++;
  }
}

class Redeliver extends OnJob {
  readonly name = 'deliver again';
  fits = (): boolean => true;
  async act(job: ModelJob, real: Shop): Promise<void> {
    await real.replica.bus.publishDurable('jobs.shop.step', JSON.stringify({ id: job.id }), {
      msgId: `again-${Math.random()}`,
    });
    await waitFor(async () => (await real.replica.bus.consumerLag('JOBS', 'shop_step')).pending === 0);
  }
}

class ActWithoutRight extends OnJob {
  readonly name = 'redrive, discard or cancel what cannot be';
  fits = (job: ModelJob): boolean => !isOver(job);
  async act(job: ModelJob, real: Shop): Promise<void> {
    await expect(real.replica.jobs.admin.redrive({ ids: [job.id] })).resolves.toMatchObject({ changed: 0 });
    await expect(real.replica.jobs.admin.cancel({ ids: [job.id], state: 'dead' })).resolves.toMatchObject({
      changed: 0,
    });
    if (job.state === 'succeeded')
      await expect(real.replica.jobs.admin.cancel({ ids: [job.id] })).resolves.toMatchObject({ changed: 0 });
  }
}

const allowed = [
  'queued→running',
  'running→succeeded',
  'running→dead',
  'running→queued',
  'dead→queued',
  'running→cancelled',
  'queued→cancelled',
  'dead→cancelled',
  'cancelled→queued',
];

describe('state machine of a job (architecture#jobs)', () => {
  let env: TestEnvironment;
  let real: Shop;

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    await migrateShop(env.settings['DATABASE_URL'] ?? '', env);
    await env.sql('create table shop.transitions (id uuid, change text)');
    await env.sql(`create function shop.note_transition() returns trigger language plpgsql as $$ begin
      if old.state <> new.state then insert into shop.transitions values (new.id, old.state || '→' || new.state); end if; return new; end $$`);
    await env.sql(
      'create trigger transitions after update on shop.jobs for each row execute function shop.note_transition()',
    );
    real = new Shop(env);
    real.replica = await openReplica(env, {
      handlers: { step: real.handler },
      tuning: { sweepMs: 40, pollMs: 20, leaseMs: 3_000, stopGraceMs: 50 },
    });
  });
  afterAll(async () => {
    await real.replica.stop();
    await env.stop();
  });

  it('jobs behave like the model for every order of operations and failures', async () => {
    const index = fc.nat({ max: 5 });
    const of = (Command: new (index: number) => OnJob) => index.map((value) => new Command(value));
    const commands = fc.commands<Model, Shop, false>(
      [
        fc.constant(new Enqueue()),
        ...[
          Succeed,
          Fail,
          Fail,
          FailForGood,
          Postpone,
          LoseLease,
          Cancel,
          Discard,
          CompleteStale,
          Redrive,
          Redrive,
          Redeliver,
          ActWithoutRight,
        ].map(of),
      ],
      { maxCommands: 25, size: 'max' },
    );
    await fc.assert(
      fc.asyncProperty(commands, async (steps) => {
        real.attempts.clear();
        const model: Model = { jobs: [] };
        await new Enqueue().run(model, real);
        await fc.asyncModelRun(() => ({ model, real }), steps);
        for (const job of model.jobs) {
          for (const { finish } of real.attempts.get(job.n) ?? []) finish(new PermanentJobError('end of the run'));
        }
        await waitFor(
          async () => (await env.sql(`select 1 from shop.jobs where state in ('queued', 'running')`)).length === 0,
        );
      }),
      { numRuns: sized({ smoke: 15, release: 40 }), endOnFailure: true },
    );
    const seen = await env.sql<{ change: string }>('select distinct change from shop.transitions');
    expect(allowed).toEqual(expect.arrayContaining(seen.map(({ change }) => change)));
    expect(seen.length).toBeGreaterThanOrEqual(5);
  });
});
