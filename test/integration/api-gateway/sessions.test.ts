/** The gateway's cache of sessions and service keys, with a directory stand-in on a real bus. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { defineService } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import { type Bus, connectBus } from '#libs/infrastructure/nats';
import { createTestEnvironment, type TestEnvironment, waitFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { createKeys, createSessions } from '../../../services/api-gateway/credentials/index.ts';

const key = 'a'.repeat(32);
const token = `svc_agentic_${key}_${'x'.repeat(43)}`;
const actor = {
  kind: 'user' as const,
  accountId: 1,
  email: 'ada@example.org',
  personId: 2,
  superuser: false,
  globalEditor: false,
  coherenceAccess: true,
  sessionKey: key,
};
const { sessionKey: _session, ...account } = actor;
const keyId = 'k'.repeat(20);
const keyActor = { ...account, key: { id: keyId, scopes: ['media:read'] } };
const newCall = () => ({ requestId: 'r' });
const { verifyKey, verifySession } = directory.rpcs;
const contract = defineService({ service: 'directory', rpcs: { verifyKey, verifySession }, jobs: {}, events: {} });
const known = { actor, expires_at: '2030-01-01T00:00:00+00:00' };

let env: TestEnvironment;
let bus: Bus;
let asked: number;
/** Reply of the directory. */
let answer: () => Promise<typeof known>;
/** The gateway's clock. */
let nowMs: number;
let sessions: ReturnType<typeof createSessions>;

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  bus = await connectBus({
    url: env.settings['NATS_URL'] ?? '',
    name: 'sessions',
    checkReplies: true,
    prefix: env.settings['NATS_SUBJECT_PREFIX'],
    logger: env.logger,
    actors: env.actors,
  });
  await bus.serve(contract, {
    verifySession: () => {
      asked++;
      return answer();
    },
    verifyKey: () => {
      asked++;
      return Promise.resolve({ actor: keyActor });
    },
  });
});
afterAll(async () => {
  await bus.deleteStreams();
  await bus.close();
  await env.stop();
});
beforeEach(() => {
  asked = 0;
  nowMs = 0;
  answer = () => Promise.resolve(known);
  sessions = createSessions(bus, { now: () => nowMs });
});

describe('sessions in the gateway (rules/access#login: revocation takes effect within a second)', () => {
  it('verifies a session again 800 ms after the verification request, not after its reply', async () => {
    answer = () => {
      nowMs += 500;
      return Promise.resolve(known);
    };
    await expect(sessions.verify(token, newCall)).resolves.toEqual(actor);
    nowMs = 799;
    await sessions.verify(token, newCall);
    expect(asked).toBe(1);
    nowMs = 800;
    await sessions.verify(token, newCall);
    expect(asked).toBe(2);
  });

  it('invalidates a session that is revoked while the gateway verifies it', async () => {
    const { promise, resolve } = Promise.withResolvers<typeof known>();
    answer = () => promise;
    const first = sessions.verify(token, newCall);
    await waitFor(() => asked === 1);
    sessions.invalidate(key);
    const second = sessions.verify(token, newCall);
    await waitFor(() => asked === 2);
    resolve(known);
    await Promise.all([first, second]);
    sessions.invalidate(key);
    await sessions.verify(token, newCall);
    expect(asked).toBe(3);
  });

  it('verifies a session once for concurrent requests', async () => {
    await Promise.all(Array.from({ length: 5 }, async () => sessions.verify(token, newCall)));
    expect(asked).toBe(1);
  });

  it('does not drop a cached session when another session is invalidated', async () => {
    await sessions.verify(token, newCall);
    sessions.invalidate('b'.repeat(32));
    await sessions.verify(token, newCall);
    expect(asked).toBe(1);
  });

  it('does not cache a rejected session', async () => {
    answer = () => Promise.reject(new AppError({ code: 'unauthenticated', message: 'no' }));
    for (let round = 1; round <= 2; round++) {
      await expect(sessions.verify(token, newCall)).rejects.toMatchObject({ code: 'unauthenticated' });
      expect(asked).toBe(round);
    }
  });

  it.each([
    new AppError({ code: 'internal', message: 'x' }),
    new AppError({ code: 'deadline_exceeded', message: 'x' }),
    new Error('x'),
  ])('returns 503 when the directory fails with %s', async (error) => {
    answer = () => Promise.reject(error);
    await expect(sessions.verify(token, newCall)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('service keys in the gateway (rules/access#service-keys; K6, K7)', () => {
  const keyToken = `svc_key_${keyId}_${'x'.repeat(43)}`;

  it('verifies a key once within 800 ms, and again after its invalidation', async () => {
    const keys = createKeys(bus, () => nowMs);
    await expect(keys.verify(keyToken, newCall)).resolves.toEqual(keyActor);
    nowMs = 799;
    expect([await keys.verify(keyToken, newCall), asked]).toEqual([keyActor, 1]);
    nowMs = 800;
    await keys.verify(keyToken, newCall);
    expect(asked).toBe(2);
    keys.invalidate(keyId);
    await keys.verify(keyToken, newCall);
    expect(asked).toBe(3);
  });

  it('distinguishes session tokens from service keys by their format', () => {
    const forms = [createSessions(bus), createKeys(bus)].map((form) => [form.matches(token), form.matches(keyToken)]);
    expect(forms).toEqual([
      [true, false],
      [false, true],
    ]);
  });
});
