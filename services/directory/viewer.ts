import type { Actor } from '#libs/contract';

/** Who looks at holons: parameters of `holonVisibleSql`, in its order. */
export type ViewerParameters = readonly [seesAll: boolean, accountId: number | null];

/**
 * What the caller's class says about private holons (D18f, D48, D49): superusers and global editors see all, a person what
 * their team authority covers, the shared token none. Whoever comes without an actor sees no more than that.
 */
export function readViewer(actor: Actor | undefined): ViewerParameters {
  return actor?.kind === 'user' ? [actor.superuser || actor.globalEditor, actor.accountId] : [false, null];
}
