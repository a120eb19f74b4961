/** Accounts for who has their ids: emails for those who read the audit log, which holds none (A1), and what they may read (V7). */
import { type Actor, mayReadOps, type RequestOf } from '#libs/contract';
import { appError } from '#libs/errors';
import type { Database } from '#libs/orm';
import type { accountRpcs } from '../../contract.ts';
import { findReader, nameAccounts } from '../statements/accounts.ts';

type Asked = RequestOf<typeof accountRpcs.identifyAccounts>;

export function createNameHandlers(db: Database) {
  const identify = async ({ ids, email }: Asked) => ({ items: await nameAccounts(db, { ids, email }) });
  return {
    findReader: async ({ account_id: accountId }: RequestOf<typeof accountRpcs.findReader>) => {
      const row = await findReader(db, { accountId });
      if (row?.is_active !== true) return { reader: null, exists: row !== undefined };
      const { is_active: _active, ...reader } = row;
      return { reader, exists: true };
    },
    identifyAccounts: identify,
    nameAccounts: async (request: Asked, { actor }: { readonly actor?: Actor | undefined }) => {
      if (!mayReadOps(actor)) throw appError('permission_denied', 'not_an_operator', 'You may not see operations.');
      return identify(request);
    },
  };
}
