import { describe, expect, it } from '@jest/globals';
import { parseJson } from '#libs/infrastructure/json';
import { createItemSpool } from './item-spool.ts';

describe('createItemSpool', () => {
  it('returns items unchanged, with every line separator and large integers', async () => {
    const values = [{ text: 'a\u2028b\u2029c\r\nd\u0085' }, parseJson('{"n": 9007199254740993}'), null];
    const spool = createItemSpool();
    for (const [index, value] of values.entries()) await spool.add({ value, line: index * 10 + 1 });
    await spool.finish();
    const read = await Array.fromAsync(spool.read());
    expect(read.map(({ line }) => line)).toEqual([1, 11, 21]);
    expect(JSON.stringify(read.map(({ value }) => value))).toBe(JSON.stringify(values));
  });
});
