import { describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { renewLease, type Lease } from './lease.ts';

interface Kept {
  readonly lease: Lease;
  readonly failures: unknown[];
  count(): number;
}

function keep(renew: (time: number) => boolean | Promise<boolean>): Kept {
  let count = 0;
  const failures: unknown[] = [];
  const lease = renewLease({
    leaseMs: 6,
    renew: async () => renew(++count),
    onFailure: (error) => failures.push(error),
    reason: () => new Error('somebody else has it'),
  });
  return { lease, failures, count: () => count };
}

describe('renewLease', () => {
  it('renews a lease until it is stopped', async () => {
    const { lease, count } = keep(() => true);
    await waitFor(() => count() > 3, { what: 'renewals' });
    lease.stop();
    const before = count();
    let looks = 0;
    await waitFor(() => ++looks > 3, { what: 'time for more of them' });
    expect(count()).toBe(before);
    expect(lease.lost.aborted).toBe(false);
  });

  it('stops the renewal of a lost lease and aborts its signal', async () => {
    const { lease, count } = keep((time) => time < 3);
    await waitFor(() => lease.lost.aborted, { what: 'the loss' });
    expect(lease.lost.reason).toEqual(new Error('somebody else has it'));
    let looks = 0;
    await waitFor(() => ++looks > 3, { what: 'time for more of them' });
    expect(count()).toBe(3);
  });

  it('retains a lease when one renewal fails', async () => {
    const failure = new Error('the database is away');
    const { lease, failures, count } = keep((time) => {
      if (time < 8) throw failure; // fails for longer than the lease lasts
      return true;
    });
    await waitFor(() => count() > 9, { what: 'renewals' });
    lease.stop();
    expect(failures).toEqual(Array.from({ length: 7 }, () => failure));
    expect(lease.lost.aborted).toBe(false);
  });

  it('never runs two renewals of a lease concurrently', async () => {
    let running = 0;
    let most = 0;
    let release = (): void => {};
    const { lease, count } = keep(async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => (release = resolve));
      running--;
      return true;
    });
    await waitFor(() => count() === 1, { what: 'a renewal' });
    let looks = 0;
    await waitFor(() => ++looks > 3, { what: 'time for another' });
    expect(most).toBe(1);
    release();
    await waitFor(() => count() === 2, { what: 'the next renewal' });
    lease.stop();
    release();
  });
});
