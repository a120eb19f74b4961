/** Statements on credentials, sessions and the login throttle. */
import { type RowOf, sql, statement, t } from '#libs/infrastructure/sql';
import { actorFieldsSql, personPublicSql } from '../../api-objects/index.ts';
import { bodyRow, listSql, pageParams } from '../../lists/index.ts';

/** Returns the account of an email as typed, with its person as JSON (PersonPublic). */
export const findCredentials = statement.maybeOne({
  name: 'sessions.find-credentials',
  params: { email: t.text },
  row: { id: t.integer, is_active: t.boolean, password_hash: t.text.nullable, person: t.text.nullable },
  sql: ({ email }) => sql`
    select a.id, a.is_active, a.password_hash, case when p.id is null then null else ${personPublicSql('p')}::text end as person
    from directory.accounts a left join directory.people p on p.id = a.person_id
    where lower(a.email) = lower(btrim(${email}))`,
});

/** Returns the account of an active session. */
export const findOwnCredentials = statement.maybeOne({
  name: 'sessions.find-own-credentials',
  params: { sessionKey: t.text },
  row: { id: t.integer, email: t.text, password_hash: t.text.nullable },
  sql: ({ sessionKey }) => sql`
    select a.id, a.email, a.password_hash from directory.login_sessions s join directory.accounts a on a.id = s.account_id
    where s.session_key = ${sessionKey} and s.revoked_at is null and s.expires_at > statement_timestamp() and a.is_active`,
});

/** Replaces the hash. Returns no row if the account was deactivated or its hash has changed. */
export const replacePasswordHash = statement.maybeOne({
  name: 'sessions.replace-password-hash',
  params: { accountId: t.integer, known: t.text, next: t.text },
  row: { id: t.integer },
  sql: ({ accountId, known, next }) => sql`
    update directory.accounts set password_hash = ${next}, updated_at = clock_timestamp()
    where id = ${accountId} and is_active and password_hash = ${known} returning id`,
});

/** Returns the reply of `sessions.whoami`. */
export const getWhoami = statement.maybeOne({
  name: 'people.whoami',
  params: { personId: t.integer, keyId: t.text.nullable },
  row: bodyRow,
  sql: ({ personId, keyId }) => sql`
    select json_build_object('authenticated', true, 'person', ${personPublicSql('p')},
      'key', (select json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes) from directory.service_keys k where k.id = ${keyId})
    )::text as body
    from directory.people p where p.id = ${personId}`,
});

/**
 * Creates a session. Returns no row if the account was deactivated or its password has changed since it was verified.
 */
export const createSession = statement.maybeOne({
  name: 'sessions.create',
  params: {
    sessionKey: t.text,
    secretSha256: t.bytes,
    accountId: t.integer,
    passwordHash: t.text,
    lifetimeSeconds: t.integer,
    forConsole: t.boolean,
  },
  row: { expires_at: t.text },
  sql: ({ sessionKey, secretSha256, accountId, passwordHash, lifetimeSeconds, forConsole }) => sql`
    insert into directory.login_sessions (session_key, secret_sha256, account_id, expires_at, for_console)
    select ${sessionKey}, ${secretSha256}, a.id, clock_timestamp() + make_interval(secs => ${lifetimeSeconds}), ${forConsole}
    from directory.accounts a where a.id = ${accountId} and a.is_active and a.password_hash = ${passwordHash} for share
    returning replace(directory.iso_utc(expires_at), 'Z', '+00:00') as expires_at`,
});

/**
 * Returns the reply of `sessions.verify`. Returns no row if the token is invalid or used through the wrong entry
 * (console or API).
 */
export const verifySession = statement.maybeOne({
  name: 'sessions.verify',
  params: { sessionKey: t.text, secretSha256: t.bytes, forConsole: t.boolean },
  row: bodyRow,
  sql: ({ sessionKey, secretSha256, forConsole }) => sql`
    select json_build_object('actor', json_build_object(${actorFieldsSql('a')},
      'sessionKey', s.session_key), 'expires_at', replace(directory.iso_utc(s.expires_at), 'Z', '+00:00'))::text as body
    from directory.login_sessions s join directory.accounts a on a.id = s.account_id
    where s.session_key = ${sessionKey} and s.secret_sha256 = ${secretSha256} and s.for_console = ${forConsole}
      and s.revoked_at is null and s.expires_at > statement_timestamp() and a.is_active`,
});

export const revokeSession = statement.maybeOne({
  name: 'sessions.revoke',
  params: { sessionKey: t.text },
  row: { account_id: t.integer },
  sql: ({ sessionKey }) => sql`
    update directory.login_sessions set revoked_at = clock_timestamp() where session_key = ${sessionKey} and revoked_at is null
    returning account_id`,
});

/** Revokes all active sessions of the accounts. */
export const revokeAccountSessions = statement.many({
  name: 'sessions.revoke-accounts',
  params: { accountIds: t.integer.array },
  row: { session_key: t.text },
  sql: ({ accountIds }) => sql`
    update directory.login_sessions set revoked_at = clock_timestamp()
    where account_id = any(${accountIds}) and revoked_at is null and expires_at > statement_timestamp() returning session_key`,
});

