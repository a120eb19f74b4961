import { describe, expect, it } from '@jest/globals';
import { DataTooLarge, maxDataBytes, toStoredJson } from './data-size.ts';

describe('toStoredJson (D63)', () => {
  const frame = '{"a":""}'.length;

  it('leaves it to the database to judge what may fit there', () => {
    expect(toStoredJson('infos', { a: 'x'.repeat(2 * maxDataBytes - frame) })).toHaveLength(2 * maxDataBytes);
  });

  it.each([
    ['a byte more', { a: 'x'.repeat(2 * maxDataBytes - frame + 1) }],
    ['as many characters of more than a byte', { a: 'ä'.repeat(maxDataBytes) }],
  ])('refuses what cannot fit: %s', (_name, store) => {
    expect(() => toStoredJson('infos', store)).toThrow(DataTooLarge);
  });
});
