import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseReturnUrl, withReason } from './return-url.ts';

describe('parseReturnUrl (S3)', () => {
  it.each([
    '/console',
    '/console/jobs',
    '/console/jobs?state=failed&q=a%20b',
    '/console/jobs/media/1',
    '/console?x=https://evil.example.org',
  ])('accepts the return URL %s', (url) => {
    expect(parseReturnUrl(url)).toBe(url);
  });

  it.each([
    null,
    undefined,
    '',
    '/',
    '/consoles',
    '/api/v1/people',
    '/console/../api',
    '/console/%2e%2e/api',
    '/console/..\\api',
    '//evil.example.org/console',
    'https://evil.example.org/console/jobs',
    '\\\\evil.example.org/console',
    '/\t/evil.example.org/console',
    'javascript:alert(1)',
    'data:text/html,/console',
    'http://console.invalid.example.org/console',
    '/console@evil.example.org',
    '/console/sign-in',
    '/console/sign-in?to=/console/sign-in',
    '/console/sign-in/callback?code=1',
    '/console/jobs/../sign-in',
    '/console/api/v1/auth/whoami',
    '/console/assets/1/main.js',
    '/console/session',
    `/console/jobs?q=${'x'.repeat(1_600)}`,
  ])('replaces the return URL %j by the overview', (text) => {
    expect(parseReturnUrl(text)).toBe('/console');
  });

  it('returns a path of the console for any return URL', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl({ withQueryParameters: true }), fc.webPath());
    fc.assert(
      fc.property(fc.constantFrom('', '/', '/console', '/console/', '//', '/console/..'), texts, (prefix, text) => {
        const returnUrl = parseReturnUrl(`${prefix}${text}`);
        const url = new URL(returnUrl, 'https://own.example.org/console/sign-in/callback');
        expect([url.origin, url.username, /^\/console(?:\/|$)/.test(url.pathname)]).toEqual([
          'https://own.example.org',
          '',
          true,
        ]);
        expect(returnUrl).toMatch(/^[\u0021-\u007e]+$/);
      }),
    );
  });
});

describe('withReason', () => {
  it('adds the reason to a URL once and preserves its filters', () => {
    expect(withReason('/console/jobs?state=failed', 'away')).toBe('/console/jobs?state=failed&signIn=away');
    expect(withReason('/console?signIn=away', 'refused')).toBe('/console?signIn=refused');
  });
});
