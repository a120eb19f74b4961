/**
 * Search in receipts, of which a service can have millions (P4, P7). Text is compared with the body as PostgreSQL
 * escapes it, because bodies can contain any bytes. ASCII letters match case-insensitively.
 */
import { redactBody } from '#libs/infrastructure/redaction';
import { type Queryable, type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';
import { decodeBody } from './body.ts';

/** The indexed expression with which searched texts are compared. */
const bodyText = sql`lower(encode(r.body, 'escape') collate "C")`;

/**
 * Returns the SQL of the indexes for an online migration. @param hasSource whether the table has columns for kind and
 * person
 */
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

/** Returns a text in three encodings: unchanged, in JSON, and in ASCII-only JSON. */
function encodingsOf(text: string): [string, string, string] {
  const json = JSON.stringify(text.toWellFormed()).slice(1, -1);
  const ascii = json.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [text, json, ascii];
}

/** Returns whether a body contains a text in one of its encodings. It matches the same bodies as `bodyPatterns`. */
export function containsSearchText(body: string, text: string): boolean {
  const within = lowerAscii(body);
  return encodingsOf(text).some((form) => within.includes(lowerAscii(form)));
}

const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

/**
 * Returns LIKE patterns for `bodyText`, one per encoding of the text; undefined for an encoding that equals another
 * one.
 */
export function bodyPatterns(text: string): {
  pattern: string;
  inJson: string | undefined;
  inAscii: string | undefined;
} {
  const [pattern, inJson, inAscii] = encodingsOf(text).map(toPattern) as [string, string, string];
  return {
    pattern,
    inJson: inJson === pattern ? undefined : inJson,
    inAscii: inAscii === inJson ? undefined : inAscii,
  };
}

function toPattern(text: string): string {
  const escaped = [...Buffer.from(text, 'utf8')].map((byte) =>
    byte === 0 || byte > 0x7f
      ? `\\${byte.toString(8).padStart(3, '0')}`
      : byte === 0x5c
        ? '\\\\'
        : String.fromCharCode(byte),
  );
  return `%${lowerAscii(escaped.join('')).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** Position of the last receipt on the previous page; null for the first page. */
const beforeFilter = { beforeAt: t.instant.nullable, beforeId: t.bigint.nullable };
/** Condition for receipts after this position, on the alias `r`. */
const isBefore = ({ beforeAt, beforeId }: Record<keyof typeof beforeFilter, SqlPart>): Sql =>
  sql`(${beforeAt} is null or (r.received_at, r.id) < (${beforeAt}, ${beforeId}))`;

/** Filter of a list of receipts. A null value matches every receipt. */
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
const textParams = { pattern: t.text, inJson: t.text.nullable, inAscii: t.text.nullable };
/** Parameters for a text in the body; null matches every receipt. */
const textFilter = { ...textParams, pattern: t.text.nullable };
const containsText = ({
  pattern,
  inJson,
  inAscii,
}: Record<keyof typeof textParams, SqlPart>): Sql => sql`(${bodyText} like ${pattern}
    or (${inJson} is not null and ${bodyText} like ${inJson}) or (${inAscii} is not null and ${bodyText} like ${inAscii}))`;

export const textFilterValues = (text: string | undefined) =>
  text === undefined ? { pattern: undefined, inJson: undefined, inAscii: undefined } : bodyPatterns(text);
/** Condition for receipts whose body contains the text, on the alias `r`. */
const hasText = (values: Record<keyof typeof textParams, SqlPart>): Sql =>
  sql`(${values.pattern} is null or (r.body is not null and ${containsText(values)}))`;

/** Number of newest receipts that are scanned before the text index is used. The scan finds frequent texts quickly. */
const scannedReceipts = 2_000;

export interface ReceiptSearchOptions {
  readonly schema: string;
  /** SQL expression that returns a receipt as a JSON item, from the alias `r`. */
  readonly item: Sql;
  /** SQL expression that returns the messages of the reply as JSON; without it there are none. */
  readonly sends?: Sql;
  readonly hasSource: boolean;
  readonly kind: string;
}

/** Declares the statements of the search. They return items as JSON, newest first unless stated otherwise. */
export function declareReceiptSearch({ schema, item, sends, hasSource, kind: only }: ReceiptSearchOptions) {
  const table = sql.id(`${schema}.webhook_receipts`);
  const isKind = (value: SqlPart): Sql =>
    sql`(${value} is null or ${hasSource ? sql`r.source` : sql.literal(only)} = ${value})`;
  const isPerson = (value: SqlPart): Sql =>
    sql`(${value} is null or ${hasSource ? sql`r.person_id = ${value}` : sql`false`})`;
  const isWithin = ({ from, to, ...before }: Filter): Sql => sql`(${from} is null or r.received_at >= ${from})
    and (${to} is null or r.received_at < ${to}) and ${isBefore(before)}`;
  const matches = (
    values: Filter,
  ): Sql => sql`${isKind(values.kind)} and (${values.outcome} is null or r.outcome = ${values.outcome})
    and ${isPerson(values.personId)} and ${isWithin(values)}`;
  const columns = hasSource ? sql`source, outcome` : sql`outcome`;
  const [ofKind, ofNext] = hasSource
    ? [sql`(k.source, k.outcome)`, sql`next.source, next.outcome`]
    : [sql`(k.outcome)`, sql`next.outcome`];
  /**
   * Returns common table expressions that read the newest receipts of each kind and outcome from an index and merge
   * them.
   */
  const newest = (values: Filter, count: SqlPart): Sql => sql`recursive kinds as (
      (select ${columns} from ${table} order by ${columns} limit 1)
      union all
      select ${ofNext} from kinds k cross join lateral (select ${columns} from ${table} where (${columns}) > ${ofKind} order by ${columns} limit 1) next
    ), newest as (
      select found.id, found.received_at from kinds k cross join lateral (
        select r.id, r.received_at from ${table} r
        where r.outcome = k.outcome ${hasSource ? sql`and r.source = k.source` : sql.empty} and ${isPerson(values.personId)} and ${isWithin(values)}
        order by r.received_at desc, r.id desc limit ${count}) found
      where (${values.outcome} is null or k.outcome = ${values.outcome})
        and (${values.kind} is null or ${hasSource ? sql`k.source` : sql.literal(only)} = ${values.kind})
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
      sql: (values) => sql`with ${newest(values, values.limit)}
        ${asItems(sql`select ${item} as item from newest join ${table} r using (id) ${order}`)}`,
    }),
    listOfPerson: statement.one({
      name: 'receipts.operators-of-person',
      planned: 'each-call',
      params: filter,
      row,
      sql: (values) =>
        asItems(sql`select ${item} as item from ${table} r where ${matches(values)} ${order} limit ${values.limit}`),
    }),
    /** Searches only the newest receipts. */
    searchNewest: statement.one({
      name: 'receipts.operators-look',
      planned: 'each-call',
      params: { ...filter, ...textParams },
      row,
      sql: (values) => sql`with ${newest(values, scannedReceipts)}
        ${asItems(sql`select ${item} as item from newest n cross join lateral (select * from ${table} one where one.id = n.id offset 0) r
          where ${containsText(values)} ${order} limit ${values.limit}`)}`,
    }),
    search: statement.one({
      name: 'receipts.operators-search',
      planned: 'each-call',
      params: { ...filter, ...textParams },
      row,
      sql: (values) => sql`with found as materialized (
          select r.id from ${table} r where r.body is not null and ${containsText(values)} and ${matches(values)}
        )
        ${asItems(sql`select ${item} as item from found join ${table} r using (id) ${order} limit ${values.limit}`)}`,
    }),
    /** Returns the receipts that a replay may select, oldest first. */
    selectForReplay: statement.many({
      name: 'receipts.operators-choose',
      planned: 'each-call',
      params: { ...filter, ...textFilter, ids: t.bigint.array.nullable },
      row: { id: t.bigint, kind: t.text, outcome: t.text, has_body: t.boolean },
      sql: (values) => sql`
        select r.id::bigint as id, ${hasSource ? sql`r.source` : sql.literal(only)} as kind, r.outcome, r.body is not null as has_body from ${table} r
        where (${values.ids} is null or r.id = any(${values.ids})) and ${matches(values)}
          and ${hasText(values)}
        order by r.received_at, r.id limit ${values.limit}`,
    }),
    listBodies: statement.many({
      name: 'receipts.operators-bodies',
      params: { ids: t.bigint.array },
      row: { id: t.bigint, body: t.bytes.as<Buffer>().nullable },
      sql: ({ ids }) => sql`select r.id::bigint as id, r.body from ${table} r where r.id = any(${ids})`,
    }),
    /** Returns the receipts with these ids, oldest first. */
    listByIds: statement.one({
      name: 'receipts.operators-some',
      params: { ids: t.bigint.array },
      row,
      sql: ({ ids }) =>
        asItems(sql`select ${item} as item from ${table} r where r.id = any(${ids}) order by r.received_at, r.id`),
    }),
    find: statement.maybeOne({
      name: 'receipts.operators-show',
      params: { id: t.bigint },
      row: { item: t.text, headers: t.json, body: t.bytes.as<Buffer>().nullable, sends: t.text },
      sql: ({ id }) => sql`
        select ${item}::text as item, r.headers, r.body, coalesce((${sends ?? sql`null::json`})::text, '[]') as sends from ${table} r where r.id = ${id}`,
    }),
  });
}

