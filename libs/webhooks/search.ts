/**
 * Finding receipts among millions (P4, P7), the same in the table of every service that has some. Text is looked for in the bytes of the body as
 * PostgreSQL escapes them, which any bytes have a form in; letters of ASCII match whatever their case.
 */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/sql';

/** What indexes are built on and texts are compared with. */
const bodyText = sql`lower(encode(r.body, 'escape') collate "C")`;

/** SQL of the indexes in a service's schema, for an online migration; `hasSource` = its receipts are of several kinds and have persons. */
export function receiptSearchIndexes(schema: string, hasSource: boolean): string[] {
  const table = `${schema}.webhook_receipts`;
  const kinds = hasSource ? 'source, outcome' : 'outcome';
  const persons = `create index concurrently webhook_receipts__person_id_received_at__index on ${table} (person_id, received_at, id)`;
  return [
    'create extension if not exists pg_trgm with schema public',
    `create index concurrently webhook_receipts__kinds_received_at__index on ${table} (${kinds}, received_at, id)`,
    ...(hasSource ? [persons] : []),
    `create index concurrently webhook_receipts__body_text__index on ${table} using gin (lower(encode(body, 'escape') collate "C") public.gin_trgm_ops)
      where body is not null`,
  ];
}

/** A text as it stands, as JSON writes it, and as JSON in ASCII alone does. */
function formsOf(text: string): [string, string, string] {
  const json = JSON.stringify(text.toWellFormed()).slice(1, -1);
  const ascii = json.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [text, json, ascii];
}

/** Whether a body has a text in one of its forms, as `bodyPatterns` find it. */
export function hasForm(body: string, text: string): boolean {
  const within = lowerAscii(body);
  return formsOf(text).some((form) => within.includes(lowerAscii(form)));
}

const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** A text as patterns of LIKE for `bodyText`, in each of its forms. */
export function bodyPatterns(text: string): { pattern: string; inJson: string | undefined; inAscii: string | undefined } {
  const [pattern, inJson, inAscii] = formsOf(text).map(toPattern) as [string, string, string];
  return { pattern, inJson: inJson === pattern ? undefined : inJson, inAscii: inAscii === inJson ? undefined : inAscii };
}

