import { describe, expect, it } from '@jest/globals';
import { FeedNews } from './news.ts';

describe('those who wait for the feed (rules/http#overload)', () => {
  it('are a thousand at most, and the next comes in when one leaves', async () => {
    const news = new FeedNews();
    const leave: (() => void)[] = [];
    const waits = Array.from({ length: 1_000 }, () => news.hold(() => new Promise<void>((resolve) => leave.push(resolve))));
    await expect(news.hold(async () => 1)).rejects.toMatchObject({ code: 'unavailable' });
    leave.pop()?.();
    await waits.at(-1);
    expect(await news.hold(async () => 2)).toBe(2);
    for (const go of leave) go();
    await Promise.all(waits);
  });

  it('look four at a time, in turn, also behind one that fails', async () => {
    const news = new FeedNews();
    const begun: number[] = [];
    const ends: PromiseWithResolvers<void>[] = [];
    const looks = Array.from({ length: 10 }, (_, n) => {
      const end = Promise.withResolvers<void>();
      ends.push(end);
      return news.look(() => {
        begun.push(n);
        return end.promise;
      });
    });
    expect(begun).toEqual([0, 1, 2, 3]);
    ends[2]?.reject(new Error('away'));
    await expect(looks[2]).rejects.toThrow('away');
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    for (const end of ends) end.resolve();
    await Promise.allSettled(looks);
    expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await news.look(async () => 'free')).toBe('free');
  });
});
