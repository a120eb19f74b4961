/** Invitations that set the password of an account (W7, W19). */
import { recordAudit } from '#libs/infrastructure/audit';
import type { Actor } from '#libs/infrastructure/contract';
import { appError } from '#libs/infrastructure/errors';
import type { Handler } from '#libs/infrastructure/nats';
import type { Dependencies } from '../../dependencies.ts';
import { changeTokens } from '../change-tokens.ts';
import type { managedAccountRpcs } from '../contract.ts';
import { emailThrottleKey } from '../login-limits.ts';
import { hashNewPassword } from '../rules.ts';
import { findInvitation, takeInvitation } from '../statements/invitations.ts';
import { forgetAttempts } from '../statements/sessions.ts';

type Dependency = 'db' | 'jobs' | 'history' | 'gatePasswords';

export function createAcceptInvitation({
  db,
  jobs,
  history,
  gatePasswords,
}: Pick<Dependencies, Dependency>): Handler<typeof managedAccountRpcs.acceptInvitation> {
  return async ({ token_sha256: text, password, ip }, context) => {
    const tokenSha256 = Buffer.from(text, 'base64url');
    const invited = await findInvitation(db, { tokenSha256 });
    // Only holders of a valid token cost the work of a password.
    if (invited === undefined) throw ended();
    const { account_id: accountId, email } = invited;
    const passwordHash = await hashNewPassword(gatePasswords, password, email);
    const { lockAccountById, saveAccount } = await import('../statements/account-units.ts');
    return jobs.transaction(async (tx) => {
      const account = await lockAccountById(tx, accountId);
      const taken = account?.isActive === true && (await takeInvitation(tx, { accountId, tokenSha256 })) !== undefined;
      if (account === null || !taken) throw ended();
      const from = { ...context, clientIp: ip };
      await history.recordChanges(tx, { ...from, via: 'console', actor: invitedActor(accountId) }, 'accounts', [
        accountId,
      ]);
      account.passwordHash = passwordHash;
      await saveAccount(tx, account);
      await changeTokens(tx, jobs, [accountId], 'sign-out');
      await forgetAttempts(tx, { emailKeys: [emailThrottleKey(email)] });
      recordAudit(tx, from, {
        target: { type: 'account', id: accountId },
        changes: { password: 'changed' },
        accountId,
      });
      return { email };
    });
  };
}

/** The account itself sets its password, for the history. */
const invitedActor = (accountId: number): Actor => ({
  kind: 'user',
  accountId,
  personId: null,
  superuser: false,
  globalEditor: false,
  coherenceAccess: false,
});

const ended = () =>
  appError('gone', 'invitation_ended', 'The invitation was used or replaced, or has expired. Ask for a new one.');
