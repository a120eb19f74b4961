/** Keys for the admin CLI, of every account (rules/cli#admin-cli; K9). */
import { appError } from '#libs/errors';
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { Clock } from '#libs/time';
import { bodyOf } from '../../body.ts';
import type { directory } from '../../contract.ts';
import type { Keys } from '../issue.ts';
import { readExpiry, readName, readScopes } from '../rules.ts';
import { findAccountByEmail, getKey, listKeys } from '../statements.ts';

type KeyAdminHandlers = Pick<Handlers<typeof directory>, 'issueKey' | 'listAllKeys' | 'showAnyKey' | 'rotateAnyKey' | 'revokeAnyKey'>;

export function createKeyAdminHandlers({ db, keys, clock }: { db: Database; keys: Keys; clock: Clock }): KeyAdminHandlers {
  const getAccountId = async (email: string | undefined): Promise<number> => {
    const account = email === undefined ? undefined : await findAccountByEmail(db, { email });
    if (account === undefined)
      throw appError('not_found', 'account_not_found', `There is no account with the email ${email?.trim() ?? ''}.`);
    return account.id;
  };
  return {
    issueKey: async ({ email, account_id: named, name, scopes, expires_at: expiresAt }, context) => {
      const wanted = {
        accountId: named ?? (await getAccountId(email)),
        name: readName(name),
        scopes: readScopes(scopes),
        expiresAt: readExpiry(expiresAt, clock.now()),
        createdByAccountId: null,
        createdByKeyId: null,
      };
      return keys.issue(wanted, context);
    },
    listAllKeys: async ({ email, account_id: named = null, limit, offset }) => {
      const accountId = email === undefined ? named : await getAccountId(email);
      return bodyOf(await listKeys(db, { ownerId: null, accountId, limit, offset }));
    },
    showAnyKey: async ({ key_id: id }) => bodyOf(await getKey(db, { id, ownerId: null })),
    rotateAnyKey: ({ key_id: id, overlap_seconds: overlap }, context) => keys.rotate(id, null, overlap, () => undefined, context),
    revokeAnyKey: ({ key_id: id }, context) => keys.revoke(id, null, context),
  };
}
