import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createToken, parseToken } from './token.ts';

describe('tokens (rules/access#login)', () => {
  it('makes svc_agentic_<32 lowercase alphanumeric>_<43 base64url>', () => {
    for (let round = 0; round < 200; round++) {
      expect(createToken().token).toMatch(/^svc_agentic_[a-z0-9]{32}_[A-Za-z0-9_-]{43}$/);
    }
  });

  it('parses what it made and keeps the SHA-256 of the secret only', () => {
    const { token, sessionKey, secretSha256 } = createToken();
    expect(parseToken(token)).toEqual({ sessionKey, secretSha256 });
    expect(secretSha256).toEqual(createHash('sha256').update(token.slice(-43)).digest());
  });

  it('never makes the same token twice', () => {
    expect(new Set(Array.from({ length: 500 }, () => createToken().token)).size).toBe(500);
  });

  const good = createToken().token;
  it.each([
    ['', 'empty'],
    [good.toUpperCase(), 'upper case'],
    [`${good}x`, 'too long'],
    [good.slice(0, -1), 'too short'],
    [` ${good}`, 'leading space'],
    [`${good}\n`, 'trailing line end'],
    [good.replace('svc_agentic', 'svc_other'), 'another prefix'],
    ['test-api-token', 'the shared token'],
  ])('refuses %j (%s)', (text) => {
    expect(parseToken(text)).toBeUndefined();
  });
});
