import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/infrastructure/logger';
import { waitFor } from '#libs/product/testing';
import { type PollRun, Poller } from './poller.ts';

const longMs = 600_000;

describe('Poller', () => {
  let poller: Poller;

  afterEach(async () => {
    await poller.stop();
  });

  /** Starts a poller. @returns the recorded polls and a function that returns the log messages */
  function start(
    intervalMs: number,
    look: (count: number) => Promise<void> | void = () => undefined,
  ): { looks: PollRun[]; log: () => string[] } {
    const looks: PollRun[] = [];
    const lines = new PassThrough();
    const texts: string[] = [];
    lines.on('data', (line: Buffer) => texts.push((JSON.parse(line.toString('utf8')) as { msg: string }).msg));
    poller = new Poller({
      poll: async (given) => look(looks.push(given)),
      intervalMs,
      logger: createLogger({ service: 'test', destination: lines }),
      texts: { failure: 'fails', recovery: 'works again' },
    });
    poller.start();
    return { looks, log: () => texts };
  }

  it('polls at the start and after each interval', async () => {
    const { looks } = start(1);
    await waitFor(() => looks.length > 3);
    expect(looks[3]).toEqual({ woken: false, last: false });
  });

  it('polls immediately when woken, also during a poll', async () => {
    const calls = Promise.withResolvers<void>();
    const { looks } = start(longMs, (count) => (count === 2 ? calls.promise : undefined));
    await waitFor(() => looks.length === 1);
    poller.wake();
    await waitFor(() => looks.length === 2);
    poller.wake();
    poller.wake();
    calls.resolve();
    await waitFor(() => looks.length === 3);
    expect(looks.slice(1)).toEqual([
      { woken: true, last: false },
      { woken: true, last: false },
    ]);
  });

  it('polls at the earliest requested time', async () => {
    const { looks } = start(longMs);
    poller.wakeIn(longMs / 2);
    poller.wakeIn(2);
    poller.wakeIn(longMs / 3);
    await waitFor(() => looks.length === 2);
    expect(looks[1]).toEqual({ woken: true, last: false });
  });

  it('polls one last time when it is stopped', async () => {
    const { looks } = start(longMs);
    await waitFor(() => looks.length === 1);
    await poller.stop();
    expect(looks).toEqual([
      { woken: false, last: false },
      { woken: false, last: true },
    ]);
    poller.wake();
    expect(looks).toHaveLength(2);
  });

  it('ignores wake-ups during a series of failures, and logs the failure once', async () => {
    const { looks, log } = start(20, (count) => {
      if (count < 5) poller.wake();
      if (count < 4) throw new Error('away');
    });
    const startedAt = performance.now();
    await waitFor(() => looks.length > 4);
    expect(performance.now() - startedAt).toBeGreaterThan(50);
    expect(log()).toEqual(['fails', 'works again']);
  });

  it('stops immediately during a series of failures', async () => {
    const { looks } = start(longMs, () => Promise.reject(new Error('away')));
    await waitFor(() => looks.length === 1);
    await poller.stop();
    expect(looks).toHaveLength(2);
  });
});