export type ReceiptSearch = ReturnType<typeof declareReceiptSearch>;

export interface VisibleTextSearch {
  readonly db: Queryable;
  readonly search: Pick<ReceiptSearch, 'listBodies'>;
  /** Searched text; if absent, every receipt matches. */
  readonly q: string | undefined;
}

/** Position in a list of receipts, newest first. */
interface ListPosition {
  readonly at: string;
  readonly id: number;
}

/** Maximum pages that are read for one response. Receipts that contain the text only in redacted values are skipped. */
const maxPages = 5;
const bodyBatchSize = 20;

/**
 * Returns the receipts whose redacted body contains the text. A search in unredacted bodies would let callers guess
 * redacted values.
 */
export async function filterVisibleMatches<Receipt extends { readonly id: number }>(
  { db, search, q }: VisibleTextSearch,
  found: readonly Receipt[],
): Promise<readonly Receipt[]> {
  if (q === undefined) return found;
  const visible = new Set<number>();
  for (let from = 0; from < found.length; from += bodyBatchSize) {
    const ids = found.slice(from, from + bodyBatchSize).map(({ id }) => id);
    for (const { id, body } of await search.listBodies(db, { ids }))
      if (body !== null && containsSearchText(redactBody(decodeBody(body)), q)) visible.add(id);
  }
  return found.filter(({ id }) => visible.has(id));
}

/**
 * Returns a page of receipts whose redacted body matches, newest first. @param find returns at most `limit` receipts
 * before a position
 */
export async function collectVisibleMatches<Receipt extends { readonly id: number; readonly received_at: string }>(
  text: VisibleTextSearch,
  { limit, before }: { readonly limit: number; readonly before?: ListPosition | undefined },
  find: (before: ListPosition | undefined) => Promise<readonly Receipt[]>,
): Promise<Receipt[]> {
  const items: Receipt[] = [];
  let position = before;
  for (let page = 0; page < maxPages && items.length < limit; page++) {
    const found = await find(position);
    items.push(...(await filterVisibleMatches(text, found)));
    const last = text.q === undefined || found.length < limit ? undefined : found.at(-1);
    if (last === undefined) break;
    position = { at: last.received_at, id: last.id };
  }
  return items.slice(0, limit);
}
