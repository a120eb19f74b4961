import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AppError } from '#libs/infrastructure/errors';
import { waitForLockWait } from '#libs/product/testing';
import { directory } from '#services/directory';
import { holdTable } from '../../hold-locks.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

const { login, refuseLogin, setPassword } = directory.rpcs;

async function outcomes(
  fixture: DirectoryFixture,
  requests: readonly { email: string; password: string; ip: string }[],
): Promise<string[]> {
  return Promise.all(
    requests.map((request) =>
      fixture.call(login, request).then(
        () => 'ok',
        (error: AppError) => error.code,
      ),
    ),
  );
}

function count(codes: readonly string[], code: string): number {
  return codes.filter((item) => item === code).length;
}

describe('login throttle by address (RATE_LIMIT_LOGIN_PER_MINUTE; rules/http#rate-limits)', () => {
  let fixture: DirectoryFixture;
  beforeAll(async () => {
    fixture = await startDirectoryFixture(import.meta.url, { RATE_LIMIT_LOGIN_PER_MINUTE: '10' }, { replicas: 2 });
    await fixture.apply({
      people: [{ key: 'ada', name: 'Ada' }],
      accounts: [{ email: 'ada@example.org', person: 'ada', password: 'of throttled ones' }],
    });
  });
  afterAll(() => fixture.stop());

  it('accepts exactly ten of thirty concurrent logins from one address at two replicas, with correct and wrong passwords', async () => {
    const requests = Array.from({ length: 30 }, (_, index) => ({
      email: 'ada@example.org',
      password: index % 2 === 0 ? 'of throttled ones' : 'no',
      ip: '192.0.2.7',
    }));
    expect(count(await outcomes(fixture, requests), 'rate_limited')).toBe(20);
  });

  it('returns retry_after for a throttled login, and counts each address separately', async () => {
    const error = await fixture.refusal(login, {
      email: 'ada@example.org',
      password: 'of throttled ones',
      ip: '192.0.2.7',
    });
    expect(error.toBody()).toMatchObject({ code: 'rate_limited', details: { retry_after: expect.any(Number) } });
    const seconds = Number(error.details['retry_after']);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(
      await outcomes(fixture, [{ email: 'ada@example.org', password: 'of throttled ones', ip: '192.0.2.8' }]),
    ).toEqual(['ok']);
  });

  it('counts calls with a wrong gate key separately: ten per address, without affecting logins from it (D76)', async () => {
    const tries = Array.from({ length: 30 }, () => fixture.refusal(refuseLogin, { ip: '192.0.2.9' }));
    const codes = (await Promise.all(tries)).map(({ code }) => code);
    expect([count(codes, 'unauthenticated'), count(codes, 'rate_limited')]).toEqual([10, 20]);
    expect(await fixture.refusal(refuseLogin, { ip: '192.0.2.10' })).toMatchObject({ code: 'unauthenticated' });
    const logins = Array.from({ length: 11 }, () => ({
      email: 'ada@example.org',
      password: 'of throttled ones',
      ip: '192.0.2.9',
    }));
    const outcome = await outcomes(fixture, logins);
    expect([count(outcome, 'ok'), count(outcome, 'rate_limited')]).toEqual([10, 1]);
  });

  it('accepts logins again after a minute, which rejected calls do not extend', async () => {
    await fixture.env.sql(
      `update directory.login_attempts set attempted_at = (select array_agg(at - interval '61 seconds') from unnest(attempted_at) as a(at)) where key = 'ip:192.0.2.7'`,
    );
    const again = Array.from({ length: 12 }, () => ({
      email: 'ada@example.org',
      password: 'of throttled ones',
      ip: '192.0.2.7',
    }));
    const codes = await outcomes(fixture, again);
    expect([count(codes, 'ok'), count(codes, 'rate_limited')]).toEqual([10, 2]);
  });
});

