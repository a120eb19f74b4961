/**
 * Statements of the bulk import. They compare a batch (JSON list of ImportItem) with the stored rows, and write all
 * changes at once.
 */
import { type Parameter, type RowOf, type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { type BoundedField, maxDataBytes } from '../refusals.ts';
import { nextUpdatedAt } from '../statements.ts';

/** Makes imports run one after the other, because two imports can use the same new key. */
export const lockImports = statement.none({
  name: 'import.lock-imports',
  sql: () => sql`select pg_advisory_xact_lock(hashtextextended('conversations.import', 0))::text`,
});

/** Locks the conversations of the batch, so that the next statement sees the result of concurrent writes. */
export const lockImported = statement.none({
  name: 'import.lock-rows',
  params: { keys: t.text.array },
  sql: ({ keys }) => sql`
    select c.id from conversations.import_keys k join conversations.conversations c on c.id = k.conversation_id
    where k.key = any(${keys}) order by c.id for update of c`,
});

/** Returns the field of item `v`, or of the stored row `s` when the item omits it. */
const reference = (field: string): Sql =>
  sql`case when v ? ${sql.literal(field)} then (v->>${sql.literal(field)})::integer else s.${sql.id(field)} end as ${sql.id(field)}`;
const instant = (field: string): Sql => {
  const column = sql.id(`${field}_at`);
  return sql`case when v ? ${sql.literal(field)} then (v->>${sql.literal(field)})::timestamptz else s.${column} end as ${column}`;
};
const ids = (field: string): Sql => sql`
  case when v ? ${sql.literal(field)}
    then array(select e.id::integer from jsonb_array_elements_text(v->${sql.literal(field)}) with ordinality as e(id, ordinal) order by e.ordinal)
    else coalesce(s.${sql.id(field)}, '{}') end as ${sql.id(field)}`;
const merged = (field: string): Sql =>
  sql`coalesce(s.${sql.id(field)}, '{}') || coalesce(v->${sql.literal(field)}, '{}') as ${sql.id(field)}`;

/** Fields of the file with their columns, which are compared as JSON. */
const comparedColumns: readonly (readonly [field: string, column: string, isInstant?: boolean])[] = [
  ['journey', 'journey_id'],
  ['step', 'step_id'],
  ['event', 'event_id'],
  ['start', 'start_at', true],
  ['finish', 'finish_at', true],
  ['participants', 'participant_ids'],
  ['connected', 'connected_ids'],
  ['infos', 'infos'],
  ['config', 'config'],
  ['config.enter-coherence', 'room'],
];
const compared = sql.join(
  comparedColumns.map(([field, column, isInstant = false]) => {
    const asJson = (alias: string): Sql => {
      const value = sql.id(`${alias}.${column}`);
      return isInstant ? sql`to_jsonb(conversations.iso_utc(${value}))` : sql`to_jsonb(${value})`;
    };
    return sql`(${sql.literal(field)}, ${asJson('c')}, ${asJson('n')})`;
  }),
  sql`, `,
);

/** `withValues`: whether to return the old and new values. */
const planParams = { items: t.json, withValues: t.boolean };

/** Selects each item with its resulting row and its differences from the stored row. */
const plannedSql = ({ items, withValues }: Readonly<Record<keyof typeof planParams, Parameter>>): Sql => sql`
  select n.*, n.stored_id is null as is_new,
    case when n.stored_id is null then '[]'::jsonb else (
      select coalesce(jsonb_agg(jsonb_build_object('field', d.field, 'old', case when ${withValues} then d.old end,
        'new', case when ${withValues} then d.new end)), '[]')
      from (values ${compared}) as d(field, old, new)
      where d.old is distinct from d.new
    ) end as fields
  from (
    select i.ordinal, v->>'key' as key, s.id as stored_id,
      ${reference('journey_id')},
      case when v ? 'step_id' then (v->>'step_id')::integer
        when v ? 'journey_id' and (s.id is null or s.journey_id is distinct from (v->>'journey_id')::integer)
          then (v->>'default_step_id')::integer
        else s.step_id end as step_id,
      ${reference('event_id')},
      ${instant('start')},
      ${instant('finish')},
      ${ids('participant_ids')},
      ${ids('connected_ids')},
      ${merged('infos')},
      ${merged('config')},
      case when v ? 'room' then nullif(v->'room', 'null') else s.room end as room
    from jsonb_array_elements(${items}) with ordinality as i(v, ordinal)
    left join conversations.import_keys k on k.key = v->>'key'
    left join conversations.conversations s on s.id = k.conversation_id
  ) n left join conversations.conversations c on c.id = n.stored_id`;

/** True for a planned row `p` whose times are set by the import and end before they start. */
const endsBeforeStart = sql`(p.finish_at < p.start_at
  and (p.is_new or p.fields @> '[{"field": "start"}]' or p.fields @> '[{"field": "finish"}]')) is true as ends_before_start`;

/** `fields`: JSON list of `{field, old, new}`. */
const importedRow = {
  key: t.text,
  id: t.integer.nullable,
  is_new: t.boolean,
  fields: t.json,
  ends_before_start: t.boolean,
};
export type ImportedRow = RowOf<typeof importedRow>;

/** Plans an import without writing. `too_large` is the field that would exceed the size limit (D63). */
export const planImport = statement.many({
  name: 'import.plan',
  params: planParams,
  row: { ...importedRow, too_large: t.text.as<BoundedField>().nullable },
  sql: (params) => sql`
    select p.key, p.stored_id as id, p.is_new, p.fields, ${endsBeforeStart},
      case when p.fields = '[]' and not p.is_new then null
        when octet_length(p.infos::text) > ${maxDataBytes} then 'infos'
        when conversations.config_bytes(p.config, p.room) > ${maxDataBytes} then 'config' end as too_large
    from (${plannedSql(params)}) p order by p.ordinal`,
});

/** Writes the planned rows of the import. */
export const applyImport = statement.many({
  name: 'import.apply',
  params: planParams,
  row: importedRow,
  sql: (params) => sql`
    with plan as materialized (
      select p.*, coalesce(p.stored_id, nextval(pg_get_serial_sequence('conversations.all_conversations', 'id'))::integer) as id
      from (${plannedSql(params)}) p
    ), updated as (
      update conversations.conversations c
      set journey_id = p.journey_id, step_id = p.step_id, event_id = p.event_id, start_at = p.start_at, finish_at = p.finish_at,
        participant_ids = p.participant_ids, connected_ids = p.connected_ids, infos = p.infos, config = p.config, room = p.room,
        updated_at = ${nextUpdatedAt}
      from plan p where c.id = p.id and not p.is_new and p.fields <> '[]'
    ), inserted as (
      insert into conversations.conversations (id, journey_id, step_id, event_id, start_at, finish_at, participant_ids, connected_ids,
        infos, config, room)
      select id, journey_id, step_id, event_id, start_at, finish_at, participant_ids, connected_ids, infos, config, room
      from plan where is_new order by ordinal
    ), keyed as (
      insert into conversations.import_keys (key, conversation_id) select key, id from plan where is_new
    )
    select p.key, p.id, p.is_new, p.fields, ${endsBeforeStart} from plan p order by p.ordinal`,
});
