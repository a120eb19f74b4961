/** Bodies that do not end, with a fake clock; over real connections: test/security/bodies.drill.test.ts. */
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IncomingBody } from './incoming-body.ts';
import type { HttpContext } from './exchange.ts';
import { drainRequest } from './incoming.ts';
import { ByteBudget } from './byte-budget.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Starts a request with the given response status and an incomplete body. */
function begin(status: number) {
  const socket = { bytesRead: 0, destroyed: false, destroy: () => (socket.destroyed = true) };
  const headers = { 'content-length': '500000' };
  const req = Object.assign(new EventEmitter(), {
    complete: false,
    destroyed: false,
    headers,
    socket,
    readableLength: 0,
    resume: () => undefined,
  });
  const refused: string[] = [];
  const state = { startedAt: performance.now(), countRefusal: (reason: string) => void refused.push(reason) };
  const res = { headersSent: false, writableEnded: true, setHeader: () => undefined };
  const ctx = {
    req: Object.assign(req, { isPaused: () => false, pause: () => undefined }),
    res,
    state,
    status,
  } as unknown as HttpContext;
  /** Advances the clock by `seconds`; in each second `bytes` are received. */
  const pass = (seconds: number, bytes: number): void => {
    for (let second = 0; second < seconds; second++) {
      socket.bytesRead += bytes;
      jest.advanceTimersByTime(1_000);
    }
  };
  return { ctx, socket, refused, pass };
}
const [fast, slow] = [4_000, 500];

describe('IncomingBody (D62)', () => {
  const read = () => {
    const { ctx, ...request } = begin(200);
    const body = new IncomingBody(ctx, new ByteBudget(1_000_000));
    const errors: unknown[] = [];
    body.on('error', (error) => errors.push((error as { code?: string }).code));
    return { ...request, body };
  };

  it('rejects an unfinished body after half a minute at the minimum rate', () => {
    const { body, refused, pass } = read();
    pass(29, fast);
    expect([body.destroyed, refused]).toEqual([false, []]);
    pass(1, fast);
    expect([body.destroyed, refused]).toEqual([true, ['body_too_late']]);
  });

  it('rejects a body below the minimum rate after a few seconds', () => {
    const { body, refused, pass } = read();
    pass(4, slow);
    expect(body.destroyed).toBe(false);
    pass(2, slow);
    expect([body.destroyed, refused]).toEqual([true, ['body_too_slow']]);
  });
});

describe('drainRequest (D77)', () => {
  it('closes the connection half a minute after the response when an unfinished body arrives at the minimum rate', () => {
    const { ctx, socket, pass } = begin(401);
    drainRequest(ctx);
    pass(30, fast);
    expect(socket.destroyed).toBe(false);
    pass(2, fast);
    expect(socket.destroyed).toBe(true);
  });

  it('closes the connection a few seconds after the response when the remaining body is below the minimum rate', () => {
    const { ctx, socket, pass } = begin(401);
    drainRequest(ctx);
    pass(4, slow);
    expect(socket.destroyed).toBe(false);
    pass(3, slow);
    expect(socket.destroyed).toBe(true);
  });
});
