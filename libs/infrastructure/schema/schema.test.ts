import { describe, expect, it } from '@jest/globals';
import { singleLine, Type } from '#libs/infrastructure/contract';
import { parseJson } from '#libs/infrastructure/json';
import { compileSchema, compileSchemaForAll, maxViolations } from '#libs/infrastructure/schema';

const book = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  price: Type.Optional(Type.Number()),
  tags: Type.Optional(Type.Array(Type.Integer())),
  since: Type.Optional(Type.String({ format: 'date-time' })),
  until: Type.Optional(Type.String({ format: 'date-time-offset' })),
});

describe('compileSchema (architecture#contracts)', () => {
  const check = compileSchema(book);

  it('returns undefined for a valid value', () => {
    expect(check({ id: 1, extra: true })).toBeUndefined();
  });

  it('reports path and keyword of the first problem without the value', () => {
    const problem = check({ id: 1, tags: [1, 'hush'] });
    expect(problem).toMatchObject({ path: ['tags', 1], keyword: 'type', message: 'must be integer' });
    expect(JSON.stringify(problem)).not.toContain('hush');
  });

  it('validates numbers stored as text as numbers', () => {
    const value = parseJson('{"id":1.0,"price":1.10,"tags":[2e0,3.0]}');
    expect(check(value)).toBeUndefined();
    expect(value).toEqual({ id: 1, price: 1.1, tags: [2, 3] });
    expect(check(parseJson('{"id":1.50}'))?.message).toBe('must be integer');
  });

  it('compiles a schema that contains the same model more than once', () => {
    const Ref = Type.Object({ id: Type.Integer() }, { $id: 'Ref' });
    const named = compileSchema(Type.Object({ one: Ref, more: Type.Array(Ref), $id: Type.Optional(Type.String()) }));
    expect(named({ one: { id: 1 }, more: [{ id: 2 }] })).toBeUndefined();
    expect(named({ one: { id: 1 }, more: [{ id: 'x' }] })).toMatchObject({ path: ['more', 0, 'id'] });
    expect(named({ one: { id: 1 }, more: [], $id: 5 })).toMatchObject({ path: ['$id'] });
  });

  it('does not change a number stored as text where the schema allows any value', () => {
    const open = compileSchema(Type.Object({ infos: Type.Unknown() }));
    const text = '{"infos":{"n":12345678901234567890}}';
    const value = parseJson(text);
    expect(open(value)).toBeUndefined();
    expect(JSON.stringify(value)).toBe(text);
  });

  it('rejects a number stored as text in place of an object, at any depth', () => {
    const store = compileSchema(
      Type.Object({ infos: Type.Object({}), list: Type.Optional(Type.Array(Type.Object({}))) }),
    );
    expect(store(parseJson('{"infos":{}}'))).toBeUndefined();
    const refused = { keyword: 'type', params: { type: 'object' }, message: 'must be object' };
    expect(store(parseJson('{"infos":12345678901234567890}'))).toEqual({ path: ['infos'], ...refused });
    expect(store(parseJson('{"infos":{},"list":[{},1.50]}'))).toEqual({ path: ['list', 1], ...refused });
  });

  it('reports the path of a name with control characters', () => {
    const named = compileSchema(Type.Object({ name: singleLine() }));
    expect(named({ name: 'Ada' })).toBeUndefined();
    for (const name of ['A\u0007', 'A\u202e', 'A\u{e0041}', 'A\u200d'])
      expect(named({ name })).toMatchObject({ path: ['name'], message: 'must have no control characters' });
  });

  it('requires an offset only in times with the format that requires one', () => {
    expect(check({ id: 1, since: '2026-05-01T10:00:00' })).toBeUndefined();
    expect(check({ id: 1, until: '2026-05-01T10:00:00' })?.keyword).toBe('format');
    expect(check({ id: 1, until: '2026-05-01T10:00:00+02:00' })).toBeUndefined();
    expect(check({ id: 1, since: '2026-02-30T10:00:00Z' })?.keyword).toBe('format');
  });

  it('validates `__proto__` as plain data', () => {
    expect(check(parseJson('{"__proto__":{"id":1}}'))?.keyword).toBe('required');
  });
});

