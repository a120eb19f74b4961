/** Changes accounts and creates service keys by the email of the account, as a superuser. */
import type { Actor, ReplyOf, RequestOf, Rpc } from '#libs/infrastructure/contract';
import { superuser, type TestEnvironment } from '#libs/product/testing';
import { directory } from '#services/directory';

interface Caller {
  readonly env: TestEnvironment;
  call<R extends Rpc>(rpc: R, request: RequestOf<R>, actor?: Actor): Promise<ReplyOf<R>>;
}
type Update = Omit<RequestOf<typeof directory.rpcs.updateAccount>, 'account_id' | 'if_match'>;
type Key = Partial<Omit<RequestOf<typeof directory.rpcs.createKey>, 'account_id'>>;

/** Returns the id of an account; 0 without one. */
export async function accountIdOf({ env }: Caller, email: string): Promise<number> {
  const text = 'select id from directory.accounts where lower(email) = lower($1)';
  return (await env.sql<{ id: number }>(text, [email]))[0]?.id ?? 0;
}

export const updateAccountOf = async (caller: Caller, email: string, update: Update) =>
  caller.call(directory.rpcs.updateAccount, { account_id: await accountIdOf(caller, email), ...update });

export const deleteAccountOf = async (caller: Caller, email: string) =>
  caller.call(directory.rpcs.deleteAccount, { account_id: await accountIdOf(caller, email) });

/** The key is created by its own account, so that no other account must exist. */
export async function createKeyOf(caller: Caller, email: string, key: Key = {}) {
  const accountId = await accountIdOf(caller, email);
  const request = { name: 'A program', scopes: ['*'], ...key, account_id: accountId };
  return caller.call(directory.rpcs.createKey, request, { ...superuser, accountId });
}
