import { describe, expect, it } from '@jest/globals';
import { FeedChangeNotifier } from './change-notifier.ts';

describe('FeedChangeNotifier (rules/http#overload)', () => {
  it('rejects the 1,001st waiting request until another request ends', async () => {
    const changes = new FeedChangeNotifier();
    const ends: (() => void)[] = [];
    const waits = Array.from({ length: 1_000 }, () =>
      changes.limitWaiting(() => new Promise<void>((resolve) => ends.push(resolve))),
    );
    await expect(changes.limitWaiting(async () => 1)).rejects.toMatchObject({ code: 'unavailable' });
    ends.pop()?.();
    await waits.at(-1);
    expect(await changes.limitWaiting(async () => 2)).toBe(2);
    for (const end of ends) end();
    await Promise.all(waits);
  });

  it('runs at most four reads at once in order, and continues after a failed read', async () => {
    const changes = new FeedChangeNotifier();
    const started: number[] = [];
    const ends: PromiseWithResolvers<void>[] = [];
    const reads = Array.from({ length: 10 }, (_, n) => {
      const end = Promise.withResolvers<void>();
      ends.push(end);
      return changes.limitReads(() => {
        started.push(n);
        return end.promise;
      });
    });
    expect(started).toEqual([0, 1, 2, 3]);
    ends[2]?.reject(new Error('unreachable'));
    await expect(reads[2]).rejects.toThrow('unreachable');
    expect(started).toEqual([0, 1, 2, 3, 4]);
    for (const end of ends) end.resolve();
    await Promise.allSettled(reads);
    expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await changes.limitReads(async () => 'free')).toBe('free');
  });
});