describe('compileSchemaForAll', () => {
  it('lists every problem', () => {
    const problems = compileSchemaForAll(book)({ id: 0, tags: ['a', 'b'], since: 'never' });
    expect(problems.map((problem) => problem.path.join('.'))).toEqual(['id', 'tags.0', 'tags.1', 'since']);
  });

  it('stops at the maximum number of problems, without checking further values', () => {
    const touched: number[] = [];
    const items = Array.from({ length: 100 }, (_value, index) => ({
      get id() {
        touched.push(index);
        return 'x';
      },
    }));
    const problems = compileSchemaForAll(Type.Array(Type.Object({ id: Type.Integer() })))(items);
    expect(problems.map(({ path }) => path)).toEqual(
      Array.from({ length: maxViolations }, (_value, index) => [index, 'id']),
    );
    expect(Math.max(...touched)).toBe(maxViolations - 1);
  });

  it('checks the size of a list or an object before its items', () => {
    const check = compileSchemaForAll(
      Type.Object({
        list: Type.Array(Type.Integer(), { maxItems: 2 }),
        map: Type.Record(Type.String(), Type.Integer(), { maxProperties: 1 }),
      }),
    );
    expect(
      check({ list: ['a', 'b', 'c'], map: { a: 'x', b: 'y' } }).map(({ path, keyword }) => [path, keyword]),
    ).toEqual([
      [['list'], 'maxItems'],
      [['map'], 'maxProperties'],
    ]);
  });

  it('reports only the problems of the branch that fits the value in a union', () => {
    const check = compileSchemaForAll(
      Type.Object({
        a: Type.Union([
          Type.String({ maxLength: 1 }),
          Type.String({ pattern: '^z+$' }),
          Type.Array(Type.Integer()),
          Type.Null(),
        ]),
        b: Type.Optional(Type.Integer()),
      }),
    );
    expect(check({ a: 'zzz', b: 'x' }).map(({ path }) => path)).toEqual([['b']]);
    expect(check({ a: 'ab' }).map(({ path, keyword }) => [path, keyword])).toEqual([[['a'], 'maxLength']]);
    expect(check({ a: [1, 'x'] }).map(({ path }) => path)).toEqual([['a', 1]]);
  });

  it('validates any number of numbers stored as text in linear time', () => {
    const check = compileSchema(Type.Object({ ids: Type.Array(Type.Object({ id: Type.Integer() })) }));
    const measure = (count: number): number => {
      const value = parseJson(`{"ids":[${Array.from({ length: count }, () => '{"id":1.0}').join(',')},{"id":"x"}]}`);
      const startedAt = performance.now();
      expect(check(value)?.path).toEqual(['ids', count, 'id']);
      return performance.now() - startedAt;
    };
    measure(1_000);
    // With quadratic time, the factor would be 400.
    expect(measure(40_000)).toBeLessThan(100 * Math.max(5, measure(2_000)));
  });

  it('reports one problem for a number stored as text in place of an object', () => {
    const claims = compileSchemaForAll(
      Type.Object({ claims: Type.Record(Type.String(), Type.Object({ id: Type.Integer() })) }),
    );
    expect(claims(parseJson('{"claims":12345678901234567890}')).map(({ path, keyword }) => [path, keyword])).toEqual([
      [['claims'], 'type'],
    ]);
    expect(claims(parseJson('{"claims":{"a":12345678901234567890}}')).map(({ path }) => path)).toEqual([
      ['claims', 'a'],
    ]);
  });

  it('validates numbers stored as text as numbers and finds no problem', () => {
    expect(compileSchemaForAll(book)(parseJson('{"id":1.0,"tags":[2e0]}'))).toEqual([]);
  });

  it('lists invalid property names with their path', () => {
    const names = Type.Object(
      {},
      { additionalProperties: Type.String(), propertyNames: Type.String({ maxLength: 3, pattern: '^[a-z]*$' }) },
    );
    const problems = compileSchemaForAll(Type.Object({ links: names }))({
      links: { ok: 'x', 'a b': 'x', toolong: 'x' },
    });
    expect(problems.map(({ path, keyword }) => [path.join('.'), keyword])).toEqual([
      ['links.a b', 'pattern'],
      ['links.toolong', 'maxLength'],
    ]);
  });

  it('stops after fifty invalid property names', () => {
    const names = Type.Object({}, { additionalProperties: true, propertyNames: Type.String({ maxLength: 3 }) });
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_value, index) => [`name-${index}`, 1]));
    expect(compileSchemaForAll(names)(many)).toHaveLength(50);
  });
});
