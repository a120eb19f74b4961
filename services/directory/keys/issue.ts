/** What is done to keys, by clients and by operators: each is one transaction that tells the gateways (K5). */
import { type AuditContext, recordAudit } from '#libs/audit';
import { appError, notFound } from '#libs/errors';
import type { KeyedCall, Once } from '#libs/idempotency';
import type { Jobs } from '#libs/jobs';
import { type RawJson, rawJson, type TaggedReply } from '#libs/nats';
import type { Queryable } from '#libs/sql';
import { directory, maxKeys, usualOverlapSeconds } from '../contract.ts';
import { createKeyToken } from './rules.ts';
import { countKeys, getKey, insertKey, lockAccount, lockKey, revokeKey, rotateKey } from './statements.ts';

/** Whose keys the caller may see: those of this account, or with null of every one. */
export type OwnerId = number | null;

interface WantedKey {
  readonly accountId: number;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
  readonly createdByAccountId: number | null;
  readonly createdByKeyId: string | null;
}

export interface Keys {
  /** @throws AppError 404 without the account, 409 `account_inactive`, `too_many_keys` */
  issue(wanted: WantedKey, context: AuditContext): Promise<RawJson>;
  /** @param check looks at the scopes. @throws AppError 404, 409 `key_ended` */
  rotate(
    id: string,
    ownerId: OwnerId,
    overlapSeconds: number | undefined,
    check: (scopes: readonly string[]) => void,
    context: AuditContext,
  ): Promise<RawJson>;
  /** @throws AppError 404 */
  revoke(id: string, ownerId: OwnerId, context: AuditContext & KeyedCall): Promise<RawJson | TaggedReply<RawJson>>;
}

export function createKeys({ jobs, once }: { jobs: Jobs; once: Once }): Keys {
  return {
    issue: (wanted, context) =>
      jobs.transaction(async (tx) => {
        const account = await lockAccount(tx, { accountId: wanted.accountId });
        if (account === undefined) throw notFound();
        if (!account.is_active) throw appError('conflict', 'account_inactive', 'The account is deactivated.');
        const { count } = await countKeys(tx, { accountId: wanted.accountId });
        if (count >= maxKeys) throw appError('conflict', 'too_many_keys', `The account has ${maxKeys} keys; revoke one first.`);
        const { id, token, secretSha256 } = createKeyToken();
        await insertKey(tx, { ...wanted, id, secretSha256 });
        const { accountId, scopes, expiresAt } = wanted;
        recordAudit(tx, context, { target: { type: 'key', id }, changes: { account_id: accountId, scopes, expires_at: expiresAt } });
        return show(tx, id, token);
      }),
    rotate: (keyId, ownerId, overlapSeconds = usualOverlapSeconds, check, context) =>
      jobs.transaction(async (tx) => {
        const key = await lockKey(tx, { id: keyId, ownerId });
        if (key === undefined) throw notFound();
        check(key.scopes);
        if (!key.is_alive) throw appError('conflict', 'key_ended', 'The key is revoked or expired.');
        const { id, token, secretSha256 } = createKeyToken(keyId);
        await rotateKey(tx, { id, secretSha256, overlapSeconds });
        await jobs.emit(tx, directory.events.keysChanged, { key_ids: [id] });
        recordAudit(tx, context, { target: { type: 'key', id }, changes: { overlap_seconds: overlapSeconds } });
        return show(tx, id, token);
      }),
    revoke: (id, ownerId, context) =>
      once.transaction(context, { key_id: id }, async (tx) => {
        if ((await lockKey(tx, { id, ownerId })) === undefined) throw notFound();
        const revoked = await revokeKey(tx, { id });
        if (revoked !== undefined) {
          await jobs.emit(tx, directory.events.keysChanged, { key_ids: [id] });
          recordAudit(tx, context, { target: { type: 'key', id } });
        }
        return show(tx, id);
      }),
  };
}

async function show(on: Queryable, id: string, token?: string): Promise<RawJson> {
  const row = await getKey(on, { id, ownerId: null });
  if (row === undefined) throw notFound();
  return rawJson(token === undefined ? row.body : `${row.body.slice(0, -1)},"token":${JSON.stringify(token)}}`);
}
