/** Account writes as MikroORM units of work. MikroORM is loaded on first use. */
import type { Tx } from '#libs/infrastructure/orm';
import { createEntityManagers, LockMode, raw, ref } from '#libs/infrastructure/orm/entities';
import { Account } from '../../entities/account.entity.ts';
import { entities } from '../../entities/index.ts';
import { Person } from '../../entities/person.entity.ts';
import { findAccountId } from './accounts.ts';

const units = createEntityManagers({ schema: 'directory', entities });

/** Returns the account with this email (case-insensitive), locked until the transaction ends. */
export async function findAccountForUpdate(tx: Tx, email: string): Promise<Account | null> {
  const found = await findAccountId(tx, { email });
  return found === undefined
    ? null
    : (await units.get(tx)).findOne(Account, found.id, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Returns the account with this id, locked until the transaction ends. */
export async function lockAccountById(tx: Tx, id: number): Promise<Account | null> {
  return (await units.get(tx)).findOne(Account, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Deletes the account with its sessions and team authority. */
export async function deleteAccount(tx: Tx, account: Account): Promise<void> {
  const em = await units.get(tx);
  em.remove(account);
  await em.flush();
}

export interface NewAccount {
  readonly email: string;
  readonly personId: number | undefined;
  readonly passwordHash: string | null;
  readonly superuser: boolean;
  readonly globalEditor: boolean;
  readonly groups: string[];
}

/**
 * Inserts an account immediately. @throws the driver's error if the email is taken or the person does not exist
 * (`constraintOf`).
 */
export async function insertAccount(tx: Tx, { personId, ...values }: NewAccount): Promise<Account> {
  const em = await units.get(tx);
  const account = em.create(Account, { ...values, person: personId === undefined ? null : ref(Person, personId) });
  await em.flush();
  return account;
}

export function linkPerson(account: Account, personId: number | null): void {
  account.person = personId === null ? null : ref(Person, personId);
}

/** Writes the changes of an account, so that statements of the same transaction see them. */
export async function saveAccount(tx: Tx, account: Account): Promise<void> {
  account.updatedAt = raw('clock_timestamp()');
  await (await units.get(tx)).flush();
}
