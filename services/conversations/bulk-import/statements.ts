/** Bulk import, set-based: a batch of items (`$1`, a JSON list of ImportItem) is compared with what is stored and written at once. */
import { statement } from '#libs/orm';
import { type BoundedField, maxDataBytes } from '../data-size.ts';

/** One import at a time: two of them may name the same new key. */
export const lockImports = statement(
  'import.lock-imports',
  `select pg_advisory_xact_lock(hashtextextended('conversations.import', 0))::text`,
);

/** Waits for whoever writes the batch's conversations; the next statement sees their writes. `$1` = keys. */
export const lockImported = statement(
  'import.lock-rows',
  `select c.id from conversations.import_keys k join conversations.conversations c on c.id = k.conversation_id
   where k.key = any($1::text[]) order by c.id for update of c`,
);

const reference = (field: string, column: string): string => `case when v ? '${field}' then (v->>'${field}')::integer else ${column} end`;
const instant = (field: string, column: string): string => `case when v ? '${field}' then (v->>'${field}')::timestamptz else ${column} end`;
const ids = (field: string, column: string): string =>
  `case when v ? '${field}'
     then array(select e.id::integer from jsonb_array_elements_text(v->'${field}') with ordinality as e(id, place) order by e.place)
     else coalesce(${column}, '{}') end`;
const merged = (field: string, column: string): string => `coalesce(${column}, '{}') || coalesce(v->'${field}', '{}')`;

/** Fields of the file and the columns behind them, with the SQL that shows a column's value. */
const columns: readonly (readonly [field: string, column: string, show: string])[] = [
  ['journey', 'journey_id', '%'],
  ['step', 'step_id', '%'],
  ['event', 'event_id', '%'],
  ['start', 'start_at', 'conversations.iso_utc(%)'],
  ['finish', 'finish_at', 'conversations.iso_utc(%)'],
  ['participants', 'participant_ids', '%'],
  ['connected', 'connected_ids', '%'],
  ['infos', 'infos', '%'],
  ['config', 'config', '%'],
  ['config.enter-coherence', 'room', '%'],
];
const show = (sql: string, alias: string, column: string): string => `to_jsonb(${sql.replace('%', `${alias}.${column}`)})`;

/** Each item with the row as it will be, and what differs from the stored one. `$2`: whether old and new values are wanted. */
const planned = `
  select n.*, n.stored_id is null as is_new,
    case when n.stored_id is null then '[]'::jsonb else (
      select coalesce(jsonb_agg(jsonb_build_object('field', d.field, 'old', case when $2::boolean then d.old end,
        'new', case when $2::boolean then d.new end)), '[]')
      from (values ${columns.map(([field, column, sql]) => `('${field}', ${show(sql, 'c', column)}, ${show(sql, 'n', column)})`).join(', ')})
        as d(field, old, new)
      where d.old is distinct from d.new
    ) end as fields
  from (
    select i.place, v->>'key' as key, s.id as stored_id,
      ${reference('journey_id', 's.journey_id')} as journey_id,
      case when v ? 'step_id' then (v->>'step_id')::integer
        when v ? 'journey_id' and (s.id is null or s.journey_id is distinct from (v->>'journey_id')::integer)
          then (v->>'default_step_id')::integer
        else s.step_id end as step_id,
      ${reference('event_id', 's.event_id')} as event_id,
      ${instant('start', 's.start_at')} as start_at,
      ${instant('finish', 's.finish_at')} as finish_at,
      ${ids('participant_ids', 's.participant_ids')} as participant_ids,
      ${ids('connected_ids', 's.connected_ids')} as connected_ids,
      ${merged('infos', 's.infos')} as infos,
      ${merged('config', 's.config')} as config,
      case when v ? 'room' then nullif(v->'room', 'null') else s.room end as room
    from jsonb_array_elements($1::jsonb) with ordinality as i(v, place)
    left join conversations.import_keys k on k.key = v->>'key'
    left join conversations.conversations s on s.id = k.conversation_id
  ) n left join conversations.conversations c on c.id = n.stored_id`;

export interface ImportedRow {
  readonly key: string;
  readonly id: number | null;
  readonly is_new: boolean;
  /** JSON list of `{field, old, new}`. */
  readonly fields: string;
}

/** An item of a plan. */
export interface PlannedRow extends ImportedRow {
  /** What would be larger than a conversation may hold (D63). */
  readonly too_large: BoundedField | null;
}

/** What an import would do. */
export const planImport = statement(
  'import.plan',
  `select p.key, p.stored_id as id, p.is_new, p.fields,
     case when p.fields = '[]' and not p.is_new then null
       when octet_length(p.infos::text) > ${maxDataBytes} then 'infos'
       when conversations.config_bytes(p.config, p.room) > ${maxDataBytes} then 'config' end as too_large
   from (${planned}) p order by p.place`,
);

/** Does it. */
export const applyImport = statement(
  'import.apply',
  `with plan as materialized (
     select p.*, coalesce(p.stored_id, nextval(pg_get_serial_sequence('conversations.all_conversations', 'id'))::integer) as id
     from (${planned}) p
   ), updated as (
     update conversations.conversations c
     set journey_id = p.journey_id, step_id = p.step_id, event_id = p.event_id, start_at = p.start_at, finish_at = p.finish_at,
       participant_ids = p.participant_ids, connected_ids = p.connected_ids, infos = p.infos, config = p.config, room = p.room,
       updated_at = greatest(clock_timestamp(), c.updated_at + interval '1 microsecond')
     from plan p where c.id = p.id and not p.is_new and p.fields <> '[]'
   ), inserted as (
     insert into conversations.conversations (id, journey_id, step_id, event_id, start_at, finish_at, participant_ids, connected_ids,
       infos, config, room)
     select id, journey_id, step_id, event_id, start_at, finish_at, participant_ids, connected_ids, infos, config, room
     from plan where is_new order by place
   ), keyed as (
     insert into conversations.import_keys (key, conversation_id) select key, id from plan where is_new
   )
   select key, id, is_new, fields from plan order by place`,
);
