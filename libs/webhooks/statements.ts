/** SQL on the receipts of a service, each in its own table `webhook_receipts`. */
import { type DeclaredStatement, type Parameter, type RowOf, type Sql, sql, statement, t } from '#libs/sql';
import { passingOutcomes } from './receipts.ts';

const params = { days: t.integer, limit: t.integer };
const row = { count: t.integer };
export type DropReceipts = DeclaredStatement<typeof params, typeof row, RowOf<typeof row>>;

/** Ids of up to `limit` receipts that are older than so many days; what another process drops at the same time is left to it. */
const old = ({ days, limit }: Readonly<Record<keyof typeof params, Parameter>>, condition: Sql): Sql => sql`array(
  select id from webhook_receipts where received_at < statement_timestamp() - make_interval(days => ${days}) and ${condition}
  order by received_at limit ${limit} for update skip locked)`;

/** What no secret vouches for, or nothing follows from. */
const isPassing = sql`(outcome in (${sql.join(passingOutcomes.map(sql.literal), sql`, `)}) or outcome like ${sql.literal(String.raw`rejected\_%`)})`;

/** Some of the receipts that go with their time. */
export const dropPassed: DropReceipts = statement.one({
  name: 'receipts.drop-old',
  params,
  row,
  sql: (named) => sql`
    with dropped as (delete from webhook_receipts where id = any(${old(named, isPassing)}) returning 1)
    select count(*)::integer as count from dropped`,
});

/**
 * Declares what drops the contents of some old receipts: `columns` hold what came or was answered, null when it is gone. One partial index tells
 * the rows that have any of them by their time.
 */
export function declareDropContents(columns: readonly string[]): DropReceipts {
  const ids = columns.map(sql.id);
  const isKept = sql`(${sql.join(
    ids.map((column) => sql`${column} is not null`),
    sql` or `,
  )})`;
  const nothing = sql.join(
    ids.map((column) => sql`${column} = null`),
    sql`, `,
  );
  return statement.one({
    name: 'receipts.drop-old-bodies',
    params,
    row,
    sql: (named) => sql`
      with dropped as (update webhook_receipts set ${nothing} where id = any(${old(named, isKept)}) returning 1)
      select count(*)::integer as count from dropped`,
  });
}

/** Counts one more delivery of the receipts with these dedupe keys, for each time that a key is given; a row for each that there is. */
export const countDeliveries = statement.many({
  name: 'receipts.count-refusals',
  params: { keys: t.text.array },
  row: { key: t.text },
  sql: ({ keys }) => sql`
    update webhook_receipts r set deliveries = r.deliveries + given.count
    from (select key, count(*)::integer as count from unnest(${keys}) as key group by key) given
    where r.dedupe_key = given.key returning r.dedupe_key as key`,
});
