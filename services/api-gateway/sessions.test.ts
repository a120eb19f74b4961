import { describe, expect, it } from '@jest/globals';
import { AppError } from '#libs/errors';
import type { Bus } from '#libs/nats';
import { createSessions } from './sessions.ts';

const key = 'a'.repeat(32);
const token = `svc_agentic_${key}_${'x'.repeat(43)}`;
const actor = { kind: 'user', accountId: 1, personId: 2, superuser: false, globalEditor: false, coherenceAccess: true, sessionKey: key };
const call = { requestId: 'r' };

function setUp(answer: () => Promise<unknown> = () => Promise.resolve({ actor })) {
  const state = { now: 0, asked: 0 };
  const bus = {
    call: () => {
      state.asked++;
      return answer();
    },
  } as unknown as Pick<Bus, 'call'>;
  return { state, sessions: createSessions(bus, () => state.now) };
}

describe('createSessions (rules/access#login: revocation is felt within a second)', () => {
  it('asks again 800 ms after the question, not after the answer', async () => {
    const { state, sessions } = setUp(() => {
      state.now += 500;
      return Promise.resolve({ actor });
    });
    await sessions.verify(token, call);
    state.now = 799;
    await sessions.verify(token, call);
    expect(state.asked).toBe(1);
    state.now = 800;
    await sessions.verify(token, call);
    expect(state.asked).toBe(2);
  });

  it('does not remember an answer that was under way when the session was revoked', async () => {
    let answer = (_value: unknown): void => undefined;
    const { state, sessions } = setUp(() => new Promise((resolve) => (answer = resolve)));
    const first = sessions.verify(token, call);
    sessions.forget(key);
    const second = sessions.verify(token, call);
    answer({ actor });
    await second;
    expect(state.asked).toBe(2);
    void first;
    sessions.forget(key);
    void sessions.verify(token, call);
    expect(state.asked).toBe(3);
  });

  it('keeps other sessions when one is forgotten', async () => {
    const { state, sessions } = setUp();
    await sessions.verify(token, call);
    sessions.forget('b'.repeat(32));
    await sessions.verify(token, call);
    expect(state.asked).toBe(1);
  });

  it('remembers no refusal', async () => {
    const { state, sessions } = setUp(() => Promise.reject(new AppError({ code: 'unauthenticated', message: 'no' })));
    for (let round = 1; round <= 2; round++) {
      await expect(sessions.verify(token, call)).rejects.toMatchObject({ code: 'unauthenticated' });
      expect(state.asked).toBe(round);
    }
  });

  it.each([new AppError({ code: 'internal', message: 'x' }), new AppError({ code: 'deadline_exceeded', message: 'x' }), new Error('x')])(
    'makes 503 of %s',
    async (error) => {
      const { sessions } = setUp(() => Promise.reject(error));
      await expect(sessions.verify(token, call)).rejects.toMatchObject({ code: 'unavailable' });
    },
  );
});
