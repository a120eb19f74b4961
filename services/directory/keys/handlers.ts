/** Service keys: operations of the open API, their verification for gateways, and the admin CLI (rules/access#service-keys, rules/cli#admin-cli; K9). */
import { type Actor, isPossibleId } from '#libs/contract';
import { AppError, appError, badRequest } from '#libs/errors';
import { type HandlersOf, rawJson } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { Clock } from '#libs/time';
import { bodyOf } from '../lists/index.ts';
import { type keyRpcs, keysPerPage } from './contract.ts';
import type { Keys, OwnerId } from './issue.ts';
import { parseKeyToken, readExpiry, readName, readScopes, refuseWider } from './rules.ts';
import { findAccountByEmail, getKey, listKeys, verifyKey } from './statements.ts';
import type { KeyUses } from './uses.ts';

export interface KeyOptions {
  readonly db: Database;
  readonly keys: Keys;
  readonly uses: KeyUses;
  readonly clock: Clock;
}

type KeyHandlers = Pick<HandlersOf<typeof keyRpcs>, 'createKey' | 'listKeys' | 'getKey' | 'rotateKey' | 'revokeKey' | 'verifyKey'>;
type UserActor = Extract<Actor, { kind: 'user' }>;

export function createKeyHandlers({ db, keys, uses, clock }: KeyOptions): KeyHandlers {
  return {
    createKey: async ({ name, account_id: accountId, scopes, expires_at: expiresAt }, context) => {
      const user = requireUser(context.actor);
      const owner = findOwner(user, accountId ?? user.accountId);
      const known = readScopes(scopes);
      refuseWider(user, known);
      const wanted = {
        accountId: owner,
        name: readName(name),
        scopes: known,
        expiresAt: readExpiry(expiresAt, clock.now()),
        createdByAccountId: user.accountId,
        createdByKeyId: user.key?.id ?? null,
      };
      return keys.issue(wanted, context).catch(accountNamed);
    },
    listKeys: async ({ account_id: accountId, limit = keysPerPage, offset = 0 }, { actor }) => {
      if (accountId !== undefined && !isPossibleId(accountId)) return { items: [], count: 0 };
      return bodyOf(await listKeys(db, { ownerId: ownerOf(actor), accountId, limit, offset }));
    },
    getKey: async ({ key_id: id }, { actor }) => bodyOf(await getKey(db, { id, ownerId: ownerOf(actor) })),
    rotateKey: ({ key_id: id, overlap_seconds: overlap }, context) =>
      keys.rotate(id, ownerOf(context.actor), overlap, (scopes) => refuseWider(context.actor, scopes), context),
    revokeKey: ({ key_id: id }, context) => keys.revoke(id, ownerOf(context.actor), context),
    verifyKey: async ({ token }) => {
      const parts = parseKeyToken(token);
      const row = parts === undefined ? undefined : await verifyKey(db, parts);
      if (parts === undefined || row === undefined) {
        throw new AppError({ code: 'unauthenticated', message: 'Authentication required.' });
      }
      uses.note(parts.id);
      return rawJson(row.body);
    },
  };
}

function requireUser(actor: Actor | undefined): UserActor {
  if (actor?.kind !== 'user') throw new AppError({ code: 'unauthenticated', message: 'Authentication required.' });
  return actor;
}

/** Superusers see the keys of every account. */
function ownerOf(actor: Actor | undefined): OwnerId {
  const user = requireUser(actor);
  return user.superuser ? null : user.accountId;
}

/** The account of a new key. @throws AppError 403 for one that is another's, there or not (K10); 400 for one that cannot be there */
function findOwner(user: UserActor, accountId: number): number {
  if (!user.superuser && accountId !== user.accountId) {
    throw new AppError({ code: 'permission_denied', message: 'Only superusers make keys of other accounts.' });
  }
  if (!isPossibleId(accountId)) throw noSuchAccount();
  return accountId;
}

/** A superuser who names an account that is not there hears so. */
function accountNamed(error: unknown): never {
  throw error instanceof AppError && error.code === 'not_found' ? noSuchAccount() : error;
}

function noSuchAccount(): AppError {
  return badRequest('account_id names no account.');
}

type KeyAdminHandlers = Pick<HandlersOf<typeof keyRpcs>, 'issueKey' | 'listAllKeys' | 'showAnyKey' | 'rotateAnyKey' | 'revokeAnyKey'>;

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
