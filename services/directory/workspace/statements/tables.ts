/**
 * Bulk writes of the workspace file: one INSERT and one UPDATE for each table, whatever the number of rows. Rows travel as one JSON
 * parameter; PostgreSQL compares and merges, so numbers and nested documents never lose anything on the way.
 */
import { statement, type Statement } from '#libs/orm';

interface Column {
  readonly type: 'text' | 'integer' | 'boolean' | 'jsonb' | 'date' | 'text[]';
  /** SQL for a new row that does not name the column; without it the column stays null. */
  readonly ifAbsent?: string;
  /** Part of what identifies the row: never updated. */
  readonly fixed?: true;
}

interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, Column>>;
  /** Expression for `updated_at` of a changed row (aliases: `t` stored, `m` merged); undefined = the table has none. */
  readonly touch?: string;
}

const text: Column = { type: 'text' };
const emptyText: Column = { type: 'text', ifAbsent: `''` };
const no: Column = { type: 'boolean', ifAbsent: 'false' };
const yes: Column = { type: 'boolean', ifAbsent: 'true' };
const object: Column = { type: 'jsonb', ifAbsent: `'{}'` };
const reference: Column = { type: 'integer' };
const fixedText: Column = { type: 'text', fixed: true };
const fixedReference: Column = { type: 'integer', fixed: true };
const holonKind: Column = { type: 'text', ifAbsent: `'holon'` };
/** Strictly later than before, so that two changes never share an instant. */
const later = `greatest(clock_timestamp(), t.updated_at + interval '1 microsecond')`;

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
      sort_order: { type: 'integer', ifAbsent: '0' },
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
    columns: { journey_id: fixedReference, text: fixedText, position: { type: 'integer' }, is_retired: no },
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
    touch: `case when (t.config, t.pipeline_job) is distinct from (m.config, m.pipeline_job) then ${later} else t.updated_at end`,
  },
  people: {
    name: 'people',
    columns: {
      key: fixedText,
      name: text,
      description: emptyText,
      photo_url: text,
      actor_kind: { type: 'text', ifAbsent: `'human'` },
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
      groups: { type: 'text[]', ifAbsent: `'{}'` },
    },
    touch: later,
  },
  memberships: { name: 'memberships', columns: { person_id: fixedReference, holon_id: fixedReference, ...workflow } },
  relationships: { name: 'relationships', columns: { from_holon_id: fixedReference, to_holon_id: fixedReference, ...workflow } },
} as const satisfies Record<string, Table>;

export type TableName = keyof typeof tables;

/** A row to write: its id and the columns that it names. */
export interface Row {
  readonly id: number;
  readonly values: Readonly<Record<string, unknown>>;
}

/** What an update changed: the row and, as JSON text, `[{field, old, new}]`. */
export interface UpdatedRow {
  readonly id: number;
  readonly fields: string;
}

function recordset(table: Table): string {
  const columns = Object.entries(table.columns).map(([name, { type }]) => `"${name}" ${type}`);
  return `jsonb_to_recordset($1::jsonb) as i(id integer, given text[], ${columns.join(', ')})`;
}

function insertText(table: Table): string {
  const names = Object.keys(table.columns).map((name) => `"${name}"`);
  const values = Object.entries(table.columns).map(([name, { type, ifAbsent }]) => {
    const value = ifAbsent === undefined ? `i."${name}"` : `coalesce(i."${name}", ${ifAbsent})`;
    return type === 'jsonb' ? `directory.merge_patch('{}', ${value})` : value;
  });
  return `insert into directory.${table.name} (id, ${names.join(', ')}) select i.id, ${values.join(', ')} from ${recordset(table)}`;
}

function updateText(table: Table): string {
  const open = Object.entries(table.columns).filter(([, column]) => column.fixed !== true);
  const merged = open.map(([name, { type }]) => {
    const value = type === 'jsonb' ? `directory.merge_patch(t."${name}", i."${name}")` : `i."${name}"`;
    return `case when '${name}' = any(i.given) then ${value} else t."${name}" end as "${name}"`;
  });
  const compared = open.map(([name]) => `('${name}', to_jsonb(t."${name}"), to_jsonb(m."${name}"))`);
  const assigned = open.map(([name]) => `"${name}" = c."${name}"`);
  if (table.touch !== undefined) assigned.push('updated_at = c.touched_at');
  return `with m as (
      select t.id, ${merged.join(', ')} from ${recordset(table)} join directory.${table.name} t on t.id = i.id
    ), c as (
      select m.*, ${table.touch === undefined ? 'null::timestamptz' : table.touch} as touched_at, difference.fields
      from m join directory.${table.name} t using (id)
      cross join lateral (
        select jsonb_agg(jsonb_build_object('field', f.field, 'old', f.old, 'new', f.new)) as fields
        from (values ${compared.join(', ')}) as f(field, old, new) where f.old is distinct from f.new
      ) as difference
      where difference.fields is not null
    ), written as (
      update directory.${table.name} as t set ${assigned.join(', ')} from c where t.id = c.id
    )
    select id, fields::text as fields from c order by id`;
}

const names = Object.keys(tables) as TableName[];

/** `$1` = JSON list of `{id, given, …columns}`. */
export const insertRows = Object.fromEntries(
  names.map((name) => [name, statement(`workspace.insert-${name}`, insertText(tables[name]))]),
) as Record<TableName, Statement>;

/** As `insertRows`; returns one UpdatedRow for each row that differs. Objects merge as RFC 7396. */
export const updateRows = Object.fromEntries(
  names.map((name) => [name, statement(`workspace.update-${name}`, updateText(tables[name]))]),
) as Record<TableName, Statement>;

/** `$1` = how many; returns that many fresh ids, ascending. */
export const allocateIds = Object.fromEntries(
  names.map((name) => [
    name,
    statement(
      `workspace.allocate-${name}`,
      `select nextval(pg_get_serial_sequence('directory.${tables[name].name}', 'id'))::integer as id from generate_series(1, $1::integer)`,
    ),
  ]),
) as Record<TableName, Statement>;

/** Rows as the JSON parameter of the statements above. */
export function toParameter(rows: readonly Row[]): string {
  return JSON.stringify(rows.map(({ id, values }) => ({ id, given: Object.keys(values), ...values })));
}
