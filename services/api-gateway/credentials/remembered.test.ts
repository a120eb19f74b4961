import { describe, expect, it } from '@jest/globals';
import type { CallContext } from '#libs/nats';
import type { UserActor } from './credential.ts';
import { createRemembered } from './remembered.ts';

const actor: UserActor = { kind: 'user', accountId: 1, personId: 1, superuser: false, globalEditor: false, coherenceAccess: false };
const newCall = (): CallContext => ({ requestId: 'r', traceparent: '' });
const token = 'token-7';

/** Its questions are answered by hand, each with an actor of its own. */
function createMemory(forMs?: number) {
  const answers: (() => void)[] = [];
  let nowMs = 0;
  const memory = createRemembered({
    pattern: /^token-(\d+)$/,
    ask: () =>
      new Promise((resolve) => {
        answers.push(() => resolve({ actor: { ...actor }, ...(forMs !== undefined && { forMs }) }));
      }),
    now: () => nowMs,
  });
  const verify = async () => {
    const asked = answers.length;
    const known = memory.verify(token, newCall);
    answers.slice(asked).forEach((answer) => answer());
    await known;
    return answers.length;
  };
  const pass = (ms: number): void => void (nowMs += ms);
  return { memory, answers, verify, pass };
}

describe('a token that was asked about (K6)', () => {
  it('is asked about again after 800 ms, and not before', async () => {
    const { verify, pass } = createMemory();
    expect(await verify()).toBe(1);
    pass(799);
    expect(await verify()).toBe(1);
    pass(1);
    expect(await verify()).toBe(2);
  });

  it('is not remembered for longer than it is good', async () => {
    const { verify, pass } = createMemory(300);
    expect(await verify()).toBe(1);
    pass(299);
    expect(await verify()).toBe(1);
    pass(1);
    expect(await verify()).toBe(2);
  });

  it('is asked about again when it was revoked while it was asked about', async () => {
    const { memory, answers, verify } = createMemory();
    const known = memory.verify(token, newCall);
    memory.forget('7');
    answers[0]?.();
    await known;
    expect(await verify()).toBe(2);
    expect(await verify()).toBe(2);
    memory.forget('8');
    expect(await verify()).toBe(2);
    memory.forget('7');
    expect(await verify()).toBe(3);
  });
});
