/** Changes of keys by clients and operators. Each change is one transaction, which also notifies the gateways (K5). */
import { type AuditContext, recordAudit } from '#libs/infrastructure/audit';
import type { ReplyOf } from '#libs/infrastructure/contract';
import { appError, notFound } from '#libs/infrastructure/errors';
import type { IdempotencyStore } from '#libs/infrastructure/idempotency';
import type { Jobs } from '#libs/infrastructure/jobs';
import { parseJson } from '#libs/infrastructure/json';
import {
  type Bus,
  withoutActor,
  type RawJson,
  rawJson,
  type RequestContext,
  TaggedReply,
} from '#libs/infrastructure/nats';
import type { Queryable } from '#libs/infrastructure/sql';
import { events } from '#services/events';
import { keyEvents, type keyRpcs, maxKeys, defaultOverlapSeconds } from './contract.ts';
import { createKeyToken } from './rules.ts';
import { countKeys, getKey, insertKey, lockAccount, lockKey, revokeKey, rotateKey } from './statements.ts';

/** Account whose keys the caller can see; null = all accounts. */
export type OwnerId = number | null;

interface KeyRequest {
  readonly accountId: number;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
  readonly createdByAccountId: number | null;
  readonly createdByKeyId: string | null;
}

export interface Keys {
  /** Creates a key. @throws AppError 404 if the account does not exist, 409 `account_inactive`, `too_many_keys` */
  issue(keyRequest: KeyRequest, context: AuditContext): Promise<RawJson>;
  /** Replaces the secret of a key. @param check validates the scopes. @throws AppError 404, 409 `key_ended` */
  rotate(
    id: string,
    ownerId: OwnerId,
    overlapSeconds: number | undefined,
    check: (scopes: readonly string[]) => void,
    context: AuditContext,
  ): Promise<RawJson>;
  /** Revokes a key. @throws AppError 404 */
  revoke(id: string, ownerId: OwnerId, context: RequestContext): Promise<RawJson | TaggedReply<RawJson>>;
}

export function createKeys({ jobs, idempotency, bus }: { jobs: Jobs; idempotency: IdempotencyStore; bus: Bus }): Keys {
  return {
    issue: (keyRequest, context) =>
      jobs.transaction(async (tx) => {
        const account = await lockAccount(tx, { accountId: keyRequest.accountId });
        if (account === undefined) throw notFound();
        if (!account.is_active) throw appError('conflict', 'account_inactive', 'The account is deactivated.');
        const { count } = await countKeys(tx, { accountId: keyRequest.accountId });
        if (count >= maxKeys)
          throw appError('conflict', 'too_many_keys', `The account has ${maxKeys} keys. Revoke one first.`);
        const { id, token, secretSha256 } = createKeyToken();
        await insertKey(tx, { ...keyRequest, id, secretSha256 });
        const { accountId, scopes, expiresAt } = keyRequest;
        recordAudit(tx, context, {
          target: { type: 'key', id },
          changes: { account_id: accountId, scopes, expires_at: expiresAt },
        });
        return getKeyReply(tx, id, token);
      }),
    rotate: (keyId, ownerId, overlapSeconds = defaultOverlapSeconds, check, context) =>
      jobs.transaction(async (tx) => {
        const key = await lockKey(tx, { id: keyId, ownerId });
        if (key === undefined) throw notFound();
        check(key.scopes);
        if (!key.is_alive) throw appError('conflict', 'key_ended', 'The key is revoked or expired.');
        const { id, token, secretSha256 } = createKeyToken(keyId);
        await rotateKey(tx, { id, secretSha256, overlapSeconds });
        await jobs.emit(tx, keyEvents.keysChanged, { key_ids: [id] });
        recordAudit(tx, context, { target: { type: 'key', id }, changes: { overlap_seconds: overlapSeconds } });
        return getKeyReply(tx, id, token);
      }),
    revoke: async (id, ownerId, context) => {
      const revoked = await idempotency.run(context, { key_id: id }, async (tx) => {
        if ((await lockKey(tx, { id, ownerId })) === undefined) throw notFound();
        if ((await revokeKey(tx, { id })) !== undefined) {
          await jobs.emit(tx, keyEvents.keysChanged, { key_ids: [id] });
          recordAudit(tx, context, { target: { type: 'key', id } });
        }
        return getKeyReply(tx, id);
      });
      return withEndpoints(bus, revoked, context);
    },
  };
}

/**
 * Adds the webhook endpoints that the revoked key created to the reply. The field is null if the events service does
 * not reply.
 */
async function withEndpoints(
  bus: Bus,
  revoked: RawJson | TaggedReply<RawJson>,
  context: RequestContext,
): Promise<RawJson | TaggedReply<RawJson>> {
  const body = Buffer.from((revoked instanceof TaggedReply ? revoked.body : revoked).bytes).toString('utf8');
  const { key } = parseJson(body) as ReplyOf<typeof keyRpcs.getKey>;
  const request = { account_id: key.account.id, key_id: key.id };
  const endpoints = await bus.call(events.rpcs.listEndpointsOfKey, request, withoutActor(context)).then(
    ({ items }) => items,
    (error: unknown) => {
      context.logger.warn({ err: error, keyId: key.id }, 'keys: failed to list the webhook endpoints of a revoked key');
      return null;
    },
  );
  const replyBody = rawJson(`${body.slice(0, -1)},"webhook_endpoints":${JSON.stringify(endpoints)}}`);
  return revoked instanceof TaggedReply ? new TaggedReply(replyBody, revoked.metadata) : replyBody;
}

async function getKeyReply(on: Queryable, id: string, token?: string): Promise<RawJson> {
  const row = await getKey(on, { id, ownerId: null });
  if (row === undefined) throw notFound();
  return rawJson(token === undefined ? row.body : `${row.body.slice(0, -1)},"token":${JSON.stringify(token)}}`);
}
