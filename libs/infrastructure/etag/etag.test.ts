import { describe, expect, it } from '@jest/globals';
import { entityTag, matchesEntityTag } from '#libs/infrastructure/etag';

describe('entityTag (rules/http#etag)', () => {
  it('returns a strong quoted digest of the bytes, equal for a text and its UTF-8 bytes', () => {
    expect(entityTag('{"a":"é"}')).toMatch(/^"[A-Za-z0-9_-]{43}"$/);
    expect(entityTag(Buffer.from('{"a":"é"}'))).toBe(entityTag('{"a":"é"}'));
    expect(entityTag('{"a":1}')).not.toBe(entityTag('{"a":2}'));
  });
});

describe('matchesEntityTag (rules/http#etag; RFC 9110 §13.1)', () => {
  const tag = entityTag('x');

  it('finds the tag in a header with one tag and in a list', () => {
    expect(matchesEntityTag(tag, tag, 'strong')).toBe(true);
    expect(matchesEntityTag(`"a,b" , ${tag}`, tag, 'strong')).toBe(true);
    expect(matchesEntityTag('"a", "b"', tag, 'weak')).toBe(false);
  });

  it('matches `*` with any representation', () => {
    expect(matchesEntityTag(' * ', tag, 'strong')).toBe(true);
  });

  it('matches a weak tag only in a weak comparison', () => {
    expect(matchesEntityTag(`W/${tag}`, tag, 'weak')).toBe(true);
    expect(matchesEntityTag(`W/${tag}`, tag, 'strong')).toBe(false);
  });

  it('never matches a tag without quotes', () => {
    expect(matchesEntityTag(tag.slice(1, -1), tag, 'weak')).toBe(false);
  });
});
