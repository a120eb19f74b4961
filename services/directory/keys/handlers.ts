/**
 * Handlers of service keys: operations of the open API and verification for gateways (rules/access#service-keys).
 */
import { type Actor, isPossibleId } from '#libs/infrastructure/contract';
import { AppError, badRequest } from '#libs/infrastructure/errors';
import { type HandlersOf, rawJson } from '#libs/infrastructure/nats';
import type { Dependencies } from '../dependencies.ts';
import { bodyOf } from '../lists/index.ts';
import { type keyRpcs, keysPerPage } from './contract.ts';
import type { OwnerId } from './issue.ts';
import { parseKeyToken, readExpiry, readName, readScopes, checkKeyScopes } from './rules.ts';
import { getKey, listKeys, verifyKey } from './statements.ts';

type KeyDependencies = Pick<Dependencies, 'db' | 'keys' | 'keyUses' | 'clock'>;

type UserActor = Extract<Actor, { kind: 'user' }>;

export function createKeyHandlers({ db, keys, keyUses, clock }: KeyDependencies): HandlersOf<typeof keyRpcs> {
  return {
    createKey: async ({ name, account_id: accountId, scopes, expires_at: expiresAt }, context) => {
      const user = requireUser(context.actor);
      const owner = findOwner(user, accountId ?? user.accountId);
      const known = readScopes(scopes);
      checkKeyScopes(user, known);
      const keyRequest = {
        accountId: owner,
        name: readName(name),
        scopes: known,
        expiresAt: readExpiry(expiresAt, clock.now()),
        createdByAccountId: user.accountId,
        createdByKeyId: user.key?.id ?? null,
      };
      return keys.issue(keyRequest, context).catch(translateUnknownAccount);
    },
    listKeys: async ({ account_id: accountId, limit = keysPerPage, offset = 0 }, { actor }) => {
      if (accountId !== undefined && !isPossibleId(accountId)) return { items: [], count: 0 };
      return bodyOf(await listKeys(db, { ownerId: ownerOf(actor), accountId, limit, offset }));
    },
    getKey: async ({ key_id: id }, { actor }) => bodyOf(await getKey(db, { id, ownerId: ownerOf(actor) })),
    rotateKey: ({ key_id: id, overlap_seconds: overlap }, context) =>
      keys.rotate(id, ownerOf(context.actor), overlap, (scopes) => checkKeyScopes(context.actor, scopes), context),
    revokeKey: ({ key_id: id }, context) => keys.revoke(id, ownerOf(context.actor), context),
    verifyKey: async ({ token }) => {
      const parts = parseKeyToken(token);
      const row = parts === undefined ? undefined : await verifyKey(db, parts);
      if (parts === undefined || row === undefined) {
        throw new AppError({ code: 'unauthenticated', message: 'Authentication required.' });
      }
      keyUses.note(parts.id);
      return rawJson(row.body);
    },
  };
}

function requireUser(actor: Actor | undefined): UserActor {
  if (actor?.kind !== 'user') throw new AppError({ code: 'unauthenticated', message: 'Authentication required.' });
  return actor;
}

/**
 * Returns the account whose keys the caller can see, or null for superusers, since they see the keys of every account.
 */
function ownerOf(actor: Actor | undefined): OwnerId {
  const user = requireUser(actor);
  return user.superuser ? null : user.accountId;
}

/**
 * Returns the account of a new key. @throws AppError 403 for another person's account, whether or not it exists (K10);
 * 400 for an impossible id
 */
function findOwner(user: UserActor, accountId: number): number {
  if (!user.superuser && accountId !== user.accountId) {
    throw new AppError({ code: 'permission_denied', message: 'Only superusers can create keys of other accounts.' });
  }
  if (!isPossibleId(accountId)) throw unknownAccount();
  return accountId;
}

/** Translates the error for an unknown account. Only superusers can receive this specific error. */
function translateUnknownAccount(error: unknown): never {
  throw error instanceof AppError && error.code === 'not_found' ? unknownAccount() : error;
}

function unknownAccount(): AppError {
  return badRequest('account_id is not the id of an account.');
}