describe('login throttle by email and address (RATE_LIMIT_LOGIN_FAILURES; rules/http#rate-limits; D76)', () => {
  let fixture: DirectoryFixture;
  beforeAll(async () => {
    fixture = await startDirectoryFixture(import.meta.url, { RATE_LIMIT_LOGIN_FAILURES: '5' }, { replicas: 2 });
    const accounts = ['ada', 'ben', 'eve'].map((name) => ({
      email: `${name}@example.org`,
      person: 'ada',
      password: 'of throttled ones',
    }));
    await fixture.apply({ people: [{ key: 'ada', name: 'Ada' }], accounts });
  });
  afterAll(() => fixture.stop());

  const attempt = (email: string, password: string, ip = '192.0.2.1') => ({ email, password, ip });

  it('counts only five of forty concurrent failed logins at two replicas, then rejects the correct password', async () => {
    const codes = await outcomes(
      fixture,
      Array.from({ length: 40 }, () => attempt('ada@example.org', 'wrong')),
    );
    expect([count(codes, 'unauthenticated'), count(codes, 'rate_limited')]).toEqual([5, 35]);
    const error = await fixture.refusal(login, attempt(' ADA@example.org', 'of throttled ones'));
    expect(error.toBody()).toMatchObject({ code: 'rate_limited', details: { retry_after: expect.any(Number) } });
    expect(Number(error.details['retry_after'])).toBeLessThanOrEqual(900);
  });

  it('rejects the correct password if other logins reach the failure limit while it is checked', async () => {
    const right = attempt('ben@example.org', 'of throttled ones', '192.0.2.4');
    for (let round = 0; round < 4; round++) await outcomes(fixture, [attempt('ben@example.org', 'wrong', '192.0.2.4')]);
    const letGo = await holdTable(fixture.env, 'directory.accounts');
    const outcome = outcomes(fixture, [right]);
    await waitForLockWait(fixture.env.sql, 'directory');
    await fixture.env.sql(
      `update directory.login_attempts set attempted_at = array_append(attempted_at, clock_timestamp()) where key like 'email:%/192.0.2.4'`,
    );
    expect(await letGo()).toBe('stopped');
    expect(await outcome).toEqual(['rate_limited']);
  });

  it('locks an email only for the address of the failed logins', async () => {
    expect(
      await outcomes(fixture, [
        attempt('ada@example.org', 'of throttled ones'),
        attempt('ada@example.org', 'of throttled ones', '192.0.2.2'),
      ]),
    ).toEqual(['rate_limited', 'ok']);
    for (let round = 0; round < 4; round++) await outcomes(fixture, [attempt('ada@example.org', 'wrong', '192.0.2.2')]);
    expect(await outcomes(fixture, [attempt('ada@example.org', 'of throttled ones', '192.0.2.2')])).toEqual(['ok']);
  });

  it('does not count successful logins, and counts the failures of each email separately', async () => {
    const codes = await outcomes(
      fixture,
      Array.from({ length: 12 }, () => attempt('ben@example.org', 'of throttled ones')),
    );
    expect(count(codes, 'ok')).toBe(12);
  });

  it('throttles logins with an unknown email like those with a known one', async () => {
    for (let round = 0; round < 5; round++)
      expect(await outcomes(fixture, [attempt('ghost@example.org', 'x')])).toEqual(['unauthenticated']);
    expect(await outcomes(fixture, [attempt('ghost@example.org', 'x')])).toEqual(['rate_limited']);
  });

  it('ends the lock of an email when an administrator sets the password, or after 15 minutes', async () => {
    const addresses = ['192.0.2.1', '2001:db8:0:1::/64'];
    const logins = (password: string) =>
      outcomes(
        fixture,
        addresses.map((ip) => attempt('eve@example.org', password, ip)),
      );
    for (let round = 0; round < 5; round++) await logins('x');
    expect(await logins('of throttled ones')).toEqual(['rate_limited', 'rate_limited']);
    await fixture.call(setPassword, { email: 'eve@example.org', password: 'set by somebody' });
    expect(await logins('set by somebody')).toEqual(['ok', 'ok']);
    await fixture.env.sql(
      `update directory.login_attempts set attempted_at = (select array_agg(at - interval '15 minutes') from unnest(attempted_at) as a(at))`,
    );
    expect(await outcomes(fixture, [attempt('ada@example.org', 'of throttled ones')])).toEqual(['ok']);
  });

  it('stores emails of failed logins only as hashes', async () => {
    const rows = await fixture.env.sql<{ key: string }>('select key from directory.login_attempts');
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every(({ key }) => /^email:[0-9a-f]{64}\/192\.0\.2\.\d$/.test(key))).toBe(true);
  });
});
