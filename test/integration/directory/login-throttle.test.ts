import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AppError } from '#libs/errors';
import { directory } from '#services/directory';
import { createWorld, type World } from './world.ts';

const { login, refuseLogin, setPassword } = directory.rpcs;

async function outcomes(world: World, requests: readonly { email: string; password: string; ip: string }[]): Promise<string[]> {
  return Promise.all(
    requests.map((request) =>
      world.call(login, request).then(
        () => 'ok',
        (error: AppError) => error.code,
      ),
    ),
  );
}

function count(codes: readonly string[], code: string): number {
  return codes.filter((item) => item === code).length;
}

describe('login throttle by address (RATE_LIMIT_LOGIN_PER_MINUTE; spec 03 §1, Rate limits)', () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(import.meta.url, { RATE_LIMIT_LOGIN_PER_MINUTE: '10' }, 2);
    await world.apply({ people: [{ key: 'ada', name: 'Ada' }], accounts: [{ email: 'ada@example.org', person: 'ada', password: 'pw' }] });
  });
  afterAll(() => world.stop());

  it('admits exactly ten of thirty parallel logins over two replicas, right and wrong alike', async () => {
    const requests = Array.from({ length: 30 }, (_, index) => ({
      email: 'ada@example.org',
      password: index % 2 === 0 ? 'pw' : 'no',
      ip: '192.0.2.7',
    }));
    expect(count(await outcomes(world, requests), 'rate_limited')).toBe(20);
  });

  it('says when to come again, and counts each address for itself', async () => {
    const error = await world.refusal(login, { email: 'ada@example.org', password: 'pw', ip: '192.0.2.7' });
    expect(error.toBody()).toMatchObject({ code: 'rate_limited', details: { retry_after: expect.any(Number) } });
    const seconds = Number(error.details['retry_after']);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(await outcomes(world, [{ email: 'ada@example.org', password: 'pw', ip: '192.0.2.8' }])).toEqual(['ok']);
  });

  it('counts calls with a wrong gate key too', async () => {
    for (let round = 0; round < 10; round++)
      expect(await world.refusal(refuseLogin, { ip: '192.0.2.9' })).toMatchObject({ code: 'unauthenticated' });
    expect(await world.refusal(refuseLogin, { ip: '192.0.2.9' })).toMatchObject({ code: 'rate_limited' });
    expect(await world.refusal(login, { email: 'ada@example.org', password: 'pw', ip: '192.0.2.9' })).toMatchObject({
      code: 'rate_limited',
    });
  });

  it('admits again when the minute is over; refused calls do not lengthen it', async () => {
    await world.env.sql(
      `update directory.login_attempts set attempted_at = (select array_agg(at - interval '61 seconds') from unnest(attempted_at) as a(at)) where key = 'ip:192.0.2.7'`,
    );
    const again = Array.from({ length: 12 }, () => ({ email: 'ada@example.org', password: 'pw', ip: '192.0.2.7' }));
    const codes = await outcomes(world, again);
    expect([count(codes, 'ok'), count(codes, 'rate_limited')]).toEqual([10, 2]);
  });
});

describe('login throttle by email (RATE_LIMIT_LOGIN_FAILURES; spec 03 §1, Rate limits)', () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(import.meta.url, { RATE_LIMIT_LOGIN_FAILURES: '5' }, 2);
    const accounts = ['ada', 'ben', 'eve'].map((name) => ({ email: `${name}@example.org`, person: 'ada', password: 'pw' }));
    await world.apply({ people: [{ key: 'ada', name: 'Ada' }], accounts });
  });
  afterAll(() => world.stop());

  const attempt = (email: string, password: string) => ({ email, password, ip: '192.0.2.1' });

  it('admits five failures of forty parallel ones over two replicas, then not even the right password', async () => {
    const codes = await outcomes(
      world,
      Array.from({ length: 40 }, () => attempt('ada@example.org', 'wrong')),
    );
    expect([count(codes, 'unauthenticated'), count(codes, 'rate_limited')]).toEqual([5, 35]);
    const error = await world.refusal(login, attempt(' ADA@example.org', 'pw'));
    expect(error.toBody()).toMatchObject({ code: 'rate_limited', details: { retry_after: expect.any(Number) } });
    expect(Number(error.details['retry_after'])).toBeLessThanOrEqual(900);
  });

  it('does not count successes and does not mix emails', async () => {
    const codes = await outcomes(
      world,
      Array.from({ length: 12 }, () => attempt('ben@example.org', 'pw')),
    );
    expect(count(codes, 'ok')).toBe(12);
  });

  it('throttles unknown emails like known ones', async () => {
    for (let round = 0; round < 5; round++) expect(await outcomes(world, [attempt('ghost@example.org', 'x')])).toEqual(['unauthenticated']);
    expect(await outcomes(world, [attempt('ghost@example.org', 'x')])).toEqual(['rate_limited']);
  });

  it('ends when the password is set by an administrator, or after 15 minutes', async () => {
    for (let round = 0; round < 5; round++) await outcomes(world, [attempt('eve@example.org', 'x')]);
    expect(await outcomes(world, [attempt('eve@example.org', 'pw')])).toEqual(['rate_limited']);
    await world.call(setPassword, { email: 'eve@example.org', password: 'new' });
    expect(await outcomes(world, [attempt('eve@example.org', 'new')])).toEqual(['ok']);
    await world.env.sql(
      `update directory.login_attempts set attempted_at = (select array_agg(at - interval '15 minutes') from unnest(attempted_at) as a(at))`,
    );
    expect(await outcomes(world, [attempt('ada@example.org', 'pw')])).toEqual(['ok']);
  });

  it('keeps no email in clear text', async () => {
    const rows = await world.env.sql<{ key: string }>('select key from directory.login_attempts');
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every(({ key }) => /^email:[0-9a-f]{64}$/.test(key))).toBe(true);
  });
});
