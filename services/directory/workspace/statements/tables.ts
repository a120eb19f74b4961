/**
 * Writes rows of the workspace file in bulk: one INSERT and one UPDATE per table. Rows are one JSON parameter.
 * PostgreSQL compares and merges them, so numbers and nested documents retain their exact values.
 */
import type { Tx } from '#libs/infrastructure/orm';
import { type RowOf, type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';

const typeSql = {
  text: sql`text`,
  integer: sql`integer`,
  boolean: sql`boolean`,
  jsonb: sql`jsonb`,
  date: sql`date`,
  'text[]': sql`text[]`,
} as const;

interface Column {
  readonly type: keyof typeof typeSql;
  /** SQL default in a new row that has no value; without it the column is null. */
  readonly ifAbsent?: Sql;
  /** The column identifies the row and is never updated. */
  readonly fixed?: true;
}

interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, Column>>;
  /**
   * SQL of `updated_at` in a changed row (aliases: `t` stored, `m` merged). Undefined if the table has no such column.
   */
  readonly touch?: Sql;
  /** Order of new rows (alias `i`). All writers of the table use it, to avoid deadlocks. */
  readonly order?: Sql;
}

const text: Column = { type: 'text' };
const emptyText: Column = { type: 'text', ifAbsent: sql`''` };
const no: Column = { type: 'boolean', ifAbsent: sql`false` };
const yes: Column = { type: 'boolean', ifAbsent: sql`true` };
const object: Column = { type: 'jsonb', ifAbsent: sql`'{}'` };
const reference: Column = { type: 'integer' };
const fixedText: Column = { type: 'text', fixed: true };
const fixedReference: Column = { type: 'integer', fixed: true };
const holonKind: Column = { type: 'text', ifAbsent: sql`'holon'` };
/** The time strictly increases, so that changes have distinct instants. */
const later = sql`greatest(clock_timestamp(), t.updated_at + interval '1 microsecond')`;

const workflow = {
  key: text,
  journey_id: reference,
  step_id: reference,
  follow_up_after: { type: 'date' },
  responsible_person_id: reference,
} as const;

const tables = {
  spheres: { name: 'spheres', columns: { key: fixedText, name: text, is_active: yes } },
  classes: {
    name: 'object_classes',
    columns: {
      slug: fixedText,
      object_kind: holonKind,
      parent_id: reference,
      label: text,
      plural_label: text,
      description: emptyText,
      sort_order: { type: 'integer', ifAbsent: sql`0` },
      is_system: no,
      is_active: yes,
      icon_url: text,
      conversation_event: no,
      private: no,
      name_read_only: no,
      config: object,
    },
    touch: later,
  },
  journeys: {
    name: 'journeys',
    columns: {
      slug: fixedText,
      name: text,
      description: emptyText,
      svc_app: emptyText,
      object_kind: holonKind,
      applies_to_class_id: reference,
      is_conversation: no,
      public_visible: no,
      bulk_add: no,
      texts: object,
    },
    touch: later,
  },
  questions: {
    name: 'journey_questions',
    columns: { journey_id: fixedReference, text, position: { type: 'integer' }, is_retired: no },
  },
  steps: {
    name: 'journey_steps',
    columns: {
      journey_id: fixedReference,
      slug: fixedText,
      title: text,
      goal: emptyText,
      success_criteria: emptyText,
      starter_message: emptyText,
      position: { type: 'integer' },
      is_archived: no,
      pipeline_job: text,
      config: object,
    },
    touch: sql`case when (t.config, t.pipeline_job) is distinct from (m.config, m.pipeline_job) then ${later} else t.updated_at end`,
  },
  people: {
    name: 'people',
    columns: {
      key: fixedText,
      name: text,
      description: emptyText,
      photo_url: text,
      actor_kind: { type: 'text', ifAbsent: sql`'human'` },
      contact: object,
      infos: object,
    },
    touch: later,
  },
  holons: {
    name: 'holons',
    columns: {
      slug: fixedText,
      name: text,
      description: emptyText,
      class_id: reference,
      parent_id: reference,
      links: object,
      infos: object,
    },
    touch: later,
  },
  accounts: {
    name: 'accounts',
    columns: {
      email: fixedText,
      person_id: reference,
      password_hash: text,
      is_active: yes,
      superuser: no,
      global_editor: no,
      groups: { type: 'text[]', ifAbsent: sql`'{}'` },
    },
    touch: later,
  },
  memberships: {
    name: 'memberships',
    columns: { person_id: fixedReference, holon_id: fixedReference, ...workflow },
    order: sql`i.holon_id, i.person_id, i.journey_id`,
  },
  relationships: {
    name: 'relationships',
    columns: { from_holon_id: fixedReference, to_holon_id: fixedReference, ...workflow },
  },
} as const satisfies Record<string, Table>;

export type TableName = keyof typeof tables;

/** A row to write, with the columns that the item sets. */
export interface Row {
  readonly id: number;
  readonly values: Readonly<Record<string, unknown>>;
}

/** An updated row, and its changes as JSON text `[{field, old, new}]`. */
const updatedRow = { id: t.integer, fields: t.text };
export type UpdatedRow = RowOf<typeof updatedRow>;

const quoted = (name: string): Sql => sql`"${sql.id(name)}"`;
const comma = sql`, `;

function recordset(table: Table, rows: SqlPart): Sql {
  const columns = Object.entries(table.columns).map(([name, { type }]) => sql`${quoted(name)} ${typeSql[type]}`);
  return sql`jsonb_to_recordset(${rows}) as i(id integer, given text[], ${sql.join(columns, comma)})`;
}