/**
 * Revokes a session of the account. Returns whether the session belongs to the account and whether this call revoked
 * it.
 */
export const revokeOwnSession = statement.one({
  name: 'sessions.revoke-own',
  params: { accountId: t.integer, sessionKey: t.text },
  row: { is_known: t.boolean, is_revoked: t.boolean },
  sql: ({ accountId, sessionKey }) => sql`
    with revoked as (
      update directory.login_sessions set revoked_at = clock_timestamp()
      where session_key = ${sessionKey} and account_id = ${accountId} and revoked_at is null returning session_key
    )
    select exists (select from directory.login_sessions where session_key = ${sessionKey} and account_id = ${accountId}) as is_known,
      exists (select from revoked) as is_revoked`,
});

/** Returns the reply of `sessions.list`. */
export const listSessions = statement.one({
  name: 'sessions.list',
  params: { accountId: t.integer, current: t.text, ...pageParams },
  row: bodyRow,
  sql: ({ accountId, current, limit, offset }) =>
    listSql({
      from: sql`directory.login_sessions s`,
      where: sql`s.account_id = ${accountId} and s.revoked_at is null and s.expires_at > statement_timestamp()`,
      key: sql`s.session_key`,
      order: sql`s.created_at desc, s.session_key`,
      itemFrom: sql`directory.login_sessions s on s.session_key = page.key`,
      item: sql`json_build_object('id', s.session_key, 'created_at', directory.iso_utc(s.created_at), 'expires_at', directory.iso_utc(s.expires_at),
        'current', s.session_key = ${current})`,
      limit,
      offset,
    }),
});

/** Returns the active sessions of accounts whose actor may have changed. */
export const findAccountSessions = statement.many({
  name: 'sessions.find-of-accounts',
  params: { accountIds: t.integer.array },
  row: { session_key: t.text },
  sql: ({ accountIds }) => sql`
    select session_key from directory.login_sessions
    where account_id = any(${accountIds}) and revoked_at is null and expires_at > statement_timestamp()`,
});

/** Deletes expired sessions, invitations, throttle rows and workspace uploads. */
export const deleteOldSessions = statement.none({
  name: 'sessions.delete-old',
  sql: () => sql`
    with sessions as (
      delete from directory.login_sessions where expires_at < statement_timestamp() - interval '7 days'
    ), invitations as (
      delete from directory.invitations where expires_at < statement_timestamp()
    ), uploads as (
      delete from directory.workspace_uploads where created_at < statement_timestamp() - interval '1 hour'
    )
    delete from directory.login_attempts where updated_at < statement_timestamp() - interval '1 hour'`,
});

const attemptRow = {
  /** False if the limit was reached before this attempt. */
  admitted: t.boolean,
  /** Seconds until the oldest attempt is outside the window. */
  retry_after: t.integer,
};
export type AttemptRow = RowOf<typeof attemptRow>;

/**
 * Counts the attempt unless the limit is reached. Acquires one row lock, so that parallel attempts on all replicas are
 * counted exactly.
 */
export const countAttempt = statement.one({
  name: 'sessions.count-attempt',
  params: { key: t.text, limit: t.integer, windowSeconds: t.integer },
  row: attemptRow,
  sql: ({ key, limit, windowSeconds }) => sql`
    insert into directory.login_attempts as t (key, attempted_at, updated_at)
    values (${key}, array[clock_timestamp()], clock_timestamp())
    on conflict (key) do update set
      updated_at = clock_timestamp(),
      attempted_at = (
        select case when count(*) < ${limit} then array_append(array_agg(at order by at) filter (where at is not null), clock_timestamp())
          else (array_agg(at order by at))[1:${limit}] || 'infinity'::timestamptz end
        from unnest(t.attempted_at) as kept(at)
        where at > statement_timestamp() - make_interval(secs => ${windowSeconds}) and at <> 'infinity'
      )
    returning not ('infinity' = any(attempted_at)) as admitted,
      greatest(1, ceil(extract(epoch from attempted_at[1] + make_interval(secs => ${windowSeconds}) - clock_timestamp())))::integer as retry_after`,
});

/** Checks the limit without counting an attempt. */
export const findAttempts = statement.one({
  name: 'sessions.find-attempts',
  params: { key: t.text, limit: t.integer, windowSeconds: t.integer },
  row: attemptRow,
  sql: ({ key, limit, windowSeconds }) => sql`
    select count(at) < ${limit} as admitted,
      greatest(1, ceil(extract(epoch from min(at) + make_interval(secs => ${windowSeconds}) - clock_timestamp())))::integer as retry_after
    from directory.login_attempts, unnest(attempted_at) as kept(at)
    where key = ${key} and at <> 'infinity' and at > statement_timestamp() - make_interval(secs => ${windowSeconds})`,
});

/** Deletes the failed attempts of emails (`emailThrottleKey`) from every address. */
export const forgetAttempts = statement.none({
  name: 'sessions.forget-attempts',
  params: { emailKeys: t.text.array },
  sql: ({ emailKeys }) => sql`delete from directory.login_attempts where split_part(key, '/', 1) = any(${emailKeys})`,
});
