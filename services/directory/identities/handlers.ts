/** Identities: verified for the gateways, linked and unlinked by operators (rules/access#identity-provider; S2, S5). */
import { type AuditContext, recordAudit } from '#libs/audit';
import { AppError, appError } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import { type HandlersOf, rawJson } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { changeTokens, createToken, type LoginThrottle, type RefusedLogins, tokenLifetimeSeconds } from '../accounts/index.ts';
import { bodyOf } from '../lists/index.ts';
import type { identityRpcs } from './contract.ts';
import {
  createIdentitySession,
  deleteIdentity,
  findOwner,
  insertFirstIdentity,
  insertIdentity,
  listIdentities,
  lockAccountOfEmail,
  markUnlinked,
  verifyIdentity,
} from './statements.ts';

export interface IdentityOptions {
  readonly db: Database;
  readonly jobs: Jobs;
  readonly throttle: LoginThrottle;
  readonly refused: RefusedLogins;
  /** What operators mean who name no issuer. */
  readonly issuer: string | undefined;
  readonly linkByEmail: boolean;
}

interface Named {
  readonly issuer: string;
  readonly subject: string;
}

interface Seen extends Named {
  readonly email?: string | undefined;
}

export function createIdentityHandlers(options: IdentityOptions): HandlersOf<typeof identityRpcs> {
  const { db, jobs, throttle, refused, linkByEmail } = options;

  /** Whether the identity is linked now, perhaps by another call at the same time. */
  const linkFirst = (identity: Named, email: string, context: AuditContext): Promise<void> =>
    jobs.transaction(async (tx) => {
      const account = await lockAccountOfEmail(tx, { email });
      if (account === undefined || !account.is_active) return;
      const accountId = account.id;
      if ((await insertFirstIdentity(tx, { ...identity, accountId })) !== undefined) record(tx, context, accountId, identity, 'email');
    });

  /** The identity as the reply of its verification, linked just now if it may be. @throws AppError unauthenticated */
  const verify = async ({ issuer, subject, email }: Seen, context: AuditContext) => {
    const identity = { issuer, subject };
    let row = await verifyIdentity(db, identity);
    if (row === undefined && linkByEmail && email !== undefined) {
      await linkFirst(identity, email, context);
      row = await verifyIdentity(db, identity);
    }
    if (row === undefined) throw new AppError({ code: 'unauthenticated', message: 'Authentication required.' });
    return row;
  };

  const issuerOf = (named: string | undefined): string => {
    const issuer = named ?? options.issuer;
    if (issuer === undefined) throw appError('bad_request', 'no_issuer', 'OIDC_ISSUER is not set; name the issuer with --issuer.');
    return issuer;
  };

  return {
    verifyIdentity: async (seen, context) => rawJson((await verify(seen, { ...context, audit: 'account.link' })).body),
    signInIdentity: async ({ issuer, subject, email, ip }, context) => {
      const from = { ...context, clientIp: ip };
      // A sign-in of the console as one with a password is (D76): the provider has let everybody in whom it knows.
      await throttle.admitLogin(`console ${ip}`);
      await verify({ issuer, subject, email }, { ...from, audit: 'account.link' }).catch(async (error: unknown) => {
        if (!(error instanceof AppError) || error.code !== 'unauthenticated') throw error;
        throttle.count('identity');
        await refused.record(from, (await findOwner(db, { issuer, subject }))?.id ?? null, 'identity');
        throw error;
      });
      const { token, sessionKey, secretSha256 } = createToken();
      const isIn = await db.transaction(async (tx) => {
        const wanted = { issuer, subject, sessionKey, secretSha256, lifetimeSeconds: tokenLifetimeSeconds };
        const session = await createIdentitySession(tx, wanted);
        if (session === undefined) return false;
        const { account_id: accountId } = session;
        recordAudit(tx, from, { target: { type: 'account', id: accountId }, changes: { issuer }, accountId });
        return true;
      });
      if (isIn) return { token };
      await refused.record(from, (await findOwner(db, { issuer, subject }))?.id ?? null, 'no_person');
      throw new AppError({ code: 'permission_denied', message: 'This account has no person.' });
    },
    linkIdentity: ({ email, subject, issuer: named }, context) =>
      jobs.transaction(async (tx) => {
        const identity = { issuer: issuerOf(named), subject };
        const account = await requireAccount(tx, email);
        const created = await insertIdentity(tx, { ...identity, accountId: account.id, linkedBy: 'operator' });
        if (created !== undefined) {
          await markUnlinked(tx, { accountId: account.id, isUnlinked: false });
          record(tx, context, account.id, identity, 'operator');
        } else {
          const owner = await findOwner(tx, identity);
          if (owner?.id !== account.id)
            throw appError(
              'conflict',
              'identity_linked',
              `That identity is linked to ${owner?.email ?? 'another account'}; unlink it there first.`,
            );
        }
        return { account: { id: account.id, email: account.email }, ...identity, changed: created !== undefined };
      }),
    unlinkIdentity: ({ email, subject, issuer: named }, context) =>
      jobs.transaction(async (tx) => {
        const identity = { issuer: issuerOf(named), subject };
        const account = await requireAccount(tx, email);
        const deleted = await deleteIdentity(tx, { ...identity, accountId: account.id });
        if (deleted !== undefined) {
          await markUnlinked(tx, { accountId: account.id, isUnlinked: true });
          // What it has signed in ends with it.
          await changeTokens(tx, jobs, [account.id], 'sign-out');
          record(tx, context, account.id, identity);
        }
        return { account: { id: account.id, email: account.email }, ...identity, changed: deleted !== undefined };
      }),
    listIdentities: ({ email }) =>
      jobs.transaction(async (tx) => bodyOf(await listIdentities(tx, { accountId: (await requireAccount(tx, email)).id }))),
  };
}

async function requireAccount(tx: Tx, email: string) {
  const account = await lockAccountOfEmail(tx, { email });
  if (account === undefined) throw appError('not_found', 'account_not_found', `There is no account with the email ${email.trim()}.`);
  return account;
}

/** Without the subject: an entry stays when the person behind it is erased. */
function record(tx: Tx, context: AuditContext, accountId: number, { issuer }: Named, linkedBy?: 'email' | 'operator'): void {
  const changes = { issuer, ...(linkedBy === undefined ? {} : { linked_by: linkedBy }) };
  recordAudit(tx, context, { target: { type: 'account', id: accountId }, changes, accountId });
}
