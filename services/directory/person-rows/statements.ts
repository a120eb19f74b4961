/**
 * Defines the order in which transactions lock rows of people, and how addresses of two people are compared (D44, D87).
 */
import type { Tx } from '#libs/infrastructure/orm';
import { type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';

const workspaceKey = sql`hashtextextended('directory.workspace', 0)`;

/**
 * Makes applications of workspace files run one after the other, without merges and erasures meanwhile. An application
 * locks tables in a different order.
 */
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
    sql: ({ personIds }) =>
      sql`select id from ${sql.id(`directory.${table}`)} where ${where(personIds)} order by id for update`,
  });

export const lockPeople = lockOf('people', (ids) => sql`id = any(${ids})`);
const lockAccounts = lockOf('accounts', (ids) => sql`person_id = any(${ids})`);
const lockNotes = lockOf(
  'notes',
  (ids) => sql`id in (select note_id from directory.person_notes where person_id = any(${ids})
    union all select id from directory.notes where author_person_id = any(${ids}))`,
);
const lockMemberships = lockOf(
  'memberships',
  (ids) => sql`person_id = any(${ids}) or responsible_person_id = any(${ids})`,
);
const lockRelationships = lockOf('relationships', (ids) => sql`responsible_person_id = any(${ids})`);
export const locksAfterPeople = [lockAccounts, lockNotes, lockMemberships, lockRelationships];

/**
 * Locks people and all rows that refer to them until the transaction ends. Call it before changing any of these rows.
 * @returns ids of existing people
 */
export async function lockRowsOfPeople(tx: Tx, personIds: readonly number[]): Promise<number[]> {
  const people = { personIds };
  await shareWorkspace(tx);
  const found = await lockPeople(tx, people);
  for (const lock of locksAfterPeople) await lock(tx, people);
  return found.map(({ id }) => id);
}

/**
 * Share-locks people until the transaction ends: the given people, the surviving people of merged ones, and the person
 * of a membership.
 */
export const lockPeopleForShare = statement.none({
  name: 'locks.keep-people',
  params: { personIds: t.integer.array, membershipId: t.integer.nullable },
  sql: ({ personIds, membershipId }) => sql`
    select id from directory.people where id = any(array(
      select unnest(${personIds}) union select into_id from directory.merged_people where gone_id = any(${personIds})
      union select person_id from directory.memberships where id = ${membershipId}))
    order by id for key share`,
});

const inBytes = (key: Sql): Sql => sql`${key} collate "C"`;
export const emailKeySql = (email: Sql | SqlPart): Sql => inBytes(sql`directory.email_key(${email})`);
export const linkedinAddressSql = (address: Sql | SqlPart): Sql => inBytes(sql`directory.linkedin_address(${address})`);
export const phoneDigitsSql = (phone: Sql | SqlPart): Sql => inBytes(sql`directory.phone_digits(${phone})`);

/** Returns a subquery for `in`: the ids of people with this email, or with the email of a person merged into them. */
export const idsByEmailSql = (email: SqlPart): Sql => sql`
  select known.id from directory.people known
    where known.contact ->> 'email' is not null and ${emailKeySql(sql`known.contact ->> 'email'`)} = ${emailKeySql(email)}
  union select former.person_id from directory.person_aliases former
    where former.kind = 'email' and ${emailKeySql(sql`former.value`)} = ${emailKeySql(email)}`;

/**
 * Returns conditions for a person whose email or phone number starts with the text. Each condition has a separate
 * index.
 */
export function startsOfAddressesSql(alias: string, text: SqlPart): readonly Sql[] {
  const contact = sql`${sql.id(alias)}.contact`;
  const folded = sql`directory.fold(${text})`;
  const startsWith = (key: Sql, prefix: Sql): Sql => sql`${key} like directory.like_literal(${prefix}) || '%'`;
  return [
    sql`${contact} ->> 'email' is not null and ${startsWith(emailKeySql(sql`${contact} ->> 'email'`), sql`directory.email_key(${text})`)}`,
    // Phone numbers are compared only with texts that have the format of a phone number.
    sql`${contact} ->> 'phone' is not null and ${folded} ~ '^ ?(tel:)?[+0-9 ()./-]+$' and char_length(directory.phone_digits(${folded})) >= 3
      and ${startsWith(phoneDigitsSql(sql`${contact} ->> 'phone'`), sql`directory.phone_digits(${folded})`)}`,
  ];
}

/**
 * Returns the SQL of a digest that distinguishes a person from a later person with the same id: SHA-256 of id and
 * creation time, in hex.
 */
export const personDigestSql = (alias: string): Sql => {
  const row = sql.id(alias);
  return sql`encode(sha256(convert_to('person:' || ${row}.id || ':' || directory.iso_utc(${row}.created_at), 'UTF8')), 'hex')`;
};
