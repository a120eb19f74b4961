/** What an endpoint wants, where it may be, and its secret (V5, V11). */
import { describe, expect, it } from '@jest/globals';
import { readUrl } from './address.ts';
import { createSecret, readWanted, writeSecret } from './rules.ts';

describe('readWanted (V11)', () => {
  it('is all types when none are named', () => {
    expect([readWanted(undefined), readWanted(null)]).toEqual([null, null]);
  });

  it('has each name once, as it was named', () => {
    expect(readWanted(['conversation.*', ' note.created', 'conversation.*'])).toEqual(['conversation.*', 'note.created']);
  });

  it.each(['conversation', 'conversation.', '*', '', 'conversation.*.*', 'note.created,person.created', 'webhook_endpoint.test'])(
    'refuses %j, which is no type',
    (name) => {
      expect(() => readWanted(['note.created', name])).toThrow(`There is no type "${name}".`);
    },
  );
});

describe('the secret of an endpoint (V6)', () => {
  it('is 32 bytes of chance, and reads as Standard Webhooks have it', () => {
    const [one, other] = [createSecret(), createSecret()];
    expect(one.equals(other)).toBe(false);
    expect(writeSecret(one)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(writeSecret(one).slice('whsec_'.length), 'base64')).toEqual(one);
  });
});

describe('readUrl (V5, V11)', () => {
  it('takes https addresses of names and of the public internet', () => {
    expect(readUrl(' https://Example.org/hook?x=1#part ', '')).toBe('https://example.org/hook?x=1');
    expect(readUrl('https://8.8.8.8:8443/', '')).toBe('https://8.8.8.8:8443/');
  });

  it('takes what the setting names, without TLS too, on that port alone', () => {
    expect(readUrl('http://receiver:8080/', 'receiver:8080')).toBe('http://receiver:8080/');
    expect(() => readUrl('http://receiver:8081/', 'receiver:8080')).toThrow('url must be an https address.');
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
  ])('refuses %j', (url) => {
    expect(() => readUrl(url, '')).toThrow(expect.objectContaining({ code: 'bad_request' }));
  });

  it('refuses a user and a password also of what the setting names', () => {
    expect(() => readUrl('http://user:secret@receiver/', 'receiver')).toThrow('url must not have a user or a password.');
  });
});
