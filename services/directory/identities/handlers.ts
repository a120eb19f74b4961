/**
 * Handlers of identities: verification for gateways, and links that operators manage (rules/access#identity-provider;
 * S2, S5).
 */
import { type AuditContext, recordAudit } from '#libs/infrastructure/audit';
import { isPossibleId } from '#libs/infrastructure/contract';
import { AppError, appError, notFound } from '#libs/infrastructure/errors';
import { type HandlersOf, rawJson } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { Dependencies } from '../dependencies.ts';
import { changeTokens, createToken, requireSuperuser, tokenLifetimeSeconds } from '../accounts/index.ts';
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
  lockAccountOfId,
  markUnlinked,
  verifyIdentity,
} from './statements.ts';

interface IdentityRef {
  readonly issuer: string;
  readonly subject: string;
}

interface ReportedIdentity extends IdentityRef {
  readonly email?: string | undefined;
}

export function createIdentityHandlers({
  config,
  db,
  jobs,
  throttle,
  refused,
  idempotency,
}: Pick<Dependencies, 'config' | 'db' | 'jobs' | 'throttle' | 'refused' | 'idempotency'>): HandlersOf<
  typeof identityRpcs
> {
  /** Links the identity to the account of its email, unless a concurrent call has linked it. */
  const linkFirst = (identity: IdentityRef, email: string, context: AuditContext): Promise<void> =>
    jobs.transaction(async (tx) => {
      const account = await lockAccountOfEmail(tx, { email });
      if (account === undefined || !account.is_active) return;
      const accountId = account.id;
      if ((await insertFirstIdentity(tx, { ...identity, accountId })) !== undefined)
        record(tx, context, accountId, identity, 'email');
    });

  /** Verifies an identity, and links it if allowed. @throws AppError unauthenticated */
  const verify = async ({ issuer, subject, email }: ReportedIdentity, context: AuditContext) => {
    const identity = { issuer, subject };
    let row = await verifyIdentity(db, identity);
    if (row === undefined && config.OIDC_LINK_BY_EMAIL && email !== undefined) {
      await linkFirst(identity, email, context);
      row = await verifyIdentity(db, identity);
    }
    if (row === undefined) throw new AppError({ code: 'unauthenticated', message: 'Authentication required.' });
    return row;
  };

  const issuerOf = (requestedIssuer: string | undefined): string => {
    const issuer = requestedIssuer ?? config.OIDC_ISSUER;
    if (issuer === undefined) throw appError('bad_request', 'no_issuer', 'OIDC_ISSUER is not set. Pass the issuer.');
    return issuer;
  };

  return {
    verifyIdentity: async (request, context) =>
      rawJson((await verify(request, { ...context, audit: 'account.link' })).body),
    signInIdentity: async ({ issuer, subject, email, ip }, context) => {
      const from = { ...context, clientIp: ip };
      // The provider admits all its users, so logins by identity are rate-limited like password logins of the console
      // (D76).
      await throttle.admitLogin(`console ${ip}`);
      await verify({ issuer, subject, email }, { ...from, audit: 'account.link' }).catch(async (error: unknown) => {
        if (!(error instanceof AppError) || error.code !== 'unauthenticated') throw error;
        throttle.count('identity');
        await refused.record(from, (await findOwner(db, { issuer, subject }))?.id ?? null, 'identity');
        throw error;
      });
      const { token, sessionKey, secretSha256 } = createToken();
      const isSignedIn = await db.transaction(async (tx) => {
        const params = { issuer, subject, sessionKey, secretSha256, lifetimeSeconds: tokenLifetimeSeconds };
        const session = await createIdentitySession(tx, params);
        if (session === undefined) return false;
        const { account_id: accountId } = session;
        recordAudit(tx, from, { target: { type: 'account', id: accountId }, changes: { issuer }, accountId });
        return true;
      });
      if (isSignedIn) return { token };
      await refused.record(from, (await findOwner(db, { issuer, subject }))?.id ?? null, 'no_person');
      throw new AppError({ code: 'permission_denied', message: 'This account has no person.' });
    },
    linkIdentity: async (request, context) => {
      requireSuperuser(context.actor);
      const { account_id: id, subject, issuer: requestedIssuer } = request;
      return idempotency.run(context, request, async (tx) => {
        const account = await requireAccount(tx, id);
        const identity = { issuer: issuerOf(requestedIssuer), subject };
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
              `The identity is linked to ${owner?.email ?? 'another account'}. Unlink it there first.`,
            );
        }
        return { account: { id: account.id, email: account.email }, ...identity, changed: created !== undefined };
      });
    },
    unlinkIdentity: async (request, context) => {
      requireSuperuser(context.actor);
      const { account_id: id, subject, issuer: requestedIssuer } = request;
      return idempotency.run(context, request, async (tx) => {
        const account = await requireAccount(tx, id);
        const identity = { issuer: issuerOf(requestedIssuer), subject };
        const deleted = await deleteIdentity(tx, { ...identity, accountId: account.id });
        if (deleted !== undefined) {
          await markUnlinked(tx, { accountId: account.id, isUnlinked: true });
          // Ends the sessions that this identity opened.
          await changeTokens(tx, jobs, [account.id], 'sign-out');
          record(tx, context, account.id, identity);
        }
        return { account: { id: account.id, email: account.email }, ...identity, changed: deleted !== undefined };
      });
    },
    listIdentities: async ({ account_id: id }, { actor }) => {
      requireSuperuser(actor);
      return db.transaction(async (tx) => {
        const account = await requireAccount(tx, id);
        return bodyOf(await listIdentities(tx, { accountId: account.id }));
      });
    },
  };
}

async function requireAccount(tx: Tx, id: number) {
  const account = isPossibleId(id) ? await lockAccountOfId(tx, { id }) : undefined;
  if (account === undefined) throw notFound();
  return account;
}

/** Writes the audit entry without the identity's subject, since entries remain after the person is erased. */
function record(
  tx: Tx,
  context: AuditContext,
  accountId: number,
  { issuer }: IdentityRef,
  linkedBy?: 'email' | 'operator',
): void {
  const changes = { issuer, ...(linkedBy === undefined ? {} : { linked_by: linkedBy }) };
  recordAudit(tx, context, { target: { type: 'account', id: accountId }, changes, accountId });
}
