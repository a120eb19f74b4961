/** Statements on the table `webhook_receipts` of a service. */
import {
  type DeclaredStatement,
  type Parameter,
  type RowOf,
  type Sql,
  sql,
  statement,
  t,
} from '#libs/infrastructure/sql';

/**
 * Outcomes of webhooks without effects. Their rows are deleted after the retention, like rows of rejected webhooks;
 * other rows only lose their bodies.
 */
export const ignoredOutcomes = ['ignored', 'agent_not_found'];

const params = { days: t.integer, limit: t.integer };
const row = { count: t.integer };
export type DropReceipts = DeclaredStatement<typeof params, typeof row, RowOf<typeof row>>;

/** Returns the ids of up to `limit` receipts older than `days`. Skips rows that another process is deleting. */
const old = ({ days, limit }: Readonly<Record<keyof typeof params, Parameter>>, condition: Sql): Sql => sql`array(
  select id from webhook_receipts where received_at < statement_timestamp() - make_interval(days => ${days}) and ${condition}
  order by received_at limit ${limit} for update skip locked)`;

/** Condition for receipts of rejected webhooks and of webhooks without effects. */
const isDeletable = sql`(outcome in (${sql.join(ignoredOutcomes.map(sql.literal), sql`, `)}) or outcome like ${sql.literal(String.raw`rejected\_%`)})`;

/** Deletes receipts of rejected and ignored webhooks. */
export const dropExpiredReceipts: DropReceipts = statement.one({
  name: 'receipts.drop-old',
  params,
  row,
  sql: (named) => sql`
    with dropped as (delete from webhook_receipts where id = any(${old(named, isDeletable)}) returning 1)
    select count(*)::integer as count from dropped`,
});

/**
 * Declares the statement that clears the given columns of old receipts, which contain the webhook or the reply. A
 * partial index finds the rows by time.
 */
export function declareDropContents(columns: readonly string[]): DropReceipts {
  const ids = columns.map(sql.id);
  const hasContents = sql`(${sql.join(
    ids.map((column) => sql`${column} is not null`),
    sql` or `,
  )})`;
  const cleared = sql.join(
    ids.map((column) => sql`${column} = null`),
    sql`, `,
  );
  return statement.one({
    name: 'receipts.drop-old-bodies',
    params,
    row,
    sql: (named) => sql`
      with dropped as (update webhook_receipts set ${cleared} where id = any(${old(named, hasContents)}) returning 1)
      select count(*)::integer as count from dropped`,
  });
}

/** Increments the delivery count of receipts, once per given key; keys can repeat. @returns the keys that exist */
export const countDeliveries = statement.many({
  name: 'receipts.count-refusals',
  params: { keys: t.text.array },
  row: { key: t.text },
  sql: ({ keys }) => sql`
    update webhook_receipts r set deliveries = r.deliveries + given.count
    from (select key, count(*)::integer as count from unnest(${keys}) as key group by key) given
    where r.dedupe_key = given.key returning r.dedupe_key as key`,
});
