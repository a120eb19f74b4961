/** Pages of an object's history (W10). */
import { isPossibleId, mayEditWorkspace } from '#libs/contract';
import { AppError, badRequest, notFound } from '#libs/errors';
import type { HandlersOf } from '#libs/nats';
import type { Dependencies } from '../dependencies.ts';
import { bodyOf } from '../lists/index.ts';
import { readViewer } from '../visibility/index.ts';
import { historyPerPage, type historyRpcs } from './contract.ts';
import { findAccess, listHistory } from './statements.ts';

export function createHistoryHandlers({ db }: Pick<Dependencies, 'db'>): HandlersOf<typeof historyRpcs> {
  return {
    listHistory: async ({ kind, id: given, limit = historyPerPage, cursor }, { actor }) => {
      const user = actor?.kind === 'user' ? actor : undefined;
      const id = /^[1-9]\d*$/.test(given) ? Number(given) : null;
      if (id !== null && !isPossibleId(id)) throw notFound();
      const access = await findAccess[kind](db, {
        id,
        name: given,
        ownPersonId: user?.personId ?? 0,
        mayEditWorkspace: mayEditWorkspace(actor),
        isSuperuser: user?.superuser ?? false,
        ...readViewer(actor),
      });
      // Accounts are invisible to all but superusers, so both answers are 403 for others.
      if (kind === 'accounts' && user?.superuser !== true) throw denied();
      if (access?.visible !== true) throw notFound();
      if (!access.editable) throw denied();
      return bodyOf(await listHistory(db, { kind, objectId: access.id, before: readCursor(cursor), limit }));
    },
  };
}

const denied = () => new AppError({ code: 'permission_denied', message: 'You cannot edit this object.' });

function readCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  if (!/^[1-9]\d{0,15}$/.test(cursor)) throw badRequest('cursor must be the `next` of an earlier page.');
  return Number(cursor);
}
