import { Migration } from '#libs/orm/migrations';

/**
 * What the worklist needs to be short work over millions of rows (docs/performance-notes.md#worklist-tallies): each membership and relationship
 * knows the class of its holons, and their numbers by class and date are kept as sums of additions.
 */
export class Migration20260302090000_worklist extends Migration {
  override up(): void {
    this.#addClasses('memberships', { holon_id: 'holon_class_id' });
    this.#addClasses('relationships', { from_holon_id: 'from_class_id', to_holon_id: 'to_class_id' });
    this.#propagateClasses();
    this.#addTally('memberships', ['holon_class_id']);
    this.#addTally('relationships', ['from_class_id', 'to_class_id']);
    this.#addIndexes();
  }

  /** Filled by a trigger, so that no writer has to know. The holon is locked against a change of its class until the writer commits. */
  #addClasses(table: string, columns: Readonly<Record<string, string>>): void {
    const pairs = Object.entries(columns);
    for (const [, column] of pairs) this.addSql(`alter table directory.${table} add column ${column} integer`);
    const holons = pairs.map(
      ([holon, column]) => `select class_id into new.${column} from directory.holons where id = new.${holon} for share;`,
    );
    this.addSql(`create function directory.${table}__set_class() returns trigger language plpgsql as $$
      begin ${holons.join(' ')} return new; end $$`);
    this.addSql(`create trigger ${table}__set_class before insert or update of ${pairs.flat().join(', ')}
      on directory.${table} for each row execute function directory.${table}__set_class()`);
    this.addSql(`update directory.${table} set ${pairs.map(([, column]) => `${column} = ${column}`).join(', ')}`);
  }

  /** A holon of another class takes what hangs on it along. */
  #propagateClasses(): void {
    this.addSql(`create function directory.holons__move_class() returns trigger language plpgsql as $$
      begin
        update directory.memberships set holon_class_id = new.class_id where holon_id = new.id;
        update directory.relationships set from_class_id = new.class_id where from_holon_id = new.id;
        update directory.relationships set to_class_id = new.class_id where to_holon_id = new.id;
        return null;
      end $$`);
    this.addSql(`create trigger holons__move_class after update of class_id on directory.holons for each row
      when (old.class_id is distinct from new.class_id) execute function directory.holons__move_class()`);
  }

  /**
   * How many rows there are by class (`whole`), and by class and date. A writer adds rows with what it changed and touches none of another, so
   * that writers never wait for each other; upkeep folds the rows of one key into one.
   */
  #addTally(table: string, classes: readonly string[]): void {
    const name = `${table.slice(0, -1)}_tallies`;
    const keys = classes.join(', ');
    this.addSql(`create table directory.${name} (
      ${classes.map((column) => `${column} integer not null,`).join(' ')}
      whole boolean not null,
      follow_up_after date,
      amount bigint not null
    )`);
    this.addSql(`create index ${name}__whole__index on directory.${name} (${keys}) include (amount) where whole`);
    this.addSql(
      `create index ${name}__follow_up_after__index on directory.${name} (follow_up_after) include (${keys}, amount) where not whole`,
    );
    const add = (changes: string): string => `insert into directory.${name} (${keys}, whole, follow_up_after, amount)
      select ${keys}, whole, case when not whole then follow_up_after end, sum(amount)
      from (${changes}) as changed cross join (values (true), (false)) as grain(whole)
      group by ${keys}, whole, case when not whole then follow_up_after end having sum(amount) <> 0`;
    const change = (rows: string, amount: number): string => `select ${keys}, follow_up_after, ${amount} as amount from ${rows}`;
    this.addSql(`create function directory.${table}__tally() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then ${add(change('added', 1))};
        elsif tg_op = 'DELETE' then ${add(change('removed', -1))};
        elsif tg_op = 'TRUNCATE' then delete from directory.${name};
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
      this.addSql(`create trigger ${table}__tally_${event} after ${event} on directory.${table} ${referencing}
        for each statement execute function directory.${table}__tally()`);
    }
    this.addSql(add(change(`directory.${table}`, 1)));
  }

  /** In the worklist's order; the columns that decide who sees a row are read from the index. */
  #addIndexes(): void {
    for (const [table, seen] of [
      ['memberships', 'holon_class_id, holon_id'],
      ['relationships', 'from_class_id, to_class_id, from_holon_id, to_holon_id'],
    ]) {
      this.addSql(`drop index directory.${table}__follow_up_after__order`);
      this.addSql(`drop index directory.${table}__responsible_person_id__index`);
      this.addSql(`create index ${table}__follow_up_after__order on directory.${table} (follow_up_after, id) include (${seen})`);
      this.addSql(`create index ${table}__responsible_person_id__order on directory.${table} (responsible_person_id, follow_up_after, id)
        include (${seen}) where responsible_person_id is not null`);
    }
    for (const side of ['from', 'to']) {
      this.addSql(`create index relationships__${side}_class_id__order on directory.relationships (${side}_class_id, follow_up_after, id)
        include (from_class_id, to_class_id, from_holon_id, to_holon_id)`);
    }
  }
}
