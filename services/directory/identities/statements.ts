/** Statements on identities of accounts. */
import { sql, statement, t } from '#libs/infrastructure/sql';
import { actorFieldsSql } from '../api-objects/index.ts';
import { bodyRow } from '../lists/index.ts';

const identityParams = { issuer: t.text, subject: t.text };

/** Returns the reply of `identities.verify`. Returns no row unless the identity is linked to an active account. */
export const verifyIdentity = statement.maybeOne({
  name: 'identities.verify',
  params: identityParams,
  row: bodyRow,
  sql: ({ issuer, subject }) => sql`
    select json_build_object('actor', json_build_object(${actorFieldsSql('a')}))::text as body
    from directory.identities i join directory.accounts a on a.id = i.account_id
    where i.issuer = ${issuer} and i.subject = ${subject} and a.is_active`,
});

/**
 * Creates a console session for the identity's account. Returns no row if the link was removed or the account has no
 * person.
 */
export const createIdentitySession = statement.maybeOne({
  name: 'identities.create-session',
  params: { ...identityParams, sessionKey: t.text, secretSha256: t.bytes, lifetimeSeconds: t.integer },
  row: { account_id: t.integer },
  sql: ({ issuer, subject, sessionKey, secretSha256, lifetimeSeconds }) => sql`
    insert into directory.login_sessions (session_key, secret_sha256, account_id, expires_at, for_console)
    select ${sessionKey}, ${secretSha256}, a.id, clock_timestamp() + make_interval(secs => ${lifetimeSeconds}), true
    from directory.identities i join directory.accounts a on a.id = i.account_id
    where i.issuer = ${issuer} and i.subject = ${subject} and a.is_active and a.person_id is not null for share of a, i
    returning account_id`,
});

/** Locks the account of an email, so that its identities do not change. */
export const lockAccountOfEmail = statement.maybeOne({
  name: 'identities.lock-account',
  params: { email: t.text },
  row: { id: t.integer, email: t.text, is_active: t.boolean },
  sql: ({ email }) => sql`
    select id, email, is_active from directory.accounts where lower(email) = lower(btrim(${email})) for no key update`,
});

/** Locks an account, so that its identities do not change. */
export const lockAccountOfId = statement.maybeOne({
  name: 'identities.lock-account-of-id',
  params: { id: t.integer },
  row: { id: t.integer, email: t.text },
  sql: ({ id }) => sql`select id, email from directory.accounts where id = ${id} for no key update`,
});

/** Links an identity. Returns no row if the identity is already linked. */
export const insertIdentity = statement.maybeOne({
  name: 'identities.insert',
  params: { ...identityParams, accountId: t.integer, linkedBy: t.text },
  row: { account_id: t.integer },
  sql: ({ issuer, subject, accountId, linkedBy }) => sql`
    insert into directory.identities (issuer, subject, account_id, linked_by)
    values (${issuer}, ${subject}, ${accountId}, ${linkedBy}) on conflict (issuer, subject) do nothing returning account_id`,
});

/**
 * Links the first identity of an account. Links nothing if another identity is linked (a later owner of the email must
 * not take over the account, S5) or an operator has unlinked one.
 */
export const insertFirstIdentity = statement.maybeOne({
  name: 'identities.insert-first',
  params: { ...identityParams, accountId: t.integer },
  row: { account_id: t.integer },
  sql: ({ issuer, subject, accountId }) => sql`
    insert into directory.identities (issuer, subject, account_id, linked_by)
    select ${issuer}, ${subject}, ${accountId}, 'email'
    from directory.accounts a where a.id = ${accountId} and a.unlinked_at is null
      and not exists (select from directory.identities where account_id = ${accountId})
    on conflict (issuer, subject) do nothing returning account_id`,
});

export const findOwner = statement.maybeOne({
  name: 'identities.find-owner',
  params: identityParams,
  row: { id: t.integer, email: t.text },
  sql: ({ issuer, subject }) => sql`
    select a.id, a.email from directory.identities i join directory.accounts a on a.id = i.account_id
    where i.issuer = ${issuer} and i.subject = ${subject}`,
});

export const deleteIdentity = statement.maybeOne({
  name: 'identities.delete',
  params: { ...identityParams, accountId: t.integer },
  row: { account_id: t.integer },
  sql: ({ issuer, subject, accountId }) => sql`
    delete from directory.identities where issuer = ${issuer} and subject = ${subject} and account_id = ${accountId} returning account_id`,
});

/** Records whether an operator unlinked an identity. */
export const markUnlinked = statement.none({
  name: 'identities.mark-unlinked',
  params: { accountId: t.integer, isUnlinked: t.boolean },
  sql: ({ accountId, isUnlinked }) => sql`
    update directory.accounts set unlinked_at = case when ${isUnlinked} then clock_timestamp() end
    where id = ${accountId} and (${isUnlinked} or unlinked_at is not null)`,
});

/** Returns the reply of `identities.list`. */
export const listIdentities = statement.one({
  name: 'identities.list',
  params: { accountId: t.integer },
  row: bodyRow,
  sql: ({ accountId }) => sql`
    select json_build_object('items', coalesce(json_agg(json_build_object('issuer', issuer, 'subject', subject, 'linked_by', linked_by,
      'linked_at', directory.iso_utc(linked_at)) order by linked_at, issuer, subject), '[]'), 'unlinked_at',
      (select directory.iso_utc(unlinked_at) from directory.accounts where id = ${accountId}))::text as body
    from directory.identities where account_id = ${accountId}`,
});
