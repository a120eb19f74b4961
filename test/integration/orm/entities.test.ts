/**
 * Entities are the only declaration of the tables of a service. They are compared with the tables that the migrations
 * create.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEntityManagers, type Entities } from '#libs/infrastructure/orm/entities';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';

const servicesDir = join(import.meta.dirname, '..', '..', '..', 'services');
const services = readdirSync(servicesDir).filter((name) => existsSync(join(servicesDir, name, 'entities', 'index.ts')));
/** Tables of libraries, and tables without a key that are maintained by triggers. */
const libraryTables = [
  'audit_head',
  'audit_log',
  'feed_outbox',
  'handed_over',
  'history',
  'job_attempts',
  'jobs',
  'kept_answers',
  'migrations',
  'outbox',
];
const keptByTriggers: Readonly<Record<string, readonly string[]>> = {
  directory: [
    'holons_channel_values',
    'membership_tallies',
    'people_channel_values',
    'relationship_tallies',
    'usage_counts',
  ],
};

interface Column {
  readonly table: string;
  readonly column: string;
  /** Type name in PostgreSQL's notation. */
  readonly type: string;
  readonly nullable: boolean;
}

let env: TestEnvironment;
beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
});
afterAll(() => env.stop());

const show = ({ table, column, type, nullable }: Column): string =>
  `${table}.${column} ${type}${nullable ? ' null' : ''}`;

async function listDeclared(service: string): Promise<Column[]> {
  const path = join(servicesDir, service, 'entities', 'index.ts');
  const { entities } = (await import(path)) as { entities: Entities };
  const metadata = createEntityManagers({ schema: service, entities }).orm.getMetadata().getAll().values().toArray();
  const declared = metadata
    .flatMap((meta) =>
      meta.props.filter((prop) => prop.persist !== false).map((prop) => ({ table: meta.tableName, prop })),
    )
    .flatMap(({ table, prop }) =>
      (prop.fieldNames ?? []).map((column, place) => {
        const type = (prop.columnTypes[place] ?? '').replace('bigserial', 'bigint').replace('serial', 'integer');
        return { table, column, type, nullable: prop.nullable === true };
      }),
    );
  const types = await env.sql<{ given: string; type: string }>(
    'select given, format_type(to_regtype(given), null) as type from unnest($1::text[]) as given',
    [[...new Set(declared.map(({ type }) => type))]],
  );
  const typeOf = new Map(types.map(({ given, type }) => [given, type]));
  return declared.map((column) => ({ ...column, type: typeOf.get(column.type) ?? column.type }));
}

/** Ids of older tables, which are narrower than `bigint`. Do not add names: new tables have `bigint` ids. */
const narrowIds = [
  'agents.agents.id',
  'conversations.all_conversations.id',
  'conversations.booking_identifiers."position"',
  'conversations.bookings.id',
  'conversations.notes.id',
  'conversations.pipeline_entries.id',
  'conversations.question_changes.id',
  'conversations.webhook_receipts.id',
  'directory.accounts.id',
  'directory.erasures.id',
  'directory.holons.id',
  'directory.journey_questions.id',
  'directory.journey_steps.id',
  'directory.journeys.id',
  'directory.memberships.id',
  'directory.notes.id',
  'directory.object_classes.id',
  'directory.people.id',
  'directory.relationships.id',
  'directory.spheres.id',
  'directory.step_config_audit.id',
  'events.webhook_endpoints.id',
  'media.blobs.id',
];

describe('entities (architecture#data)', () => {
  it('every service declares its entities', () => {
    expect(services).toEqual(expect.arrayContaining(['agents', 'conversations', 'directory', 'media', 'transcripts']));
  });

  it.each(services)(
    'entities of %s describe the same tables, columns, types and nullability as its migrations',
    async (service) => {
      const stored = await env.sql<Column & Record<string, unknown>>(
        `select r.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type, not a.attnotnull as nullable
       from pg_attribute a join pg_class r on r.oid = a.attrelid
       where r.relnamespace = $1::text::regnamespace and r.relkind in ('r', 'p') and not r.relispartition and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
         and r.relname <> all($2)`,
        [service, [...libraryTables, ...(keptByTriggers[service] ?? [])]],
      );
      expect((await listDeclared(service)).map(show).toSorted()).toEqual(stored.map(show).toSorted());
    },
  );

  it('uses 64-bit ids in new tables; 32-bit ids exist only in the listed older tables (docs/guides/large-ids.md)', async () => {
    const narrow = await env.sql<{ column: string }>(
      `select format('%I.%I.%I', n.nspname, r.relname, a.attname) as column
       from pg_attribute a join pg_class r on r.oid = a.attrelid join pg_namespace n on n.oid = r.relnamespace
       where n.nspname = any($1) and r.relkind in ('r', 'p') and r.relname <> 'migrations' and a.attnum > 0 and not a.attisdropped and a.atttypid in ('integer'::regtype, 'smallint'::regtype)
         and (a.attidentity <> '' or pg_get_serial_sequence(format('%I.%I', n.nspname, r.relname), a.attname) is not null)
       order by 1`,
      [services],
    );
    expect(narrow.map(({ column }) => column)).toEqual(narrowIds);
  });
});
