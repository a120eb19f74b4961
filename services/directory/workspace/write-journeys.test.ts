import { describe, expect, it } from '@jest/globals';
import { changedPaths } from './write-journeys.ts';

describe('changedPaths (rules/steps#step-audit: dotted paths of a configuration change)', () => {
  it('lists changed leaves, removed and added keys, and each changed list as a whole', () => {
    const old = { a: 1, b: { c: 1, d: [1, 2] }, gone: true };
    const next = { a: 1, b: { c: 2, d: [1, 3] }, fresh: { x: 1 } };
    expect(changedPaths(old, next, [])).toEqual(['b.c', 'b.d', 'gone', 'fresh']);
    expect(changedPaths(old, structuredClone(old), [])).toEqual([]);
  });

  it('treats the keys __proto__ and constructor as plain data', () => {
    expect(changedPaths(JSON.parse('{"__proto__": 1}'), JSON.parse('{"constructor": 1}'), [])).toEqual([
      '__proto__',
      'constructor',
    ]);
  });
});
