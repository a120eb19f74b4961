import type { Actor } from '#libs/contract';
import { type SqlPart, t } from '#libs/sql';

/** Who looks at holons. */
export interface Viewer {
  readonly seesAll: boolean;
  /** Null = nobody in particular: no team authority counts. */
  readonly accountId: number | null;
}

/** The viewer as parameters of a statement. */
export const viewerParams = { seesAll: t.boolean, accountId: t.integer.nullable };

/** The viewer in a fragment of SQL. */
export interface ViewerSql {
  readonly seesAll: SqlPart;
  readonly accountId: SqlPart;
}

/**
 * What the caller's class says about private holons (D18f, D48, D49): superusers and global editors see all, a person what
 * their team authority covers, the shared token none. Whoever comes without an actor sees no more than that.
 */
export function readViewer(actor: Actor | undefined): Viewer {
  return actor?.kind === 'user'
    ? { seesAll: actor.superuser || actor.globalEditor, accountId: actor.accountId }
    : { seesAll: false, accountId: null };
}
