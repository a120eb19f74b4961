import { describe, expect, it } from '@jest/globals';
import { validateUrl } from './address.ts';
import { createSecret, formatSecret, validateTypes } from './rules.ts';

describe('validateTypes (V11)', () => {
  it('returns null, which selects all types, when the request contains no types', () => {
    expect([validateTypes(undefined), validateTypes(null)]).toEqual([null, null]);
  });

  it('removes white space and duplicates from event types', () => {
    expect(validateTypes(['conversation.*', ' note.created', 'conversation.*'])).toEqual([
      'conversation.*',
      'note.created',
    ]);
  });

  it.each([
    'conversation',
    'conversation.',
    '*',
    '',
    'conversation.*.*',
    'note.created,person.created',
    'webhook_endpoint.test',
  ])('rejects the unknown event type %j', (name) => {
    expect(() => validateTypes(['note.created', name])).toThrow(`Unknown event type "${name}".`);
  });
});

describe('createSecret and formatSecret (V6)', () => {
  it('creates a secret of 32 random bytes and formats it per Standard Webhooks', () => {
    const [one, other] = [createSecret(), createSecret()];
    expect(one.equals(other)).toBe(false);
    expect(formatSecret(one)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(formatSecret(one).slice('whsec_'.length), 'base64')).toEqual(one);
  });
});

describe('validateUrl (V5, V11)', () => {
  it('accepts https URLs with a host name or a public IP address', () => {
    expect(validateUrl(' https://Example.org/hook?x=1#part ', '')).toBe('https://example.org/hook?x=1');
    expect(validateUrl('https://8.8.8.8:8443/', '')).toBe('https://8.8.8.8:8443/');
  });

  it('accepts a host in the allow-list without TLS, on its listed port only', () => {
    expect(validateUrl('http://receiver:8080/', 'receiver:8080')).toBe('http://receiver:8080/');
    expect(() => validateUrl('http://receiver:8081/', 'receiver:8080')).toThrow('`url` must be an https address.');
  });

  it.each([
    'http://example.org/',
    'ftp://example.org/',
    'javascript:alert(1)',
    'example.org',
    '',
    'https://user@example.org/',
    'https://:secret@example.org/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://10.0.0.1/',
    'https://100.64.0.1/',
    'https://169.254.169.254/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::a00:1]/',
    'https://[fe80::1]/',
  ])('rejects the endpoint URL %j', (url) => {
    expect(() => validateUrl(url, '')).toThrow(expect.objectContaining({ code: 'bad_request' }));
  });

  it('rejects user and password in a URL, also for a host in the allow-list', () => {
    expect(() => validateUrl('http://user:secret@receiver/', 'receiver')).toThrow(
      '`url` must not contain a user or password.',
    );
  });
});
