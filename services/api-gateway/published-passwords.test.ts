import { describe, expect, it } from '@jest/globals';
import { demoValues } from '#libs/config';
import { createLoginFilter } from './published-passwords.ts';

const login = (password: string) => ({ email: 'ada@example.org', password, ip: '127.0.0.1' });

describe('a login with a published password (rules/access#passwords; D100)', () => {
  it.each([
    ['0.0.0.0', ''],
    ['::', ''],
    ['192.0.2.1', 'development'],
    ['127.0.0.1', 'production'],
  ])('is not forwarded to the directory when HOST is %s and NODE_ENV "%s"', (host, environment) => {
    const filter = createLoginFilter({ HOST: host, NODE_ENV: environment });
    for (const password of [demoValues.DEMO_PASSWORD, 'admin-demo-password', 'changeme'])
      expect(filter(login(password))).toEqual(login(''));
    expect(filter(login('a password of its own'))).toEqual(login('a password of its own'));
  });

  it.each(['127.0.0.1', 'localhost', '::1'])('is forwarded to the directory when the gateway listens on %s only', (host) => {
    expect(createLoginFilter({ HOST: host, NODE_ENV: '' })(login(demoValues.DEMO_PASSWORD))).toEqual(login(demoValues.DEMO_PASSWORD));
  });
});
