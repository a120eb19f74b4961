import { describe, expect, it } from '@jest/globals';
import { entityTag, matchesEntityTag } from '#libs/etag';

describe('entityTag (rules/http#etag)', () => {
  it('is a strong quoted digest of the bytes, the same for text and its UTF-8', () => {
    expect(entityTag('{"a":"é"}')).toMatch(/^"[A-Za-z0-9_-]{43}"$/);
    expect(entityTag(Buffer.from('{"a":"é"}'))).toBe(entityTag('{"a":"é"}'));
    expect(entityTag('{"a":1}')).not.toBe(entityTag('{"a":2}'));
  });
});

describe('matchesEntityTag (rules/http#etag; RFC 9110 §13.1)', () => {
  const tag = entityTag('x');

  it('finds the tag alone and in a list', () => {
    expect(matchesEntityTag(tag, tag, 'strong')).toBe(true);
    expect(matchesEntityTag(`"a,b" , ${tag}`, tag, 'strong')).toBe(true);
    expect(matchesEntityTag('"a", "b"', tag, 'weak')).toBe(false);
  });

  it('accepts the star for any representation', () => {
    expect(matchesEntityTag(' * ', tag, 'strong')).toBe(true);
  });

  it('matches a weak tag only in the weak comparison', () => {
    expect(matchesEntityTag(`W/${tag}`, tag, 'weak')).toBe(true);
    expect(matchesEntityTag(`W/${tag}`, tag, 'strong')).toBe(false);
  });

  it('matches nothing without quotes', () => {
    expect(matchesEntityTag(tag.slice(1, -1), tag, 'weak')).toBe(false);
  });
});
