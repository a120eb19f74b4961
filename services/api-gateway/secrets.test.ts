import { describe, expect, it } from '@jest/globals';
import { demoValues } from '#libs/infrastructure/config';
import { createLoginFilter, createSecretCheck } from './secrets.ts';

const secrets = ['new-söcret', 'o'.repeat(400), 'older', 'oldest'];

describe('createSecretCheck (K8)', () => {
  it('accepts each of four secrets, and counts the uses of each', () => {
    const used: number[] = [];
    const check = createSecretCheck(secrets, (index) => used.push(index));
    expect([...secrets, 'older', ...secrets.toReversed()].map(check)).not.toContain(false);
    expect(used).toEqual([0, 1, 2, 3, 2, 3, 2, 1, 0]);
  });

  it('rejects any other secret without counting it', () => {
    const used: number[] = [];
    const check = createSecretCheck(secrets, (index) => used.push(index));
    const others = [
      '',
      'old',
      'olde',
      'older\0',
      'older oldest',
      'new-secret',
      secrets.join(' '),
      'o'.repeat(399),
      'o'.repeat(401),
    ];
    expect(others.filter(check)).toEqual([]);
    expect(used).toEqual([]);
    expect(createSecretCheck([])('')).toBe(false);
  });

  it('takes the same time for a match with the first or the last secret and for no match', () => {
    const many = Array.from({ length: 64 }, (_value, index) => String(index).padStart(64, 'k'));
    const check = createSecretCheck(many);
    /** Measures the processor time of 2,000 checks, which does not depend on other load of the machine. */
    const measure = (given: string): number => {
      const before = process.cpuUsage();
      for (let turn = 0; turn < 2_000; turn++) check(given);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const candidates = [many[0] ?? '', many.at(-1) ?? '', 'x'.repeat(64)];
    const least = candidates.map(() => Infinity);
    for (let round = 0; round < 9; round++) {
      for (const [index, given] of candidates.entries()) least[index] = Math.min(least[index] ?? 0, measure(given));
    }
    // A check that ends at the first match would take more than ten times as long for the last secret.
    expect(Math.max(...least)).toBeLessThan(Math.min(...least) * 4);
  });
});

const login = (password: string) => ({ email: 'ada@example.org', password, ip: '127.0.0.1' });

describe('a login with a published password (rules/access#passwords; D100)', () => {
  it.each([
    ['0.0.0.0', ''],
    ['::', ''],
    ['192.0.2.1', 'development'],
    ['127.0.0.1', 'production'],
  ])('is not sent to the directory when HOST is %s and NODE_ENV "%s"', (host, environment) => {
    const filter = createLoginFilter({ HOST: host, NODE_ENV: environment });
    for (const password of [demoValues.DEMO_PASSWORD, 'admin-demo-password', 'changeme'])
      expect(filter(login(password))).toEqual(login(''));
    expect(filter(login('a password of its own'))).toEqual(login('a password of its own'));
  });

  it.each(['127.0.0.1', 'localhost', '::1'])('is sent to the directory when the gateway listens on %s only', (host) => {
    expect(createLoginFilter({ HOST: host, NODE_ENV: '' })(login(demoValues.DEMO_PASSWORD))).toEqual(
      login(demoValues.DEMO_PASSWORD),
    );
  });
});
