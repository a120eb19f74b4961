/** Operations on the caller's own login: change the password, list and revoke sessions (rules/access#own-login). */
import { type AuditContext, recordAudit } from '#libs/infrastructure/audit';
import type { Actor } from '#libs/infrastructure/contract';
import { AppError, appError, notFound, unavailable } from '#libs/infrastructure/errors';
import { type HandlersOf, rawJson } from '#libs/infrastructure/nats';
import type { Dependencies } from '../../dependencies.ts';
import { type ownLoginRpcs, sessionEvents, sessionsPerPage } from '../contract.ts';
import { hashNewPassword, isSessionKey } from '../rules.ts';
import {
  findOwnCredentials,
  listSessions,
  replacePasswordHash,
  revokeAccountSessions,
  revokeOwnSession,
} from '../statements/sessions.ts';

/** Maximum attempts when the account changes concurrently. */
const maxAttempts = 3;

export function createOwnLoginHandlers({
  db,
  jobs,
  passwords,
  throttle,
  history,
}: Pick<Dependencies, 'db' | 'jobs' | 'passwords' | 'throttle' | 'history'>): HandlersOf<typeof ownLoginRpcs> {
  /** Returns the account with its verified hash. A wrong password counts as a failed login. */
  async function verifyCurrent(sessionKey: string, current: string, ip: string) {
    const account = await findOwnCredentials(db, { sessionKey });
    if (account === undefined) throw new AppError({ code: 'unauthenticated', message: 'Authentication is required.' });
    await throttle.admitEmail(account.email, ip);
    const hash = account.password_hash;
    if (!(await passwords.verify(current, hash)) || hash === null) {
      await throttle.countFailure(account.email, ip);
      throttle.count('credentials');
      throw appError('permission_denied', 'wrong_password', 'The current password is another one.');
    }
    await throttle.admitEmail(account.email, ip);
    return { ...account, hash };
  }

  /** Replaces the password hash. Returns undefined if the account was changed while the password was checked. */
  async function replace(
    accountId: number,
    known: string,
    next: string,
    context: AuditContext,
  ): Promise<number | undefined> {
    const { lockAccountById } = await import('../statements/account-units.ts');
    return jobs.transaction(async (tx) => {
      await lockAccountById(tx, accountId);
      await history.recordChanges(tx, context, 'accounts', [accountId]);
      // The hash is replaced before the sessions: a login that waits for the row lock must see the change.
      if ((await replacePasswordHash(tx, { accountId, known, next })) === undefined) return undefined;
      const keys = (await revokeAccountSessions(tx, { accountIds: [accountId] })).map((row) => row.session_key);
      if (keys.length > 0) await jobs.emit(tx, sessionEvents.sessionsRevoked, { session_keys: keys });
      const changes = { password: 'changed', revoked_sessions: keys.length };
      recordAudit(tx, context, { target: { type: 'account', id: accountId }, changes });
      return keys.length;
    });
  }

  return {
    changePassword: async ({ current, new: next, ip }, context) => {
      const { sessionKey } = requireLogin(context.actor);
      await throttle.admitLogin(ip);
      for (let attempt = 1; attempt <= maxAttempts; attempt++) {
        const { id, email, hash } = await verifyCurrent(sessionKey, current, ip);
        const revoked = await replace(id, hash, await hashNewPassword(passwords, next, email), context);
        if (revoked !== undefined) return { changed: true, revoked_sessions: revoked };
      }
      throw unavailable('The account is being changed');
    },
    listSessions: async ({ limit = sessionsPerPage, offset = 0 }, { actor }) => {
      const { accountId, sessionKey } = requireLogin(actor);
      return rawJson((await listSessions(db, { accountId, current: sessionKey, limit, offset })).body);
    },
    revokeSession: async ({ session_id: sessionKey }, context) => {
      const { accountId } = requireLogin(context.actor);
      if (!isSessionKey(sessionKey)) throw notFound();
      return jobs.transaction(async (tx) => {
        const { is_known: isKnown, is_revoked: isRevoked } = await revokeOwnSession(tx, { accountId, sessionKey });
        if (!isKnown) throw notFound();
        if (isRevoked) {
          await jobs.emit(tx, sessionEvents.sessionsRevoked, { session_keys: [sessionKey] });
          recordAudit(tx, context, { target: { type: 'account', id: accountId } });
        }
        return { revoked: true };
      });
    },
  };
}

/**
 * Returns the login session of the caller. @throws AppError permission_denied for tokens that were not issued by a
 * login
 */
function requireLogin(actor: Actor | undefined): { readonly accountId: number; readonly sessionKey: string } {
  if (actor?.kind === 'user' && actor.key === undefined && actor.sessionKey !== undefined)
    return { accountId: actor.accountId, sessionKey: actor.sessionKey };
  throw new AppError({
    code: 'permission_denied',
    message: 'This operation requires a token of a login with email and password.',
  });
}
