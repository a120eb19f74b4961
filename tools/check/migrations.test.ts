/**
 * Each test migration changes a table of the last release in a way that blocks requests; the equivalent online
 * migration must pass.
 */
import { describe, expect, it } from '@jest/globals';
import { Migration, OnlineMigration } from '#libs/infrastructure/orm/migrations';
import { findMigrationProblems } from './migrations.ts';

/** Returns the rules that a migration with these statements violates. */
async function rulesOf(kind: 'transaction' | 'online', ...statements: string[]): Promise<string[]> {
  const Base = kind === 'online' ? OnlineMigration : Migration;
  class Planted extends Base {
    override up(): void {
      for (const sql of statements) this.addSql(sql);
    }
  }
  const problems = await findMigrationProblems([{ schema: 'app', Class: Planted }]);
  return [...new Set(problems.map((problem) => /^Planted: ([a-z-]+): /.exec(problem)?.[1] ?? problem))].toSorted();
}

const notValid = `alter table app.old add constraint old__c__check check (c > 0) not valid`;
const validate = `alter table app.old validate constraint old__c__check`;

describe('the check of migrations', () => {
  it.each([
    [
      'an index that blocks writes',
      'transaction',
      ['create index old__a on app.old (a)'],
      ['require-concurrent-index-creation'],
    ],
    [
      'the same in an online migration',
      'online',
      ['create unique index old__a on app.old (a)'],
      ['require-concurrent-index-creation'],
    ],
    [
      'an index that is dropped under a lock',
      'transaction',
      ['drop index app.old__a'],
      ['require-concurrent-index-deletion'],
    ],
    [
      'a concurrent index in a transaction',
      'transaction',
      ['create index concurrently old__a on app.old (a)'],
      ['ban-concurrent-index-creation-in-transaction'],
    ],
    [
      'a constraint that is validated at once',
      'online',
      ['alter table app.old add constraint c check (c > 0)'],
      ['constraint-missing-not-valid'],
    ],
    [
      'a constraint that is validated in the same transaction',
      'transaction',
      [notValid, validate],
      ['constraint-missing-not-valid'],
    ],
    [
      'a foreign key in one step',
      'online',
      ['alter table app.old add constraint f foreign key (a) references app.old (b)'],
      ['adding-foreign-key-constraint', 'constraint-missing-not-valid'],
    ],
    [
      'a unique constraint that builds its index',
      'online',
      ['alter table app.old add constraint u unique (a)'],
      ['constraint-missing-not-valid', 'disallowed-unique-constraint'],
    ],
    [
      'a volatile default',
      'transaction',
      ['alter table app.old add column d timestamptz default clock_timestamp()'],
      ['adding-field-with-default'],
    ],
    [
      'a stored generated column',
      'transaction',
      ['alter table app.old add column d text generated always as (lower(a)) stored'],
      ['adding-field-with-default'],
    ],
    [
      'another type of a column',
      'transaction',
      ['alter table app.old alter column a type text'],
      ['changing-column-type'],
    ],
    [
      'a column that becomes required',
      'transaction',
      ['alter table app.old alter column a set not null'],
      ['adding-not-nullable-field'],
    ],
    ['a lock timeout that is taken away', 'transaction', ['set local lock_timeout = 0'], ['keep-lock-timeout']],
    [
      'rows that are changed in one transaction',
      'transaction',
      ['update app.old set a = 1'],
      ['batch-changes-of-rows'],
    ],
    [
      'rows that are copied in one transaction',
      'online',
      ['insert into app.made select a from app.old', 'create table app.made (a text)'],
      ['batch-changes-of-rows'],
    ],
    [
      'statements that cannot be seen',
      'transaction',
      ['do $$ begin update app.old set a = 1; end $$'],
      ['no-anonymous-block'],
    ],
  ] as const)('rejects a migration with %s', async (_title, kind, statements, rules) => {
    expect(await rulesOf(kind, ...statements)).toEqual(rules);
  });

  it.each([
    [
      'an index that is built concurrently',
      'online',
      ['create index concurrently old__a on app.old (a)', 'drop index concurrently if exists app.old__b'],
    ],
    ['a constraint in two steps', 'online', [notValid, validate]],
    ['a column with a constant default', 'transaction', [`alter table app.old add column d text not null default ''`]],
    [
      'everything on a table that it makes',
      'transaction',
      [
        'create table app.made (a text)',
        'create index made__a on app.made (a)',
        'alter table app.made add constraint c check (a > 0)',
        'update app.made set a = 1',
        'drop index app.made__a',
      ],
    ],
  ] as const)('allows a migration with %s', async (_title, kind, statements) => {
    expect(await rulesOf(kind, ...statements)).toEqual([]);
  });

  it('allows a migration that changes rows in batches, and checks the statement of the batch', async () => {
    class Planted extends OnlineMigration {
      override up(): void {
        this.addBackfill({ table: 'app.old', key: 'id', sql: 'update app.old set a = 1 where id > $1 and id <= $2' });
      }
    }
    expect(await findMigrationProblems([{ schema: 'app', Class: Planted }])).toEqual([]);
    class Unbounded extends OnlineMigration {
      override up(): void {
        this.addBackfill({ table: 'app.old', key: 'id', sql: 'update app.old set a = 1' });
      }
    }
    expect(await findMigrationProblems([{ schema: 'app', Class: Unbounded }])).toEqual([
      expect.stringMatching(/^Unbounded: bound-batches: /),
    ]);
  });
});
