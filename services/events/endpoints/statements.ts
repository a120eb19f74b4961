/** Statements on webhook endpoints for their owners (V5, V11). Dispatching has its own statements. */
import { type RowOf, type Sql, sql, statement, t } from '#libs/infrastructure/sql';

/** Account whose endpoints are visible; null means all accounts. */
const ownerParams = { ownerId: t.integer.nullable };
const bodyRow = { body: t.text };

/** JSON of the endpoint in row `e`, without its secret. */
const endpointSql: Sql = sql`json_build_object('id', e.id, 'account_id', e.account_id, 'url', e.url, 'types', e.types, 'description', e.description,
  'created_at', events.iso_utc(e.created_at), 'created_by_key_id', e.created_by_key_id, 'disabled', e.disabled_at is not null, 'disabled_at', events.iso_utc(e.disabled_at),
  'disabled_reason', e.disabled_reason, 'failing_since', events.iso_utc(e.failing_since), 'recovering', e.recover_from is not null,
  'rotating_until', case when e.previous_until > clock_timestamp() then events.iso_utc(e.previous_until) end)`;

/** Locks the account, so that endpoints of one account are created one after the other and cannot exceed the limit. */
export const lockAccount = statement.none({
  name: 'endpoints.lock-account',
  params: { accountId: t.integer },
  sql: ({ accountId }) => sql`select pg_advisory_xact_lock(hashtextextended('events.webhook-endpoints', ${accountId}))`,
});

export const countEndpoints = statement.one({
  name: 'endpoints.count',
  params: { accountId: t.integer },
  row: { count: t.bigint },
  sql: ({ accountId }) =>
    sql`select count(*) from events.webhook_endpoints where account_id = ${accountId} and deleted_at is null`,
});

/** Inserts an endpoint whose position is the current end of the feed. */
export const insertEndpoint = statement.one({
  name: 'endpoints.insert',
  params: {
    accountId: t.integer,
    url: t.text,
    types: t.text.array.nullable,
    description: t.text,
    secret: t.bytes,
    createdByKeyId: t.text.nullable,
  },
  row: { id: t.integer },
  sql: ({ accountId, url, types, description, secret, createdByKeyId }) => sql`
    insert into events.webhook_endpoints (account_id, url, types, description, secret, created_by_key_id, first_position, position)
    select ${accountId}, ${url}, ${types}, ${description}, ${secret}, ${createdByKeyId}, last_position, last_position from events.feed_head
    returning id`,
});

export const listEndpoints = statement.one({
  name: 'endpoints.list',
  params: { ...ownerParams, accountId: t.integer.nullable, limit: t.integer, offset: t.integer },
  row: bodyRow,
  sql: ({ ownerId, accountId, limit, offset }) => sql`
    select json_build_object('items', coalesce(json_agg(${endpointSql} order by e.id desc), '[]'))::text as body from (
      select * from events.webhook_endpoints
      where deleted_at is null and (${ownerId} is null or account_id = ${ownerId}) and (${accountId} is null or account_id = ${accountId})
      order by id desc limit ${limit} offset ${offset}) e`,
});

export const listEndpointsOfKey = statement.many({
  name: 'endpoints.list-of-key',
  params: { accountId: t.integer, keyId: t.text },
  row: { id: t.integer, url: t.text, description: t.text, disabled: t.boolean },
  sql: ({ accountId, keyId }) => sql`
    select id, url, description, disabled_at is not null as disabled from events.webhook_endpoints
    where account_id = ${accountId} and created_by_key_id = ${keyId} and deleted_at is null order by id desc`,
});

export const getEndpoint = statement.maybeOne({
  name: 'endpoints.get',
  params: { id: t.integer, ...ownerParams },
  row: bodyRow,
  sql: ({ id, ownerId }) => sql`
    select json_build_object('endpoint', ${endpointSql})::text as body from events.webhook_endpoints e
    where e.id = ${id} and e.deleted_at is null and (${ownerId} is null or e.account_id = ${ownerId})`,
});

