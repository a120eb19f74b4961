/**
 * Runs every declared statement once against the empty tables of its service and compares the result with its
 * declaration.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { DeclaredStatement, Shape } from '#libs/infrastructure/sql';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';

type AnyStatement = DeclaredStatement<Shape, Shape, unknown>;

interface Column {
  readonly name: string;
  readonly dataTypeID: number;
  /** Table and column of the value; 0 = computed. */
  readonly tableID: number;
  readonly columnID: number;
}

const repoDir = join(import.meta.dirname, '..', '..', '..');
/**
 * Matches a declaration at the top level of a file. Statements that functions create are found in the exports of the
 * module.
 */
const declaration = /^(?:export )?const \w+(?:: \w+)? = statement\.(?:many|maybeOne|one|none|coalesced)\(/gm;
/** Returns one service that uses the library, because a library creates these tables in each such service. */
const schemaOfLibrary = (name: string): string =>
  /^(infrastructure\/idempotency|product\/history)\//.test(name) ? 'directory' : 'conversations';
/**
 * Error codes with which a table rejects the values of the test. The statement was parsed, so its columns are known.
 */
const refusedByTables = /^(22|23|P0)/;

let env: TestEnvironment;
let client: pg.Client;
/** Names of nullable columns by the catalog numbers `<table>.<column>`. */
let nullableColumns: ReadonlyMap<string, string>;

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  client = new pg.Client({ connectionString: env.settings['DATABASE_URL'] });
  await client.connect();
  const { rows } = await client.query<{ key: string; name: string }>(
    `select a.attrelid || '.' || a.attnum as key, a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attnum > 0 and not a.attnotnull and c.relkind in ('r', 'p')`,
  );
  nullableColumns = new Map(rows.map(({ key, name }) => [key, name]));
});

afterAll(async () => {
  await client.end();
  await env.stop();
});

/** Returns the source files that declare statements, with their schema. */
function listSources(): { schema: string; path: string; declarations: number }[] {
  return ['services', 'libs'].flatMap((top) =>
    readdirSync(join(repoDir, top), { recursive: true, encoding: 'utf8' })
      .filter(
        (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !/^infrastructure\/(orm|sql)\//.test(name),
      )
      .map((name) => {
        const path = `${top}/${name}`;
        const declarations = readFileSync(join(repoDir, path), 'utf8').match(declaration)?.length ?? 0;
        return { path, declarations, schema: top === 'services' ? (name.split('/')[0] ?? '') : schemaOfLibrary(name) };
      })
      .filter(({ declarations }) => declarations > 0),
  );
}

/** Returns the statements that a module exports, including statements in lists, maps and records. */
function findStatements(value: unknown): AnyStatement[] {
  if (typeof value === 'function') return 'prepared' in value ? [value as unknown as AnyStatement] : [];
  if (value instanceof Map) return [...value.values()].flatMap(findStatements);
  if (Array.isArray(value)) return value.flatMap(findStatements);
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.values(value).flatMap(findStatements);
  }
  return [];
}

/** Returns the differences between the statement and its declaration, as text. */
async function findProblems({ prepared, params, row, order }: AnyStatement): Promise<string[]> {
  let columns: Column[] = [];
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  const keep = ({ fields }: { fields: Column[] }): void => void (columns = fields);
  connection.on('rowDescription', keep);
  await client.query('begin');
  try {
    await client.query({ text: prepared.text, values: order.map((name) => sample(params[name]?.name ?? '')) });
  } catch (error) {
    const { code = '', message } = error as pg.DatabaseError;
    if (!refusedByTables.test(code)) return [`${prepared.name}: ${message}`];
  } finally {
    await client.query('rollback');
    connection.off('rowDescription', keep);
  }
  if (Object.keys(row).length === 0) return [];
  const given = Object.fromEntries(columns.map(({ name, dataTypeID }) => [name, dataTypeID]));
  const unexpected = columns.filter(({ name, tableID, columnID }) => {
    const column = nullableColumns.get(`${tableID}.${columnID}`);
    return column !== undefined && row[name]?.isNullable === false && !isExcluded(prepared.text, column);
  });
  return [
    ...unexpected.map(({ name }) => `${prepared.name}: ${name} can be null, declared is ${row[name]?.name}`),
    ...[...new Set([...Object.keys(row), ...Object.keys(given)])].flatMap((name) => {
      const [type, oid] = [row[name], given[name]];
      if (type === undefined) return [`${prepared.name}: gives ${name}, which is not declared`];
      if (oid === undefined) return [`${prepared.name}: does not give ${name}`];
      return type.oids.includes(oid) ? [] : [`${prepared.name}: ${name} is of type ${oid}, declared is ${type.name}`];
    }),
  ];
}

/** Whether the statement reads only rows in which the column is not null. */
function isExcluded(text: string, column: string): boolean {
  return new RegExp(`\\b${column} (is not null|>=?|<=?|=|in|like|<@|@>|&&)`).test(text);
}

/** Returns a value of the type: null, unless statements with such a parameter reject null. */
function sample(type: string): unknown {
  if (type.endsWith('[]')) return [];
  if (type === 'jsonb') return '[]';
  return null;
}

const sources = listSources();

describe('declared statements (architecture#data)', () => {
  it.each(sources)(
    'runs the declared statements of $path, and checks their columns',
    async ({ path, schema, declarations }) => {
      const statements = findStatements({ ...((await import(join(repoDir, path))) as object) });
      // Statements that are not exported cannot be run here, so all declared statements must have been found.
      expect(statements.length).toBeGreaterThanOrEqual(declarations);
      await client.query(`set search_path = ${schema}, public`);
      const problems: string[] = [];
      for (const item of statements) problems.push(...(await findProblems(item)));
      expect(problems).toEqual([]);
    },
  );

  it('statement names are unique within a service', async () => {
    const names = new Map<string, string>();
    const taken: string[] = [];
    for (const { path, schema } of sources) {
      for (const { prepared } of new Set(findStatements({ ...((await import(join(repoDir, path))) as object) }))) {
        const key = `${schema}: ${prepared.name}`;
        const text = names.get(key);
        if (text !== undefined && text !== prepared.text) taken.push(key);
        names.set(key, prepared.text);
      }
    }
    expect(taken).toEqual([]);
  });

  it('detects a statement whose declared columns are wrong', async () => {
    const { sql, statement, t } = await import('#libs/infrastructure/sql');
    const wrong = statement.many({
      name: 'planted',
      params: { id: t.integer },
      row: { id: t.text, gone: t.integer, photo_url: t.text },
      sql: ({ id }) => sql`select id, name, photo_url from directory.people where id = ${id}`,
    });
    expect(await findProblems(wrong as unknown as AnyStatement)).toEqual([
      'planted: photo_url can be null, declared is text',
      'planted: id is of type 23, declared is text',
      'planted: does not give gone',
      'planted: gives name, which is not declared',
    ]);
    const broken = statement.none({ name: 'broken', sql: () => sql`update directory.people set nothing = 1` });
    expect(await findProblems(broken as unknown as AnyStatement)).toEqual([
      expect.stringContaining('broken: column "nothing"'),
    ]);
  });
});
