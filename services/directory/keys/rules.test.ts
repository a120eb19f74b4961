import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { type Actor, scopes } from '#libs/infrastructure/contract';
import { parseInstant } from '#libs/infrastructure/time';
import { createKeyToken, parseKeyToken, readExpiry, readName, readScopes, checkKeyScopes } from './rules.ts';

describe('tokens of service keys (rules/access#service-keys; K1)', () => {
  it('creates unique tokens in the format svc_key_<20 letters and digits>_<43 base64url>', () => {
    const tokens = Array.from({ length: 200 }, () => createKeyToken().token);
    for (const token of tokens) expect(token).toMatch(/^svc_key_[0-9A-Za-z]{20}_[A-Za-z0-9_-]{43}$/);
    expect(new Set(tokens).size).toBe(200);
  });

  it('stores only the id and the SHA-256 of the secret', () => {
    const { id, token, secretSha256 } = createKeyToken();
    expect(parseKeyToken(token)).toEqual({ id, secretSha256 });
    expect(secretSha256).toEqual(createHash('sha256').update(token.slice(-43)).digest());
  });

  it('preserves the id of a rotated token', () => {
    expect(createKeyToken('abcdefghijkl').token).toMatch(/^svc_key_abcdefghijkl_/);
  });

  const secret = 's'.repeat(43);
  it.each([
    '',
    `svc_key_short_${secret}`,
    `svc_key_${'x'.repeat(25)}_${secret}`,
    `svc_key_${'x'.repeat(20)}_short`,
    `svc_key_${'-'.repeat(20)}_${secret}`,
  ])('does not parse %j as a service key', (text) => {
    expect(parseKeyToken(text)).toBeUndefined();
  });
});

describe('fields of a new service key (K5, K10)', () => {
  it('returns each known scope once, in the requested order', () => {
    expect(readScopes(['media:read', 'agents:read', 'media:read'])).toEqual(['media:read', 'agents:read']);
    expect(readScopes(['*'])).toEqual(['*']);
    expect(() => readScopes(['media:read', 'media:delete'])).toThrow('The scope "media:delete" does not exist');
  });

  it('requires a non-blank name, and an expiry in the future', () => {
    const parsed = parseInstant('2026-05-01T10:00:00Z');
    const now = parsed.kind === 'instant' ? parsed.instant : 0n;
    expect(readName(' Archive ')).toBe('Archive');
    expect(() => readName('  ')).toThrow('blank');
    expect(readExpiry('2026-05-01T12:00:01+02:00', now)).toBe('2026-05-01T10:00:01Z');
    expect([readExpiry(null, now), readExpiry(undefined, now)]).toEqual([null, null]);
    for (const past of ['2026-05-01T10:00:00Z', '2026-05-01T11:59:59+02:00', '2026-05-01'])
      expect(() => readExpiry(past, now)).toThrow('future');
  });

  it("rejects scopes that the caller's key does not have; only `*` includes `*`", () => {
    const user = {
      kind: 'user',
      accountId: 1,
      personId: 1,
      superuser: true,
      globalEditor: true,
      coherenceAccess: true,
    } as const;
    const as = (held: readonly string[]): Actor => ({ ...user, key: { id: 'k', scopes: held } });
    expect(() => checkKeyScopes(user, ['*'])).not.toThrow();
    expect(() => checkKeyScopes(as(['*']), ['*', 'media:read'])).not.toThrow();
    expect(() => checkKeyScopes(as(['media:read', 'keys:write']), ['media:read'])).not.toThrow();
    expect(() => checkKeyScopes(as(['media:read']), ['media:read', 'media:write'])).toThrow(
      'Your key lacks the scope media:write.',
    );
    expect(() => checkKeyScopes(as(scopes), ['*'])).toThrow('Your key lacks the scope *.');
  });
});
