/** SQL on the receipts of a service, each in its own table `webhook_receipts`. */
import { type DeclaredStatement, type Parameter, type RowOf, type Sql, sql, statement, t } from '#libs/sql';
import { passingOutcomes } from './receipts.ts';

/** Rows of one statement, so that no lock is held for long. */
export const sweptAtOnce = 500;

const days = { days: t.integer };
const dropped = { dropped: t.integer };
export type DropReceipts = DeclaredStatement<typeof days, typeof dropped, RowOf<typeof dropped>[]>;

/** Ids of some receipts that are older than so many days; what another process drops at the same time is left to it. */
const old = (age: Parameter, condition: Sql): Sql => sql`
  select id from webhook_receipts where received_at < statement_timestamp() - make_interval(days => ${age}) and ${condition}
  order by received_at limit ${sweptAtOnce} for update skip locked`;

/** What no secret vouches for, or nothing follows from. */
const isPassing = sql`(outcome in (${sql.join(passingOutcomes.map(sql.literal), sql`, `)}) or outcome like ${sql.literal(String.raw`rejected\_%`)})`;

/** Some of the receipts that go with their time. */
export const dropPassed: DropReceipts = statement.many({
  name: 'receipts.drop-old',
  params: days,
  row: dropped,
  sql: (params) => sql`delete from webhook_receipts where id in (${old(params.days, isPassing)}) returning 1 as dropped`,
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
  return statement.many({
    name: 'receipts.drop-old-bodies',
    params: days,
    row: dropped,
    sql: (params) => sql`update webhook_receipts set ${nothing} where id in (${old(params.days, isKept)}) returning 1 as dropped`,
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
