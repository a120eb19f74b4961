/**
 * The order in which transactions lock rows, so that an act on many rows and an update of one do not wait for each other: the workspace, people,
 * accounts, notes, memberships, relationships, each by id. Whoever is about to refer to people keeps them before anything else: once people are
 * locked nothing new refers to them.
 */
import type { Tx } from '#libs/orm';
import { type Sql, sql, type SqlPart, statement, t } from '#libs/sql';

const workspaceKey = sql`hashtextextended('directory.workspace', 0)`;

/** One application of a workspace file at a time, and no merge or erasure beside it: it writes each table in an order of its own. */
export const lockWorkspace = statement.none({
  name: 'locks.workspace',
  sql: () => sql`select pg_advisory_xact_lock(${workspaceKey})`,
});

export const shareWorkspace = statement.none({
  name: 'locks.share-workspace',
  sql: () => sql`select pg_advisory_xact_lock_shared(${workspaceKey})`,
});

const lockOf = (table: string, where: (personIds: SqlPart) => Sql) =>
  statement.many({
    name: `locks.${table}-of-people`,
    params: { personIds: t.integer.array },
    row: { id: t.integer },
    sql: ({ personIds }) => sql`select id from ${sql.id(`directory.${table}`)} where ${where(personIds)} order by id for update`,
  });

export const lockPeople = lockOf('people', (ids) => sql`id = any(${ids})`);
const lockAccounts = lockOf('accounts', (ids) => sql`person_id = any(${ids})`);
const lockNotes = lockOf(
  'notes',
  (ids) => sql`id in (select note_id from directory.person_notes where person_id = any(${ids})
    union all select id from directory.notes where author_person_id = any(${ids}))`,
);
const lockMemberships = lockOf('memberships', (ids) => sql`person_id = any(${ids}) or responsible_person_id = any(${ids})`);
const lockRelationships = lockOf('relationships', (ids) => sql`responsible_person_id = any(${ids})`);
export const locksAfterPeople = [lockAccounts, lockNotes, lockMemberships, lockRelationships];

/**
 * Locks people and all rows that belong to them or name them, until the transaction ends. Before any of them is changed.
 * @returns ids of those of the people who exist
 */
export async function lockRowsOfPeople(tx: Tx, personIds: readonly number[]): Promise<number[]> {
  const people = { personIds };
  await shareWorkspace(tx);
  const found = await lockPeople(tx, people);
  for (const lock of locksAfterPeople) await lock(tx, people);
  return found.map(({ id }) => id);
}

/** These people, who they are now if they were merged, and the person of a membership stay until the transaction ends. */
export const keepPeople = statement.none({
  name: 'locks.keep-people',
  params: { personIds: t.integer.array, membershipId: t.integer.nullable },
  sql: ({ personIds, membershipId }) => sql`
    select id from directory.people where id = any(array(
      select unnest(${personIds}) union select into_id from directory.merged_people where gone_id = any(${personIds})
      union select person_id from directory.memberships where id = ${membershipId}))
    order by id for key share`,
});
