import { describe, expect, it } from '@jest/globals';
import { Type } from '#libs/infrastructure/contract';
import { compileCheck } from './validation.ts';

const problems = (schema: Parameters<typeof compileCheck>[0], value: unknown): [string, (string | number)[]][] =>
  compileCheck(schema, ['body', 'payload'])(value).map(({ type, loc }) => [type, loc.slice(2)]);
const nullable = Type.Union([Type.Integer(), Type.Null()]);

describe('422 problems of unions (rules/http#validation-items)', () => {
  it('reports the problems of the non-null branch of a union', () => {
    expect(problems(Type.Object({ id: nullable }), { id: 'x' })).toEqual([['int_parsing', ['id']]]);
    expect(problems(Type.Object({ id: nullable }), { id: null })).toEqual([]);
    expect(problems(Type.Object({ id: nullable }), {})).toEqual([['missing', ['id']]]);
  });

  it('reports the problems of the union branch that has the type of the value', () => {
    const schema = Type.Object({ a: Type.Union([Type.String({ minLength: 2 }), Type.Object({ b: Type.Integer() })]) });
    expect(problems(schema, { a: 'x' })).toEqual([['string_too_short', ['a']]]);
    expect(problems(schema, { a: {} })).toEqual([['missing', ['a', 'b']]]);
    expect(problems(schema, { a: 1 })).toEqual([['string_type', ['a']]]);
  });

  it('reports the problems of several unions in the order of the schema', () => {
    const schema = Type.Object({ a: nullable, b: Type.String(), c: Type.Array(nullable), d: nullable });
    expect(problems(schema, { a: [], b: 1, c: [1, 'x', null, {}], d: true })).toEqual([
      ['int_type', ['a']],
      ['string_type', ['b']],
      ['int_parsing', ['c', 1]],
      ['int_type', ['c', 3]],
      ['int_type', ['d']],
    ]);
  });

  it('reports a union of literals and null as one problem', () => {
    const schema = Type.Object({ a: Type.Union([Type.Literal('x'), Type.Literal('y'), Type.Null()]) });
    expect(compileCheck(schema, ['body', 'payload'])({ a: 'z' })).toEqual([
      {
        type: 'enum',
        loc: ['body', 'payload', 'a'],
        msg: "Input should be 'x' or 'y'",
        ctx: { expected: "'x' or 'y'" },
      },
    ]);
  });
});

describe('422 problems of lists (rules/http#validation-items)', () => {
  it('reports the indexes of duplicate items in a list with unique items', () => {
    const schema = Type.Object({ ids: Type.Array(Type.Integer(), { uniqueItems: true }) });
    expect(compileCheck(schema, ['body', 'payload'])({ ids: [4, 5, 4] })).toEqual([
      {
        type: 'value_error',
        loc: ['body', 'payload', 'ids'],
        msg: 'List should have no item twice; items 0 and 2 are the same',
      },
    ]);
    expect(compileCheck(schema, ['body', 'payload'])({ ids: [4, 5] })).toEqual([]);
  });
});
