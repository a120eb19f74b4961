import { describe, expect, it } from '@jest/globals';
import { Type } from '#libs/infrastructure/contract';
import { parseJson } from '#libs/infrastructure/json';
import { listUnstorable } from './storable.ts';

const open = Type.Object({}, { additionalProperties: true });
const form = Type.Object({
  name: Type.Optional(Type.String()),
  infos: Type.Optional(open),
  people: Type.Optional(Type.Union([Type.Array(Type.Object({ name: Type.String() })), Type.Null()])),
  links: Type.Optional(Type.Object({}, { additionalProperties: Type.String() })),
});
const find = (schema: typeof form | typeof open, text: string, max = 50): [string, (string | number)[]][] =>
  listUnstorable(schema, parseJson(text), text, [], max).map(({ type, loc }) => [type, loc]);

describe('listUnstorable (rules/http#strings; D60)', () => {
  it('finds every text and number that cannot be stored, and scans only suspicious texts', () => {
    const text = String.raw`{"a":"\u0000","b":["\ud800",{"\udfffk":1}],"c":1e1001,"d":"\u00e9"}`;
    expect(find(open, text).map(([type, loc]) => [type, loc.slice(0, 2)])).toEqual([
      ['string_unicode', ['a']],
      ['string_unicode', ['b', 0]],
      ['string_unicode', ['b', 1]],
      ['finite_number', ['c']],
    ]);
    expect(listUnstorable(open, { a: '\u0000' }, '{"a":"harmless"}', [], 50)).toEqual([]);
  });

  it('stops at the maximum number of problems', () => {
    const many = JSON.stringify({ infos: { list: Array.from({ length: 1_000 }, () => '\u0000') } });
    expect(find(form, many)).toHaveLength(50);
    expect(find(form, many, 3)).toEqual([0, 1, 2].map((index) => ['string_unicode', ['infos', 'list', index]]));
  });

  it('skips lists and objects over their size limit, because the schema check reports them', () => {
    const sized = Type.Object({
      names: Type.Array(Type.String(), { maxItems: 1_000 }),
      links: Type.Object({}, { additionalProperties: Type.String(), maxProperties: 2 }),
      more: Type.Optional(Type.Union([Type.Array(Type.String(), { maxItems: 2 }), Type.Null()])),
    });
    const sought = (value: object): unknown[] => listUnstorable(sized, value, JSON.stringify(value), [], 50);
    const zeros = (length: number): string[] => Array.from({ length }, () => '\u0000');
    expect(sought({ names: zeros(2_000), links: { a: '\u0000', b: '', c: '' }, more: zeros(3) })).toEqual([]);
    expect(sought({ names: zeros(1_000), links: {} })).toHaveLength(50);
    expect(sought({ names: [], links: { a: '\u0000', b: '' }, more: zeros(2) })).toHaveLength(3);
    expect(listUnstorable(sized, { names: zeros(1) }, String.raw`{"names":["\u0000"]}`, [], 0)).toEqual([]);
  });

  it('scans fields in the schema at every depth', () => {
    const text = String.raw`{"name":"\ud800","people":[{"name":"x"},{"name":"\u0000"}],"links":{"a":"b","\u0000":"c"},"infos":{"x":{"\ud800":1}}}`;
    expect(find(form, text).map(([, loc]) => loc)).toEqual([
      ['name'],
      ['people', 1, 'name'],
      ['links', '\u0000'],
      ['infos', 'x', '\ud800'],
    ]);
  });

  it('scans fields outside of the schema for U+0000 only, and reports them as one problem', () => {
    const text = String.raw`{"x":["\ud800",1e1001],"y":[["\ud800","\u0000","\u0000"]],"z":"\u0000","people":[{"name":"a","w":"\u0000"}]}`;
    expect(find(form, text)).toEqual([['string_unicode', ['y', 0, 1]]]);
    expect(find(form, String.raw`{"\u0000":1}`)).toEqual([['string_unicode', ['\u0000']]]);
    expect(find(form, String.raw`{"x":"\ud800"}`)).toEqual([]);
  });
});
