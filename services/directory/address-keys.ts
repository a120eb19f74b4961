/**
 * What tells that two addresses are one (D44, D87), as the indexes on people and their aliases have it: `emailKey` and `phoneDigits` of `#libs/text` are the same in
 * the process.
 */
import { type Sql, sql, type SqlPart } from '#libs/sql';

const inBytes = (key: Sql): Sql => sql`${key} collate "C"`;
export const emailKeySql = (email: Sql | SqlPart): Sql => inBytes(sql`directory.email_key(${email})`);
export const linkedinAddressSql = (address: Sql | SqlPart): Sql => inBytes(sql`directory.linkedin_address(${address})`);
export const phoneDigitsSql = (phone: Sql | SqlPart): Sql => inBytes(sql`directory.phone_digits(${phone})`);

/** People with this email, or with one of the merged people whom they are now: a list of ids for `in`. */
export const idsByEmailSql = (email: SqlPart): Sql => sql`
  select known.id from directory.people known
    where known.contact ->> 'email' is not null and ${emailKeySql(sql`known.contact ->> 'email'`)} = ${emailKeySql(email)}
  union select former.person_id from directory.person_aliases former
    where former.kind = 'email' and ${emailKeySql(sql`former.value`)} = ${emailKeySql(email)}`;

/** Conditions of a person whose email or whose phone number begins with the text, each for an index of its own. */
export function startsOfAddressesSql(alias: string, text: SqlPart): readonly Sql[] {
  const contact = sql`${sql.id(alias)}.contact`;
  const folded = sql`directory.fold(${text})`;
  const startsWith = (key: Sql, wanted: Sql): Sql => sql`${key} like directory.like_literal(${wanted}) || '%'`;
  return [
    sql`${contact} ->> 'email' is not null and ${startsWith(emailKeySql(sql`${contact} ->> 'email'`), sql`directory.email_key(${text})`)}`,
    // Not every text with digits in it is the beginning of a number.
    sql`${contact} ->> 'phone' is not null and ${folded} ~ '^ ?(tel:)?[+0-9 ()./-]+$' and char_length(directory.phone_digits(${folded})) >= 3
      and ${startsWith(phoneDigitsSql(sql`${contact} ->> 'phone'`), sql`directory.phone_digits(${folded})`)}`,
  ];
}
