import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database } from '#libs/orm';
import { createTestEnvironment, type TestEnvironment } from '#libs/testing';
import { entities } from '../../../services/directory/entities/index.ts';

let env: TestEnvironment;
let db: Database;
beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  const url = env.settings['DATABASE_URL'] ?? '';
  db = await createDatabase({ url, schema: 'directory', entities, poolSize: 1, logger: env.logger, applicationName: 'test' });
});
afterAll(async () => {
  await db.close();
  await env.stop();
});

describe('entities and migrations', () => {
  /** Tables without a key that triggers keep, and those of libraries. */
  const plumbing = [
    'holons_channel_values',
    'jobs',
    'membership_tallies',
    'migrations',
    'outbox',
    'people_channel_values',
    'relationship_tallies',
    'usage_counts',
  ];

  interface Column {
    readonly table: string;
    readonly column: string;
    /** As PostgreSQL writes it. */
    readonly type: string;
    readonly nullable: boolean;
  }

  const show = ({ table, column, type, nullable }: Column): string => `${table}.${column} ${type}${nullable ? ' null' : ''}`;

  async function listDeclared(): Promise<Column[]> {
    const declared = db.orm
      .getMetadata()
      .getAll()
      .values()
      .flatMap((meta) => meta.props.filter((prop) => prop.persist !== false).map((prop) => ({ table: meta.tableName, prop })))
      .flatMap(({ table, prop }) =>
        (prop.fieldNames ?? []).map((column, place) => {
          const type = (prop.columnTypes[place] ?? '').replace('serial', 'integer');
          return { table, column, type, nullable: prop.nullable === true };
        }),
      )
      .toArray();
    const types = await env.sql<{ given: string; type: string }>(
      'select given, format_type(to_regtype(given), null) as type from unnest($1::text[]) as given',
      [[...new Set(declared.map(({ type }) => type))]],
    );
    const typeOf = new Map(types.map(({ given, type }) => [given, type]));
    return declared.map((column) => ({ ...column, type: typeOf.get(column.type) ?? column.type }));
  }

  it('describe the same tables, columns, types and nullability', async () => {
    const stored = await env.sql<Column & Record<string, unknown>>(
      `select r.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type, not a.attnotnull as nullable
       from pg_attribute a join pg_class r on r.oid = a.attrelid
       where r.relnamespace = 'directory'::regnamespace and r.relkind = 'r' and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
         and r.relname <> all($1)`,
      [plumbing],
    );
    expect((await listDeclared()).map(show).toSorted()).toEqual(stored.map(show).toSorted());
  });

  it('keep the naming of constraints: <table>__<columns>__<kind>', async () => {
    const rows = await env.sql<{ table: string; name: string }>(
      `select r.relname as table, c.conname as name from pg_constraint c join pg_class r on r.oid = c.conrelid
       where c.connamespace = 'directory'::regnamespace and c.contype <> 'n' and r.relname <> all($1)`,
      [plumbing],
    );
    expect(rows.length).toBeGreaterThan(40);
    expect(rows.filter(({ table, name }) => !new RegExp(`^${table}__[a-z0-9_]+__[a-z_]+$`).test(name))).toEqual([]);
  });
});
