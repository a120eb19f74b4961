/** Whose endpoints a caller sees: their own, a superuser everybody's (V5). */
import type { Actor } from '#libs/contract';
import { AppError } from '#libs/errors';

/** An account; null: every one. */
export type OwnerId = number | null;

export function requireUser(actor: Actor | undefined): Extract<Actor, { kind: 'user' }> {
  if (actor?.kind !== 'user') throw new AppError({ code: 'unauthenticated', message: 'Authentication required.' });
  return actor;
}

export function findOwner(actor: Actor | undefined): OwnerId {
  const user = requireUser(actor);
  return user.superuser ? null : user.accountId;
}
