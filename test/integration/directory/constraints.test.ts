import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';

let env: TestEnvironment;
beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
});
afterAll(async () => {
  await env.stop();
});

describe('directory tables', () => {
  /** Tables of libraries, and tables without a key that are maintained by triggers. */
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

  it('have constraints named <table>__<columns>__<kind>', async () => {
    const rows = await env.sql<{ table: string; name: string }>(
      `select r.relname as table, c.conname as name from pg_constraint c join pg_class r on r.oid = c.conrelid
       where c.connamespace = 'directory'::regnamespace and c.contype <> 'n' and r.relname <> all($1)`,
      [plumbing],
    );
    expect(rows.length).toBeGreaterThan(40);
    expect(rows.filter(({ table, name }) => !new RegExp(`^${table}__[a-z0-9_]+__[a-z_]+$`).test(name))).toEqual([]);
  });
});
