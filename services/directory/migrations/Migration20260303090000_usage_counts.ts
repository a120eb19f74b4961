import { Migration } from '#libs/orm/migrations';

/** Tables whose rows are counted: what is counted under which column of the row. */
const counted: Readonly<Record<string, readonly (readonly [what: string, column: string])[]>> = {
  memberships: [
    ['journey_memberships', 'journey_id'],
    ['step_memberships', 'step_id'],
  ],
  relationships: [
    ['journey_relationships', 'journey_id'],
    ['step_relationships', 'step_id'],
  ],
  holon_journeys: [['journey_holons', 'journey_id']],
  holons: [['class_holons', 'class_id']],
};

/**
 * How often journeys, steps and classes are used, kept by the writes themselves, because counting millions of rows for each request is no way.
 * A count is the sum of its rows: a write adds a row and so waits for no other write; upkeep joins rows now and then.
 */
export class Migration20260303090000_usage_counts extends Migration {
  override up(): void {
    this.addSql(`create table directory.usage_counts (
      what text not null,
      id integer not null,
      amount bigint not null
    )`);
    this.addSql('create index usage_counts__what_id__index on directory.usage_counts (what, id) include (amount)');

    this.addSql(`create function directory.usage_count(text, integer) returns bigint language sql stable parallel safe
      return (select coalesce(sum(amount), 0)::bigint from directory.usage_counts where what = $1 and id = $2)`);

    for (const [table, counts] of Object.entries(counted)) this.#countTable(table, counts);
  }

  #countTable(table: string, counts: readonly (readonly [what: string, column: string])[]): void {
    const change = (rows: string, amount: number): string =>
      counts.map(([what, column]) => `select '${what}' as what, ${column} as id, ${amount} as amount from ${rows}`).join(' union all ');
    const add = (changes: string): string => `insert into directory.usage_counts (what, id, amount)
      select what, id, sum(amount) from (${changes}) as changed where id is not null group by what, id having sum(amount) <> 0`;
    const kinds = counts.map(([what]) => `'${what}'`).join(', ');
    this.addSql(`create function directory.${table}__count_usage() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then ${add(change('added', 1))};
        elsif tg_op = 'DELETE' then ${add(change('removed', -1))};
        elsif tg_op = 'TRUNCATE' then delete from directory.usage_counts where what in (${kinds});
        else ${add(`${change('added', 1)} union all ${change('removed', -1)}`)};
        end if;
        return null;
      end $$`);
    for (const [event, referencing] of [
      ['insert', 'referencing new table as added'],
      ['update', 'referencing new table as added old table as removed'],
      ['delete', 'referencing old table as removed'],
      ['truncate', ''],
    ]) {
      this.addSql(`create trigger ${table}__count_usage_${event} after ${event} on directory.${table} ${referencing}
        for each statement execute function directory.${table}__count_usage()`);
    }
    this.addSql(add(change(`directory.${table}`, 1)));
  }
}