function toPattern(text: string): string {
  const escaped = [...Buffer.from(text, 'utf8')].map((byte) =>
    byte === 0 || byte > 0x7f ? `\\${byte.toString(8).padStart(3, '0')}` : byte === 0x5c ? '\\\\' : String.fromCharCode(byte),
  );
  return `%${lowerAscii(escaped.join('')).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** Behind the receipt of a page before; null for the first page. */
export const beforeFilter = { beforeAt: t.instant.nullable, beforeId: t.bigint.nullable };
/** Of the alias `r`. */
export const isBefore = ({ beforeAt, beforeId }: Record<keyof typeof beforeFilter, SqlPart>): Sql =>
  sql`(${beforeAt} is null or (r.received_at, r.id) < (${beforeAt}, ${beforeId}))`;

/** Each null for any. */
const filter = {
  kind: t.text.nullable,
  outcome: t.text.nullable,
  personId: t.text.nullable,
  from: t.instant.nullable,
  to: t.instant.nullable,
  ...beforeFilter,
  limit: t.integer,
};
type Filter = Record<keyof typeof filter, SqlPart>;
const text = { pattern: t.text, inJson: t.text.nullable, inAscii: t.text.nullable };
/** A text in the body; null for any. */
export const textFilter = { ...text, pattern: t.text.nullable };
const holdsText = ({ pattern, inJson, inAscii }: Record<keyof typeof text, SqlPart>): Sql => sql`(${bodyText} like ${pattern}
    or (${inJson} is not null and ${bodyText} like ${inJson}) or (${inAscii} is not null and ${bodyText} like ${inAscii}))`;

export const textFilterValues = (sought: string | undefined) =>
  sought === undefined ? { pattern: undefined, inJson: undefined, inAscii: undefined } : bodyPatterns(sought);
/** Of the alias `r`. */
export const hasText = (wanted: Record<keyof typeof text, SqlPart>): Sql =>
  sql`(${wanted.pattern} is null or (r.body is not null and ${holdsText(wanted)}))`;

/** Of so many of the newest the bodies are looked at before the index of texts is asked: what many have is found there at once. */
const looked = 2_000;

export interface ReceiptSearchOptions {
  readonly schema: string;
  /** Columns of an item, of the alias `r`; JSON. */
  readonly item: Sql;
  readonly hasSource: boolean;
  readonly kind: string;
}

/** Declares the statements; each that gives items gives them as JSON, newest first unless it says otherwise. */
export function declareReceiptSearch({ schema, item, hasSource, kind: only }: ReceiptSearchOptions) {
  const table = sql.id(`${schema}.webhook_receipts`);
  const isKind = (value: SqlPart): Sql => sql`(${value} is null or ${hasSource ? sql`r.source` : sql.literal(only)} = ${value})`;
  const isPerson = (value: SqlPart): Sql => sql`(${value} is null or ${hasSource ? sql`r.person_id = ${value}` : sql`false`})`;
  const isWithin = ({ from, to, ...before }: Filter): Sql => sql`(${from} is null or r.received_at >= ${from})
    and (${to} is null or r.received_at < ${to}) and ${isBefore(before)}`;
  const matches = (wanted: Filter): Sql => sql`${isKind(wanted.kind)} and (${wanted.outcome} is null or r.outcome = ${wanted.outcome})
    and ${isPerson(wanted.personId)} and ${isWithin(wanted)}`;
  const columns = hasSource ? sql`source, outcome` : sql`outcome`;
  const [ofKind, ofNext] = hasSource ? [sql`(k.source, k.outcome)`, sql`next.source, next.outcome`] : [sql`(k.outcome)`, sql`next.outcome`];
  /** The newest of each pair of kind and outcome, of which the newest are taken. */
  const newest = (wanted: Filter, count: SqlPart): Sql => sql`recursive kinds as (
      (select ${columns} from ${table} order by ${columns} limit 1)
      union all
      select ${ofNext} from kinds k cross join lateral (select ${columns} from ${table} where (${columns}) > ${ofKind} order by ${columns} limit 1) next
    ), newest as (
      select found.id, found.received_at from kinds k cross join lateral (
        select r.id, r.received_at from ${table} r
        where r.outcome = k.outcome ${hasSource ? sql`and r.source = k.source` : sql.empty} and ${isPerson(wanted.personId)} and ${isWithin(wanted)}
        order by r.received_at desc, r.id desc limit ${count}) found
      where (${wanted.outcome} is null or k.outcome = ${wanted.outcome})
        and (${wanted.kind} is null or ${hasSource ? sql`k.source` : sql.literal(only)} = ${wanted.kind})
      order by found.received_at desc, found.id desc limit ${count}
    )`;
  const order = sql`order by r.received_at desc, r.id desc`;
  const asItems = (rows: Sql): Sql =>
    sql`select coalesce(json_agg(item), '[]')::text as items, count(*)::integer as count from (${rows}) page`;
  const row = { items: t.text, count: t.integer };
  return Object.freeze({
    list: statement.one({
      name: 'receipts.operators-list',
      planned: 'each-call',
      params: filter,
      row,
      sql: (wanted) => sql`with ${newest(wanted, wanted.limit)}
        ${asItems(sql`select ${item} as item from newest join ${table} r using (id) ${order}`)}`,
    }),
    ofPerson: statement.one({
      name: 'receipts.operators-of-person',
      planned: 'each-call',
      params: filter,
      row,
      sql: (wanted) => asItems(sql`select ${item} as item from ${table} r where ${matches(wanted)} ${order} limit ${wanted.limit}`),
    }),
    /** In the newest. */
    look: statement.one({
      name: 'receipts.operators-look',
      planned: 'each-call',
      params: { ...filter, ...text },
      row,
      sql: (wanted) => sql`with ${newest(wanted, looked)}
        ${asItems(sql`select ${item} as item from newest n cross join lateral (select * from ${table} one where one.id = n.id offset 0) r
          where ${holdsText(wanted)} ${order} limit ${wanted.limit}`)}`,
    }),
    search: statement.one({
      name: 'receipts.operators-search',
      planned: 'each-call',
      params: { ...filter, ...text },
      row,
      sql: (wanted) => sql`with found as materialized (
          select r.id from ${table} r where r.body is not null and ${holdsText(wanted)} and ${matches(wanted)}
        )
        ${asItems(sql`select ${item} as item from found join ${table} r using (id) ${order} limit ${wanted.limit}`)}`,
    }),
    /** What a replay is for, oldest first. */
    choose: statement.many({
      name: 'receipts.operators-choose',
      planned: 'each-call',
      params: { ...filter, ...textFilter, ids: t.bigint.array.nullable },
      row: { id: t.bigint, kind: t.text, outcome: t.text, has_body: t.boolean },
      sql: (wanted) => sql`
        select r.id::bigint as id, ${hasSource ? sql`r.source` : sql.literal(only)} as kind, r.outcome, r.body is not null as has_body from ${table} r
        where (${wanted.ids} is null or r.id = any(${wanted.ids})) and ${matches(wanted)}
          and ${hasText(wanted)}
        order by r.received_at, r.id limit ${wanted.limit}`,
    }),
    bodies: statement.many({
      name: 'receipts.operators-bodies',
      params: { ids: t.bigint.array },
      row: { id: t.bigint, body: t.bytes.as<Buffer>().nullable },
      sql: ({ ids }) => sql`select r.id::bigint as id, r.body from ${table} r where r.id = any(${ids})`,
    }),
    /** Oldest first. */
    some: statement.one({
      name: 'receipts.operators-some',
      params: { ids: t.bigint.array },
      row,
      sql: ({ ids }) => asItems(sql`select ${item} as item from ${table} r where r.id = any(${ids}) order by r.received_at, r.id`),
    }),
    show: statement.maybeOne({
      name: 'receipts.operators-show',
      params: { id: t.bigint },
      row: { item: t.text, headers: t.json, body: t.bytes.as<Buffer>().nullable },
      sql: ({ id }) => sql`
        select ${item}::text as item, r.headers, r.body from ${table} r where r.id = ${id}`,
    }),
  });
}

export type ReceiptSearch = ReturnType<typeof declareReceiptSearch>;
