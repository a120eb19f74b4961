/** Accounts as units of work, for the few writes of the admin CLI. */
import { LockMode, raw, ref } from '@mikro-orm/core';
import { statement, type Tx } from '#libs/orm';
import { Account } from '../../entities/account.entity.ts';
import { Person } from '../../entities/person.entity.ts';

const findAccountId = statement('accounts.find-id', 'select id from directory.accounts where lower(email) = lower(btrim($1::text))');

/** `$1` = key of a person. */
export const findPersonByKey = statement('accounts.find-person', 'select id from directory.people where key = $1::text');

/** The account with this email, case ignored, locked until the transaction ends. */
export async function findAccountForUpdate(tx: Tx, email: string): Promise<Account | null> {
  const [found] = await tx.query<{ id: number }>(findAccountId, [email]);
  return found === undefined ? null : tx.em.findOne(Account, found.id, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

export interface AccountRow {
  /** JSON of an item of the reply. */
  readonly item: string;
  readonly email: string;
}

/** `$1` = after this email, `$2` = active, `$3` = superuser, `$4` = group, each null for any; `$5` = at most so many. */
export const listAccounts = statement(
  'accounts.list',
  `select json_build_object('id', a.id, 'email', a.email, 'person_id', a.person_id, 'is_active', a.is_active, 'superuser', a.superuser,
     'global_editor', a.global_editor, 'groups', a.groups, 'person_name', p.name, 'has_password', a.password_hash is not null,
     'created_at', directory.iso_utc(a.created_at))::text as item, a.email
   from directory.accounts a left join directory.people p on p.id = a.person_id
   where ($1::text is null or lower(a.email) > lower($1::text)) and ($2::boolean is null or a.is_active = $2::boolean)
     and ($3::boolean is null or a.superuser = $3::boolean) and ($4::text is null or $4::text = any(a.groups))
   order by lower(a.email) limit $5::integer`,
);

/** Its sessions and team authority go with it. */
export async function deleteAccount(tx: Tx, account: Account): Promise<void> {
  tx.em.remove(account);
  await tx.em.flush();
}

export interface NewAccount {
  readonly email: string;
  readonly personId: number | undefined;
  readonly passwordHash: string | null;
  readonly superuser: boolean;
  readonly globalEditor: boolean;
  readonly groups: string[];
}

/** Writes it at once. @throws the driver's error when the email is taken or the person does not exist (`constraintOf`). */
export async function insertAccount(tx: Tx, { personId, ...values }: NewAccount): Promise<Account> {
  const account = tx.em.create(Account, { ...values, person: personId === undefined ? null : ref(Person, personId) });
  await tx.em.flush();
  return account;
}

export function linkPerson(account: Account, personId: number): void {
  account.person = ref(Person, personId);
}

/** Writes what has changed now, so that statements of the same transaction find it. */
export async function saveAccount(tx: Tx, account: Account): Promise<void> {
  account.updatedAt = raw('clock_timestamp()');
  await tx.em.flush();
}
