import { describe, expect, it } from '@jest/globals';
import type { CallContext } from '#libs/infrastructure/nats';
import { createCredentialCache, type UserActor } from './cache.ts';

const actor: UserActor = {
  kind: 'user',
  accountId: 1,
  personId: 1,
  superuser: false,
  globalEditor: false,
  coherenceAccess: false,
};
const newCall = (): CallContext => ({ requestId: 'r', traceparent: '' });
const token = 'token-7';

/** Returns a cache, and its pending calls for the test to resolve, each with a new actor. */
function createCache(validForMs?: number) {
  const answers: (() => void)[] = [];
  let nowMs = 0;
  const cache = createCredentialCache({
    pattern: /^token-(\d+)$/,
    fetch: () =>
      new Promise((resolve) => {
        answers.push(() => resolve({ actor: { ...actor }, ...(validForMs !== undefined && { validForMs }) }));
      }),
    now: () => nowMs,
  });
  const verify = async () => {
    const before = answers.length;
    const verified = cache.verify(token, newCall);
    answers.slice(before).forEach((answer) => answer());
    await verified;
    return answers.length;
  };
  const advance = (ms: number): void => void (nowMs += ms);
  return { cache, answers, verify, advance };
}

describe('credential cache (K6)', () => {
  it('verifies a cached token again after 800 ms', async () => {
    const { verify, advance } = createCache();
    expect(await verify()).toBe(1);
    advance(799);
    expect(await verify()).toBe(1);
    advance(1);
    expect(await verify()).toBe(2);
  });

  it('does not cache a token after its expiry', async () => {
    const { verify, advance } = createCache(300);
    expect(await verify()).toBe(1);
    advance(299);
    expect(await verify()).toBe(1);
    advance(1);
    expect(await verify()).toBe(2);
  });

  it('verifies a token again when it was revoked during the verification', async () => {
    const { cache, answers, verify } = createCache();
    const verified = cache.verify(token, newCall);
    cache.invalidate('7');
    answers[0]?.();
    await verified;
    expect(await verify()).toBe(2);
    expect(await verify()).toBe(2);
    cache.invalidate('8');
    expect(await verify()).toBe(2);
    cache.invalidate('7');
    expect(await verify()).toBe(3);
  });
});