const endpointRow = {
  id: t.integer,
  account_id: t.integer,
  url: t.text,
  types: t.text.array.nullable,
  description: t.text,
  disabled: t.boolean,
  first_position: t.bigint,
  position: t.bigint,
};
export type EndpointRow = RowOf<typeof endpointRow>;

/** Locks the endpoint's row until the transaction ends. */
export const lockEndpoint = statement.maybeOne({
  name: 'endpoints.lock',
  params: { id: t.integer, ...ownerParams },
  row: endpointRow,
  sql: ({ id, ownerId }) => sql`
    select id, account_id, url, types, description, disabled_at is not null as disabled, first_position, position
    from events.webhook_endpoints
    where id = ${id} and deleted_at is null and (${ownerId} is null or account_id = ${ownerId}) for no key update`,
});

export const saveEndpoint = statement.none({
  name: 'endpoints.save',
  params: { id: t.integer, url: t.text, types: t.text.array.nullable, description: t.text },
  sql: ({ id, url, types, description }) => sql`
    update events.webhook_endpoints set url = ${url}, types = ${types}, description = ${description} where id = ${id}`,
});

/** Disables an endpoint. Returns no row when the endpoint is already disabled or deleted. */
export const disable = statement.maybeOne({
  name: 'endpoints.disable',
  params: { id: t.integer, reason: t.text },
  row: { account_id: t.integer },
  sql: ({ id, reason }) => sql`
    update events.webhook_endpoints set disabled_at = clock_timestamp(), disabled_reason = ${reason}
    where id = ${id} and disabled_at is null and deleted_at is null returning account_id`,
});

/** Marks the pending deliveries of an endpoint as failed. */
export const cancelDeliveries = statement.none({
  name: 'endpoints.give-up',
  params: { id: t.integer },
  sql: ({ id }) =>
    sql`update events.webhook_deliveries set status = 'failed' where endpoint_id = ${id} and status = 'pending'`,
});

/** Enables an endpoint, which receives events from now on. */
export const enable = statement.none({
  name: 'endpoints.enable',
  params: { id: t.integer },
  sql: ({ id }) => sql`
    update events.webhook_endpoints set disabled_at = null, disabled_reason = null, failing_since = null, recover_from = null, recover_to = null,
      position = (select last_position from events.feed_head)
    where id = ${id}`,
});

/** Marks an endpoint as deleted; its rows are deleted later. */
export const markDeleted = statement.none({
  name: 'endpoints.mark-deleted',
  params: { id: t.integer },
  sql: ({ id }) => sql`update events.webhook_endpoints set deleted_at = clock_timestamp() where id = ${id}`,
});

/** Marks the endpoints of accounts as deleted. @returns the marked endpoints */
export const markDeletedOf = statement.many({
  name: 'endpoints.mark-deleted-of',
  params: { accountIds: t.integer.array },
  row: { id: t.integer },
  sql: ({ accountIds }) => sql`
    update events.webhook_endpoints set deleted_at = clock_timestamp()
    where account_id = any(${accountIds}) and deleted_at is null returning id`,
});

/**
 * Replaces the secret and stores the current one as the previous secret. An earlier previous secret is overwritten, so
 * a delivery has at most two signatures.
 */
export const rotateSecret = statement.none({
  name: 'endpoints.rotate-secret',
  params: { id: t.integer, secret: t.bytes, overlapSeconds: t.integer },
  sql: ({ id, secret, overlapSeconds }) => sql`
    update events.webhook_endpoints set secret = ${secret},
      previous_secret = case when ${overlapSeconds} > 0 then secret end,
      previous_until = case when ${overlapSeconds} > 0 then clock_timestamp() + make_interval(secs => ${overlapSeconds}) end
    where id = ${id}`,
});
