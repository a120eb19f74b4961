/** Invitations: one per account, of which only a hash of the token is stored (W7, W19). */
import { sql, statement, t } from '#libs/infrastructure/sql';

/** Lifetime of an invitation in hours. */
const lifetimeHours = 72;

/** Stores the invitation of an account; it replaces an earlier one. */
export const putInvitation = statement.one({
  name: 'invitations.put',
  params: { accountId: t.integer, tokenSha256: t.bytes },
  row: { expires_at: t.text },
  sql: ({ accountId, tokenSha256 }) => sql`
    insert into directory.invitations (account_id, token_sha256, expires_at)
    values (${accountId}, ${tokenSha256}, clock_timestamp() + make_interval(hours => ${lifetimeHours}))
    on conflict (account_id) do update
    set token_sha256 = excluded.token_sha256, created_at = excluded.created_at, expires_at = excluded.expires_at
    returning directory.iso_utc(expires_at) as expires_at`,
});

/** Returns the active account that the token invites, unless the invitation has expired. */
export const findInvitation = statement.maybeOne({
  name: 'invitations.find',
  params: { tokenSha256: t.bytes },
  row: { account_id: t.integer, email: t.text },
  sql: ({ tokenSha256 }) => sql`
    select a.id as account_id, a.email from directory.invitations i join directory.accounts a on a.id = i.account_id
    where i.token_sha256 = ${tokenSha256} and i.expires_at > statement_timestamp() and a.is_active`,
});

/** Ends the invitation with this token. Returns no row if it has ended meanwhile. */
export const takeInvitation = statement.maybeOne({
  name: 'invitations.take',
  params: { accountId: t.integer, tokenSha256: t.bytes },
  row: { account_id: t.integer },
  sql: ({ accountId, tokenSha256 }) => sql`
    delete from directory.invitations where account_id = ${accountId} and token_sha256 = ${tokenSha256} and expires_at > statement_timestamp()
    returning account_id`,
});

/** Ends the invitations of accounts. */
export const endInvitations = statement.none({
  name: 'invitations.end',
  params: { accountIds: t.integer.array },
  sql: ({ accountIds }) => sql`delete from directory.invitations where account_id = any(${accountIds})`,
});
