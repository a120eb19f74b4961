/** Accounts as login sees them, sessions, and the throttle of logins. */
import { statement } from '#libs/orm';
import { personPublicSql } from '../../public-json.ts';

export interface CredentialsRow {
  readonly id: number;
  readonly is_active: boolean;
  readonly password_hash: string | null;
  /** PersonPublic as JSON text. */
  readonly person: string | null;
}

/** `$1` = email as typed. */
export const findCredentials = statement(
  'sessions.find-credentials',
  `select a.id, a.is_active, a.password_hash, case when p.id is null then null else ${personPublicSql('p')}::text end as person
   from directory.accounts a left join directory.people p on p.id = a.person_id
   where lower(a.email) = lower(btrim($1::text))`,
);

/** `$1` = person id; one row with the reply of `sessions.whoami`. */
export const getWhoami = statement(
  'people.whoami',
  `select json_build_object('authenticated', true, 'person', ${personPublicSql('p')})::text as body
   from directory.people p where p.id = $1::integer`,
);

/**
 * `$1` = session key, `$2` = SHA-256 of the secret, `$3` = account, `$4` = the hash that was verified, `$5` = lifetime in seconds.
 * No row when the account was deactivated or its password changed since it was read.
 */
export const createSession = statement(
  'sessions.create',
  `insert into directory.login_sessions (session_key, secret_sha256, account_id, expires_at)
   select $1::text, $2::bytea, a.id, clock_timestamp() + make_interval(secs => $5::integer)
   from directory.accounts a where a.id = $3::integer and a.is_active and a.password_hash = $4::text for share
   returning replace(directory.iso_utc(expires_at), 'Z', '+00:00') as expires_at`,
);

/** `$1` = session key, `$2` = SHA-256 of the secret; one row with the reply of `sessions.verify` when the token is good. */
export const verifySession = statement(
  'sessions.verify',
  `select json_build_object('actor', json_build_object('kind', 'user', 'accountId', a.id, 'personId', a.person_id,
     'superuser', a.superuser, 'globalEditor', a.global_editor, 'coherenceAccess', a.superuser or 'coherence_users' = any(a.groups),
     'sessionKey', s.session_key), 'expires_at', replace(directory.iso_utc(s.expires_at), 'Z', '+00:00'))::text as body
   from directory.login_sessions s join directory.accounts a on a.id = s.account_id
   where s.session_key = $1::text and s.secret_sha256 = $2::bytea and s.revoked_at is null and s.expires_at > clock_timestamp() and a.is_active`,
);

/** `$1` = session key. */
export const revokeSession = statement(
  'sessions.revoke',
  `update directory.login_sessions set revoked_at = clock_timestamp() where session_key = $1::text and revoked_at is null
   returning session_key`,
);

/** `$1` = account ids; revokes what is alive and returns the keys. */
export const revokeAccountSessions = statement(
  'sessions.revoke-accounts',
  `update directory.login_sessions set revoked_at = clock_timestamp()
   where account_id = any($1::integer[]) and revoked_at is null and expires_at > clock_timestamp() returning session_key`,
);

/** `$1` = account ids; keys of the sessions alive, whose actor may have changed. */
export const findAccountSessions = statement(
  'sessions.find-of-accounts',
  `select session_key from directory.login_sessions
   where account_id = any($1::integer[]) and revoked_at is null and expires_at > clock_timestamp()`,
);

/** Removes sessions and throttle rows that can no longer matter. */
export const deleteOldSessions = statement(
  'sessions.delete-old',
  `with sessions as (
     delete from directory.login_sessions where expires_at < clock_timestamp() - interval '7 days'
   ), uploads as (
     delete from directory.workspace_uploads where created_at < clock_timestamp() - interval '1 hour'
   )
   delete from directory.login_attempts where updated_at < clock_timestamp() - interval '1 hour'`,
);

export interface AttemptRow {
  /** False when the limit was reached before this attempt. */
  readonly admitted: boolean;
  /** Seconds until the oldest attempt leaves the window. */
  readonly retry_after: number;
}

/**
 * `$1` = key, `$2` = limit, `$3` = window in seconds. Counts this attempt unless the limit is reached; one row lock, so that
 * parallel attempts on any replica are counted exactly.
 */
export const countAttempt = statement(
  'sessions.count-attempt',
  `insert into directory.login_attempts as t (key, attempted_at, updated_at)
   values ($1::text, array[clock_timestamp()], clock_timestamp())
   on conflict (key) do update set
     updated_at = clock_timestamp(),
     attempted_at = (
       select case when count(*) < $2::integer then array_append(array_agg(at order by at) filter (where at is not null), clock_timestamp())
         else (array_agg(at order by at))[1:$2::integer] || 'infinity'::timestamptz end
       from unnest(t.attempted_at) as kept(at)
       where at > clock_timestamp() - make_interval(secs => $3::integer) and at <> 'infinity'
     )
   returning not ('infinity' = any(attempted_at)) as admitted,
     greatest(1, ceil(extract(epoch from attempted_at[1] + make_interval(secs => $3::integer) - clock_timestamp())))::integer as retry_after`,
);

/** `$1` = key, `$2` = limit, `$3` = window in seconds; asks without counting. No row = nothing counted yet. */
export const findAttempts = statement(
  'sessions.find-attempts',
  `select count(at) < $2::integer as admitted,
     greatest(1, ceil(extract(epoch from min(at) + make_interval(secs => $3::integer) - clock_timestamp())))::integer as retry_after
   from directory.login_attempts, unnest(attempted_at) as kept(at)
   where key = $1::text and at <> 'infinity' and at > clock_timestamp() - make_interval(secs => $3::integer)`,
);

/** `$1` = keys of emails; forgets their failures from every address. */
export const forgetAttempts = statement(
  'sessions.forget-attempts',
  `delete from directory.login_attempts where split_part(key, '/', 1) = any($1::text[])`,
);
