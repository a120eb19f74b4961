/** Effects of account changes on the account's login sessions and service keys (rules/access#credentials). */
import type { Jobs } from '#libs/infrastructure/jobs';
import type { Tx } from '#libs/infrastructure/orm';
import { keyEvents } from '../keys/contract.ts';
import { findAccountKeys, revokeAccountKeys } from '../keys/index.ts';
import { sessionEvents } from './contract.ts';
import { endInvitations } from './statements/invitations.ts';
import { findAccountSessions, revokeAccountSessions } from './statements/sessions.ts';

/**
 * `end` revokes sessions and keys, `sign-out` revokes only sessions, `refresh` only clears the gateways' caches. The
 * first two also end the invitation.
 */
export type TokenChange = 'end' | 'sign-out' | 'refresh';

/**
 * Revokes or refreshes tokens of accounts; the gateways drop their cached tokens. Call it in the transaction that
 * changes the accounts, after their rows are written.
 */
export async function changeTokens(
  tx: Tx,
  jobs: Jobs,
  accountIds: readonly number[],
  change: TokenChange,
): Promise<void> {
  if (accountIds.length === 0) return;
  const accounts = { accountIds };
  if (change !== 'refresh') await endInvitations(tx, accounts);
  const sessions = await (change === 'refresh' ? findAccountSessions : revokeAccountSessions)(tx, accounts);
  const keys =
    change === 'sign-out' ? [] : await (change === 'end' ? revokeAccountKeys : findAccountKeys)(tx, accounts);
  if (sessions.length > 0)
    await jobs.emit(tx, sessionEvents.sessionsRevoked, { session_keys: sessions.map((row) => row.session_key) });
  if (keys.length > 0) await jobs.emit(tx, keyEvents.keysChanged, { key_ids: keys.map(({ id }) => id) });
}
