import { describe, expect, it } from '@jest/globals';
import { sql, type Sql, type SqlPart, t } from './sql.ts';
import { type PreparedStatement, type Queryable, statement } from './statement.ts';

/** Creates a database stub that records the statements. */
function recorder(rows: readonly unknown[] = []): {
  on: Queryable;
  asked: { statement: PreparedStatement; values: readonly unknown[] }[];
} {
  const asked: { statement: PreparedStatement; values: readonly unknown[] }[] = [];
  const query = async <Row>(prepared: PreparedStatement, values: readonly unknown[] = []): Promise<Row[]> => {
    asked.push({ statement: prepared, values });
    return rows as Row[];
  };
  const gather = async <Row>(prepared: PreparedStatement, values: readonly unknown[]): Promise<Row | undefined> =>
    (await query<Row>(prepared, values))[0];
  return { on: { query, coalesce: gather }, asked };
}

const rename = {
  name: 'people.rename',
  params: { id: t.integer, name: t.text.nullable },
  sql: ({ id, name }: { id: SqlPart; name: SqlPart }) =>
    sql`update people set name = ${name}, old = name where id = ${id} and name <> ${name}`,
};

describe('statement (architecture#data)', () => {
  it('numbers and casts parameters across fragments by first use, with one number per parameter', () => {
    const { prepared, order } = statement.none(rename);
    expect(prepared.text).toBe(
      'update people set name = $1::text, old = name where id = $2::integer and name <> $1::text',
    );
    expect(order).toEqual(['name', 'id']);
  });

  it('accepts parameter values by name, and sends undefined as null', async () => {
    const { on, asked } = recorder();
    const call = statement.none({ ...rename, pipelined: true });
    await call(on, { id: 7, name: undefined });
    expect(asked).toEqual([
      { statement: { name: 'people.rename', text: expect.any(String), pipelined: true }, values: [undefined, 7] },
    ]);
  });

  it('composes SQL fragments with parameters', () => {
    const isNear = (row: string, ids: SqlPart): Sql => sql`${sql.id(`${row}.id`)} = any(${ids})`;
    const { prepared } = statement.many({
      name: 'people.near',
      params: { ids: t.integer.array, limit: t.integer },
      row: { id: t.integer },
      sql: ({ ids, limit }) =>
        sql`select p.id from people p where ${sql.join([isNear('p', ids), sql`p.kind = ${sql.literal("it's")}`], sql` and `)} limit ${limit} offset ${0}`,
    });
    expect(prepared.text).toBe(
      `select p.id from people p where p.id = any($1::integer[]) and p.kind = 'it''s' limit $2::integer offset 0`,
    );
  });

  it('returns all rows, the first row, the required row, or no rows, depending on the method', async () => {
    const shape = { name: 'people.list', row: { id: t.integer }, sql: () => sql`select id from people` };
    const [full, empty] = [recorder([{ id: 1 }, { id: 2 }]).on, recorder().on];
    expect(await statement.many(shape)(full)).toEqual([{ id: 1 }, { id: 2 }]);
    expect(await statement.maybeOne(shape)(full)).toEqual({ id: 1 });
    expect(await statement.maybeOne(shape)(empty)).toBeUndefined();
    expect(await statement.one(shape)(full)).toEqual({ id: 1 });
    await expect(statement.one(shape)(empty)).rejects.toThrow('Statement "people.list" returned no row');
    expect(await statement.none(shape)(full)).toBeUndefined();
  });

  it('rejects plain text and invalid identifiers as SQL fragments', () => {
    const text = 'x; drop table people' as unknown as SqlPart;
    expect(() => sql`select ${text}`).toThrow('"x; drop table people" is not an SQL fragment');
    expect(() => sql`select ${1.5}`).toThrow('"1.5" is not an SQL fragment');
    expect(() => sql.id('p; drop')).toThrow('"p; drop" is not a plain SQL identifier');
  });

  it('rejects malformed statement names and unused parameters', () => {
    // PostgreSQL truncates names longer than 63 bytes.
    for (const name of ['Rename', '', 'x'.repeat(64)]) {
      expect(() => statement.none({ ...rename, name })).toThrow(`"${name}" is not a valid statement name`);
    }
    expect(() => statement.none({ ...rename, params: { ...rename.params, age: t.integer } })).toThrow(
      'Statement "people.rename" does not use age',
    );
  });

  it('checks the types of parameter values at compile time', async () => {
    const { on } = recorder();
    const call = statement.none(rename);
    // @ts-expect-error a parameter is missing
    await call(on, { id: 7 });
    // @ts-expect-error of the wrong type
    await call(on, { id: '7', name: null });
    const kinds = statement.maybeOne({
      name: 'kinds',
      row: { kind: t.text.as<'a' | 'b'>().nullable },
      sql: () => sql`select kind from kinds`,
    });
    const row = await kinds(on);
    const kind: 'a' | 'b' | null | undefined = row?.kind;
    expect(kind).toBeUndefined();
  });
});
