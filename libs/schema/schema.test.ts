import { describe, expect, it } from '@jest/globals';
import { Type } from '#libs/contract';
import { parseJson } from '#libs/json';
import { compileSchema, compileSchemaForAll } from '#libs/schema';

const book = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  price: Type.Optional(Type.Number()),
  tags: Type.Optional(Type.Array(Type.Integer())),
  since: Type.Optional(Type.String({ format: 'date-time' })),
  until: Type.Optional(Type.String({ format: 'date-time-offset' })),
});

describe('compileSchema (architecture §5)', () => {
  const check = compileSchema(book);

  it('returns undefined for a value that fits', () => {
    expect(check({ id: 1, extra: true })).toBeUndefined();
  });

  it('names path and keyword of the first problem, not the value', () => {
    const problem = check({ id: 1, tags: [1, 'hush'] });
    expect(problem).toMatchObject({ path: ['tags', '1'], keyword: 'type', message: 'must be integer' });
    expect(JSON.stringify(problem)).not.toContain('hush');
  });

  it('takes numbers kept as text for what they are', () => {
    const value = parseJson('{"id":1.0,"price":1.10,"tags":[2e0,3.0]}');
    expect(check(value)).toBeUndefined();
    expect(value).toEqual({ id: 1, price: 1.1, tags: [2, 3] });
    expect(check(parseJson('{"id":1.50}'))?.message).toBe('must be integer');
  });

  it('leaves them alone where no number is asked for', () => {
    const open = compileSchema(Type.Object({ infos: Type.Unknown() }));
    const text = '{"infos":{"n":12345678901234567890}}';
    const value = parseJson(text);
    expect(open(value)).toBeUndefined();
    expect(JSON.stringify(value)).toBe(text);
  });

  it('takes no number kept as text for an object, at any depth', () => {
    const store = compileSchema(Type.Object({ infos: Type.Object({}), list: Type.Optional(Type.Array(Type.Object({}))) }));
    expect(store(parseJson('{"infos":{}}'))).toBeUndefined();
    const refused = { keyword: 'type', params: { type: 'object' }, message: 'must be object' };
    expect(store(parseJson('{"infos":12345678901234567890}'))).toEqual({ path: ['infos'], ...refused });
    expect(store(parseJson('{"infos":{},"list":[{},1.50]}'))).toEqual({ path: ['list', '1'], ...refused });
  });

  it('tells naive times from times with an offset', () => {
    expect(check({ id: 1, since: '2026-05-01T10:00:00' })).toBeUndefined();
    expect(check({ id: 1, until: '2026-05-01T10:00:00' })?.keyword).toBe('format');
    expect(check({ id: 1, until: '2026-05-01T10:00:00+02:00' })).toBeUndefined();
    expect(check({ id: 1, since: '2026-02-30T10:00:00Z' })?.keyword).toBe('format');
  });

  it('reads `__proto__` as plain data', () => {
    expect(check(parseJson('{"__proto__":{"id":1}}'))?.keyword).toBe('required');
  });
});

describe('compileSchemaForAll', () => {
  it('lists every problem', () => {
    const problems = compileSchemaForAll(book)({ id: 0, tags: ['a', 'b'], since: 'never' });
    expect(problems.map((problem) => problem.path.join('.'))).toEqual(['id', 'tags.0', 'tags.1', 'since']);
  });

  it('says one thing of a number kept as text where an object belongs', () => {
    const claims = compileSchemaForAll(Type.Object({ claims: Type.Record(Type.String(), Type.Object({ id: Type.Integer() })) }));
    expect(claims(parseJson('{"claims":12345678901234567890}')).map(({ path, keyword }) => [path, keyword])).toEqual([
      [['claims'], 'type'],
    ]);
    expect(claims(parseJson('{"claims":{"a":12345678901234567890}}')).map(({ path }) => path)).toEqual([['claims', 'a']]);
  });

  it('takes numbers kept as text for what they are', () => {
    expect(compileSchemaForAll(book)(parseJson('{"id":1.0,"tags":[2e0]}'))).toEqual([]);
  });
});
