import type { Actor } from '#libs/contract';

/** Who looks at holons: parameters of `holonVisibleSql`, in its order. */
export type ViewerParameters = readonly [seesAll: boolean, accountId: number | null];

/**
 * What the caller's class says about private holons (spec 03, D18f, D48, D49): superusers and global editors see all, a person what
 * their team authority covers, the shared token and callers without a credential none. Work of the platform itself sees all.
 */
export function readViewer(actor: Actor | undefined): ViewerParameters {
  switch (actor?.kind) {
    case 'user':
      return [actor.superuser || actor.globalEditor, actor.accountId];
    case 'system':
      return [true, null];
    default:
      return [false, null];
  }
}
