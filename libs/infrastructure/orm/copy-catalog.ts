/**
 * Reads the tables of some schemas from PostgreSQL's catalog, for copies of whole tables. Names are returned quoted.
 */
import type pg from 'pg';

/** A table and its columns, without generated columns: PostgreSQL computes them again on insert. */
export interface CopyTable {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
}

export interface CopySequence {
  readonly schema: string;
  readonly name: string;
  /** The value as text, since it can exceed the range of a JavaScript number. */
  readonly value: string;
}

/** Returns the tables, sorted by name. A partitioned table is one entry; the migration history is excluded. */
export async function listTables(client: pg.ClientBase, schemas: readonly string[]): Promise<CopyTable[]> {
  const { rows } = await client.query<{ schema: string; name: string; columns: string[] }>(
    `select n.nspname as schema, c.relname as name,
       array(select a.attname::text from pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p'
       and c.relname <> 'migrations'
     order by n.nspname collate "C", c.relname collate "C"`,
    [schemas],
  );
  return rows;
}

/** Returns the tables, largest first. The size of a partitioned table includes its partitions. */
export async function sortBySize(client: pg.ClientBase, tables: readonly CopyTable[]): Promise<CopyTable[]> {
  const { rows } = await client.query<{ position: string }>(
    `select t.position from unnest($1::text[], $2::text[]) with ordinality as t (schema, name, position)
     cross join lateral (select format('%I.%I', t.schema, t.name)::regclass as oid) c
     order by pg_table_size(c.oid) + coalesce((select sum(pg_table_size(inhrelid)) from pg_inherits where inhparent = c.oid), 0) desc, t.position`,
    [tables.map(({ schema }) => schema), tables.map(({ name }) => name)],
  );
  return rows.flatMap(({ position }) => tables[Number(position) - 1] ?? []);
}

/** Returns the sequences that have been used at least once. */
export async function listSequences(client: pg.ClientBase, schemas: readonly string[]): Promise<CopySequence[]> {
  const { rows } = await client.query<CopySequence>(
    `select schemaname as schema, sequencename as name, last_value::text as value from pg_sequences
     where schemaname = any($1) and last_value is not null and sequencename not like 'migrations\\_%'
     order by schemaname collate "C", sequencename collate "C"`,
    [schemas],
  );
  return rows;
}

/** Returns the migration names of each schema that has a migration history, in order. */
export async function readHistories(
  client: pg.ClientBase,
  schemas: readonly string[],
): Promise<Record<string, string[]>> {
  const histories: Record<string, string[]> = {};
  for (const schema of schemas) {
    const { rows: found } = await client.query<{ exists: boolean }>(
      `select to_regclass(format('%I.migrations', $1::text)) is not null as exists`,
      [schema],
    );
    if (found[0]?.exists !== true) continue;
    const text = await format(client, 'select array(select name::text from %I.migrations order by name) as names', [
      schema,
    ]);
    const { rows } = await client.query<{ names: string[] }>(text);
    histories[schema] = rows[0]?.names ?? [];
  }
  return histories;
}

/**
 * Returns statements that drop the constraints and indexes that slow down loading or depend on row order, and
 * statements that restore them.
 */
export async function listLoadObstacles(
  client: pg.ClientBase,
  schemas: readonly string[],
): Promise<{ remove: string[]; restore: string[] }> {
  const { rows } = await client.query<{ remove: string; restore: string }>(
    `select format('alter table %s drop constraint %I', c.conrelid::regclass, c.conname) as remove,
       format('alter table %s add constraint %I %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) as restore, 2 as place, c.conname as name
     from pg_constraint c join pg_namespace n on n.oid = c.connamespace where n.nspname = any($1) and c.contype = 'f'
     union all
     select format('drop index %s', i.indexrelid::regclass), pg_get_indexdef(i.indexrelid), 1, r.relname
     from pg_index i join pg_class r on r.oid = i.indexrelid join pg_namespace n on n.oid = r.relnamespace
     where n.nspname = any($1) and r.relkind = 'i' and not r.relispartition
       and not exists (select from pg_constraint c where c.conindid = i.indexrelid and c.contype in ('p', 'u', 'x'))
     union all
     select format('alter table %s disable trigger user', c.oid::regclass), format('alter table %s enable trigger user', c.oid::regclass), 3, c.relname
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any($1) and c.relkind = 'r' and exists (select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal)
     order by place, name`,
    [schemas],
  );
  // Foreign keys depend on unique indexes: they are dropped before the indexes and restored after them.
  return { remove: rows.map(({ remove }) => remove).toReversed(), restore: rows.map(({ restore }) => restore) };
}

/** Returns a statement whose names and literals are quoted by PostgreSQL. */
export async function format(
  client: pg.ClientBase,
  template: string,
  values: readonly (string | number)[],
): Promise<string> {
  const positions = values.map((_value, index) => `$${index + 2}::text`).join(', ');
  const { rows } = await client.query<{ text: string }>(`select format($1::text, ${positions}) as text`, [
    template,
    ...values.map(String),
  ]);
  return rows[0]?.text ?? '';
}
