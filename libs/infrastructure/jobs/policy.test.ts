import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { consumerOf, job, type JobPolicy, Type } from '#libs/infrastructure/contract';
import { appError } from '#libs/infrastructure/errors';
import {
  AttemptTimeout,
  describeError,
  describeFault,
  LeaseLost,
  PermanentJobError,
  RetryLater,
  WorkerStopping,
} from './errors.ts';
import { backoffMs, decideOutcome, maxAttempts, policyColumns } from './policy.ts';
import { createUuid, isUuid, minUuidAt } from './uuid.ts';

const policy: JobPolicy = { maxAttempts: 3, firstDelayMs: 1_000, maxDelayMs: 60_000, timeoutMs: 1_000, concurrency: 1 };

describe('backoff (architecture#jobs)', () => {
  it('doubles the delay from the first to the maximum, with jitter in its upper half', () => {
    const bounds = [1, 2, 3, 7, 50].map((failures) => [
      backoffMs(policy, failures, () => 0),
      backoffMs(policy, failures, () => 1),
    ]);
    expect(bounds).toEqual([
      [500, 1_000],
      [1_000, 2_000],
      [2_000, 4_000],
      [30_000, 60_000],
      [30_000, 60_000],
    ]);
  });

  it('returns a finite whole number of milliseconds within the policy for any number of failures', () => {
    const sizes = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 1, max: 1_000_000 }));
    fc.assert(
      fc.property(sizes, ([failures, firstDelayMs, maxDelayMs]) => {
        const delayMs = backoffMs({ ...policy, firstDelayMs, maxDelayMs }, failures);
        expect(Number.isInteger(delayMs) && delayMs >= 0 && delayMs <= maxDelayMs).toBe(true);
      }),
    );
  });
});

describe('decideOutcome of a job attempt (architecture#jobs)', () => {
  const first = { attempt: 1, requeued: 0 };

  it('retries temporary errors, and makes the job dead after the last attempt', () => {
    const away = appError('unavailable', 'provider', 'The provider is away');
    expect(decideOutcome(away, policy, { attempt: 2, requeued: 1 })).toMatchObject({
      outcome: 'retried',
      dead: false,
      counts: true,
      error: 'The provider is away',
    });
    expect(decideOutcome(away, policy, { attempt: 3, requeued: 2 })).toMatchObject({
      outcome: 'dead',
      dead: true,
      error: 'The provider is away',
    });
    expect(decideOutcome(new AttemptTimeout(5), policy, first)).toMatchObject({
      outcome: 'retried',
      error: 'The attempt did not end within 5 ms',
    });
  });

  it('makes the job dead after a permanent error', () => {
    expect(decideOutcome(new PermanentJobError('unreadable'), policy, first)).toMatchObject({
      outcome: 'dead',
      dead: true,
      error: 'unreadable',
    });
  });

  it('does not count an attempt that threw RetryLater, and uses its delay or a growing one', () => {
    expect(decideOutcome(new RetryLater('not yet', { delayMs: 7 }), policy, { attempt: 3, requeued: 9 })).toMatchObject(
      {
        outcome: 'postponed',
        dead: false,
        counts: false,
        delayMs: 7,
      },
    );
    const { delayMs } = decideOutcome(new RetryLater('not yet'), policy, { attempt: 1, requeued: 9 });
    expect(delayMs).toBeGreaterThanOrEqual(30_000);
  });

  it('releases the job of a stopping worker and preserves the error of the previous attempt', () => {
    expect(decideOutcome(new WorkerStopping(), policy, { attempt: 3, requeued: 0 })).toEqual({
      outcome: 'given_back',
      dead: false,
      delayMs: 0,
      error: null,
      counts: false,
    });
  });

  it('writes nothing for a job attempt whose lease is lost', () => {
    expect(decideOutcome(new LeaseLost(), policy, first).outcome).toBe('lost');
  });

  it('retries indefinitely with unlimited attempts', () => {
    expect(maxAttempts({ ...policy, maxAttempts: Infinity })).toBe(2_147_483_647);
    expect(
      decideOutcome(new Error('x'), { ...policy, maxAttempts: Infinity }, { attempt: 1_000_000, requeued: 0 }).outcome,
    ).toBe('retried');
    const declaration = job({
      type: 'shop.pack',
      summary: 'Packs',
      payload: Type.Object({}),
      policy: { ...policy, maxAttempts: Infinity },
    });
    expect(policyColumns([declaration])).toEqual({
      types: ['shop.pack'],
      maxAttempts: [2_147_483_647],
      firstDelays: [1_000],
      longestDelays: [60_000],
    });
    expect(consumerOf('shop.pack')).toBe('shop_pack');
  });
});

describe('describeError of a failed job (rules/transcripts#excluded-speech)', () => {
  it('returns the message of an error that is written for operators', () => {
    expect(describeError(appError('conflict', 'x', 'Step has moved on'))).toBe('Step has moved on');
    expect(describeError(new RetryLater('No session yet'))).toBe('No session yet');
  });

  it('never includes the message of any other error', () => {
    let quoting: unknown;
    try {
      JSON.parse('spoken words');
    } catch (error) {
      quoting = error;
    }
    expect(describeError(quoting)).toBe('Internal error (SyntaxError)');
    expect(describeError(Object.assign(new Error('value "spoken words"'), { code: '22P02' }))).toBe(
      'Internal error (Error 22P02)',
    );
    expect(describeError('spoken words')).toBe('Internal error (not an error)');
    expect(JSON.stringify(describeFault(quoting))).not.toContain('spoken');
    expect(describeFault(quoting)).toMatchObject({
      fault: 'SyntaxError',
      at: expect.arrayContaining([expect.stringContaining('policy.test.ts')]),
    });
    const disguised = new Error('x\n    at spoken words');
    expect(JSON.stringify(describeFault(disguised))).not.toContain('spoken');
  });

  it('returns at most 1000 well-formed characters without U+0000', () => {
    expect(describeError(new PermanentJobError('x'.repeat(2_000)))).toHaveLength(1_000);
    const odd = describeError(new PermanentJobError(`a\u0000b${'😀'.repeat(800)}\ud800`));
    expect(odd.isWellFormed()).toBe(true);
    expect(odd).not.toContain('\u0000');
    expect(odd.length).toBeLessThanOrEqual(1_000);
  });
});

describe('job ids', () => {
  it('creates UUIDs of version 7 that sort by time', () => {
    const times = [0, 1, 1_700_000_000_000, 2 ** 47];
    const ids = times.map(minUuidAt);
    expect(ids.toSorted()).toEqual(ids);
    for (const id of [...ids, createUuid()])
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const before = Date.now();
    const id = createUuid();
    expect(minUuidAt(before) <= id).toBe(true);
    expect(id < minUuidAt(Date.now() + 1)).toBe(true);
    expect(isUuid(id)).toBe(true);
    expect(isUuid('x')).toBe(false);
  });
});
