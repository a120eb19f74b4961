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
  /** Tables that statements and triggers alone write. */
  const plumbing = [
    'holons_channel_values',
    'jobs',
    'login_attempts',
    'membership_tallies',
    'migrations',
    'outbox',
    'people_channel_values',
    'relationship_tallies',
    'usage_counts',
    'workspace_uploads',
  ];

  it('describe the same tables, columns, types and nullability', async () => {
    const described = Object.values(db.orm.getMetadata().getAll().values().toArray())
      .flatMap((meta) =>
        meta.props
          .filter((prop) => prop.persist !== false)
          .flatMap((prop) =>
            (prop.fieldNames ?? []).map((column) => `${meta.tableName}.${column}${prop.nullable === true ? ' null' : ''}`),
          ),
      )
      .toSorted((a, b) => a.localeCompare(b));
    const stored = await env.sql<{ name: string }>(
      `select table_name || '.' || column_name || case is_nullable when 'YES' then ' null' else '' end as name
       from information_schema.columns where table_schema = 'directory' and is_generated = 'NEVER' and table_name <> all($1)`,
      [plumbing],
    );
    expect(described).toEqual(stored.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b)));
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
