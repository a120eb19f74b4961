import { describe, expect, it } from '@jest/globals';
import { slugOf, slugWithSuffix } from './slugs.ts';

describe('slugs of new holons', () => {
  it.each([
    ['Spring Walk 2026', 'spring-walk-2026'],
    ['  Été à Paris!  ', 'ete-a-paris'],
    ['Größe Łódź Ørsted', 'grosse-lodz-orsted'],
    ['日本', 'holon'],
    ['..', 'holon'],
    ['a'.repeat(200), 'a'.repeat(80)],
    [`${'a'.repeat(79)} b`, 'a'.repeat(79)],
  ])('derives from the name %j the slug %j', (name, slug) => {
    expect(slugOf(name)).toBe(slug);
  });

  it('appends a unique suffix to a slug', () => {
    const made = new Set(Array.from({ length: 50 }, () => slugWithSuffix('walk')));
    expect(made.size).toBe(50);
    for (const slug of made) expect(slug).toMatch(/^walk-[a-z0-9]{6}$/);
  });
});
