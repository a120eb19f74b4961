/** The last active superuser keeps the rights: without one, accounts can be managed in the admin CLI only (W7). */
import type { Actor } from '#libs/infrastructure/contract';
import { AppError, appError } from '#libs/infrastructure/errors';
import type { Tx } from '#libs/infrastructure/orm';
import { hasSuperuser, lockSuperusers } from './statements/accounts.ts';

/**
 * Runs a change that can deactivate, demote or delete a superuser. Call it before the accounts are locked. @throws
 * AppError 409 `last_superuser` when the change removes the last active superuser
 */
export async function retainSuperuser<Result>(tx: Tx, work: () => Promise<Result>): Promise<Result> {
  await lockSuperusers(tx);
  const before = await hasSuperuser(tx);
  const result = await work();
  if (before.found && !(await hasSuperuser(tx)).found)
    throw appError(
      'conflict',
      'last_superuser',
      'An active superuser must remain. Make another account a superuser first.',
    );
  return result;
}

/** @throws AppError 403, the same for existing and other accounts */
export function requireSuperuser(actor: Actor | undefined): void {
  if (actor?.kind !== 'user' || !actor.superuser)
    throw new AppError({ code: 'permission_denied', message: 'Only superusers may manage accounts.' });
}