function insertSql(table: Table, rows: SqlPart): Sql {
  const names = Object.keys(table.columns).map(quoted);
  const values = Object.entries(table.columns).map(([name, { type, ifAbsent }]) => {
    const value = ifAbsent === undefined ? sql`i.${quoted(name)}` : sql`coalesce(i.${quoted(name)}, ${ifAbsent})`;
    return type === 'jsonb' ? sql`directory.merge_patch('{}', ${value})` : value;
  });
  return sql`insert into ${tableSql(table)} (id, ${sql.join(names, comma)}) select i.id, ${sql.join(values, comma)}
    from ${recordset(table, rows)} order by ${table.order ?? sql`i.id`}`;
}

function updateSql(table: Table, rows: SqlPart): Sql {
  const open = Object.entries(table.columns).filter(([, column]) => column.fixed !== true);
  const merged = open.map(([name, { type }]) => {
    const column = quoted(name);
    const value = type === 'jsonb' ? sql`directory.merge_patch(t.${column}, i.${column})` : sql`i.${column}`;
    return sql`case when ${sql.literal(name)} = any(i.given) then ${value} else t.${column} end as ${column}`;
  });
  const compared = open.map(
    ([name]) => sql`(${sql.literal(name)}, to_jsonb(t.${quoted(name)}), to_jsonb(m.${quoted(name)}))`,
  );
  const assigned = open.map(([name]) => sql`${quoted(name)} = c.${quoted(name)}`);
  if (table.touch !== undefined) assigned.push(sql`updated_at = c.touched_at`);
  return sql`with m as (
      select t.id, ${sql.join(merged, comma)} from ${recordset(table, rows)} join ${tableSql(table)} t on t.id = i.id
    ), c as (
      select m.*, ${table.touch ?? sql`null::timestamptz`} as touched_at, difference.fields
      from m join ${tableSql(table)} t using (id)
      cross join lateral (
        select jsonb_agg(jsonb_build_object('field', f.field, 'old', f.old, 'new', f.new)) as fields
        from (values ${sql.join(compared, comma)}) as f(field, old, new) where f.old is distinct from f.new
      ) as difference
      where difference.fields is not null
    ), written as (
      update ${tableSql(table)} as t set ${sql.join(assigned, comma)} from c where t.id = c.id
    )
    select id, fields::text as fields from c order by id`;
}

const tableSql = ({ name }: Table): Sql => sql.id(`directory.${name}`);

/** Creates one statement per table. */
function forEachTable<Made>(make: (name: TableName) => Made): Readonly<Record<TableName, Made>> {
  return Object.fromEntries((Object.keys(tables) as TableName[]).map((name) => [name, make(name)])) as Record<
    TableName,
    Made
  >;
}

/** Inserts a JSON list of `{id, given, …columns}`. */
export const insertRows = forEachTable((name) =>
  statement.none({
    name: `workspace.insert-${name}`,
    params: { rows: t.json },
    sql: ({ rows }) => insertSql(tables[name], rows),
  }),
);

/** Updates rows and returns one UpdatedRow per changed row. Objects are merged by RFC 7396. */
export const updateRows = forEachTable((name) =>
  statement.many({
    name: `workspace.update-${name}`,
    params: { rows: t.json },
    row: updatedRow,
    sql: ({ rows }) => updateSql(tables[name], rows),
  }),
);

/** Returns new ids in ascending order. */
export const allocateIds = forEachTable((name) =>
  statement.many({
    name: `workspace.allocate-${name}`,
    params: { count: t.integer },
    row: { id: t.integer },
    sql: ({ count }) =>
      sql`select nextval(pg_get_serial_sequence(${sql.literal(`directory.${tables[name].name}`)}, 'id'))::integer as id from generate_series(1, ${count})`,
  }),
);

/** Returns the rows as one JSON parameter. */
export function toParameter(rows: readonly Row[]): string {
  return JSON.stringify(rows.map(({ id, values }) => ({ id, given: Object.keys(values), ...values })));
}

/** Rows per statement. */
const batchSize = 5_000;

/** Allocates ids of a table and returns them in ascending order. */
export async function allocateRowIds(tx: Tx, table: TableName, count: number): Promise<number[]> {
  if (count === 0) return [];
  const rows = await allocateIds[table](tx, { count });
  return rows.map(({ id }) => id);
}

/** Inserts rows. Absent columns get their defaults. */
export async function insertAll(tx: Tx, table: TableName, rows: readonly Row[]): Promise<void> {
  for (const batch of batches(rows)) await insertRows[table](tx, { rows: toParameter(batch) });
}

/** Updates rows that differ and returns the changes. */
export async function updateAll(tx: Tx, table: TableName, rows: readonly Row[]): Promise<UpdatedRow[]> {
  const updated: UpdatedRow[] = [];
  for (const batch of batches(rows)) {
    for (const row of await updateRows[table](tx, { rows: toParameter(batch) })) updated.push(row);
  }
  return updated;
}

/** Numbers steps or questions from 0 in the order of their ids. Pass all of a journey. */
export async function setOrder(tx: Tx, table: 'steps' | 'questions', ids: readonly number[]): Promise<void> {
  await updateAll(
    tx,
    table,
    ids.map((id, position) => ({ id, values: { position } })),
  );
}

/** Yields batches of a list. Each batch is written with one statement. */
export function* batches<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < rows.length; start += batchSize) yield rows.slice(start, start + batchSize);
}
