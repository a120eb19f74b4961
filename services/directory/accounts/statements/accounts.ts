/** Account queries of the open API, the admin CLI and the gateway. Writes are in account-units.ts. */
import { sql, statement, t } from '#libs/infrastructure/sql';
import { bodyRow } from '../../lists/index.ts';

/** Constraint violated by two accounts with the same email, ignoring case. */
export const accountEmailUnique = 'accounts__email__unique';
/** Constraint violated by an account whose person does not exist. */
export const accountPersonForeign = 'accounts__person_id__foreign';

/** Constraint violated by team authority over a holon that does not exist. */
export const teamHolonForeign = 'team_authority__holon_id__foreign';

export const findAccountId = statement.maybeOne({
  name: 'accounts.find-id',
  params: { email: t.text },
  row: { id: t.integer },
  sql: ({ email }) => sql`select id from directory.accounts where lower(email) = lower(btrim(${email}))`,
});

/** Returns the accounts with these ids and the account of `email`. */
export const nameAccounts = statement.many({
  name: 'accounts.name',
  params: { ids: t.integer.array, email: t.text.nullable },
  row: { id: t.integer, email: t.text },
  sql: ({ ids, email }) => sql`
    select id, email from directory.accounts where id = any(${ids})
    union select id, email from directory.accounts where lower(email) = lower(btrim(${email})) order by id`,
});

/** Returns the account of a feed reader, for calls without an actor. */
export const findReader = statement.maybeOne({
  name: 'accounts.find-reader',
  params: { accountId: t.integer },
  row: {
    account_id: t.integer,
    person_id: t.integer.nullable,
    superuser: t.boolean,
    global_editor: t.boolean,
    coherence_access: t.boolean,
    is_active: t.boolean,
  },
  sql: ({ accountId }) => sql`
    select id as account_id, person_id, superuser, global_editor, superuser or 'coherence_users' = any(groups) as coherence_access, is_active
    from directory.accounts where id = ${accountId}`,
});

/** Counts the refused logins of the last hour, including those without an audit entry (P1). */
export const countFailedLogins = statement.one({
  name: 'accounts.failed-logins',
  row: { count: t.integer },
  sql: () => sql`
    select (count(*) + coalesce(sum((changes ->> 'refused_before_and_not_listed')::integer), 0))::integer as count from directory.audit_log
    where action = 'login' and outcome = 'refused' and at > statement_timestamp() - interval '1 hour'`,
});

/** Returns the person with a key of the workspace file. */
export const findPersonByKey = statement.maybeOne({
  name: 'accounts.find-person',
  params: { key: t.text },
  row: { id: t.integer },
  sql: ({ key }) => sql`select id from directory.people where key = ${key}`,
});

/** Creates the person of a program's account (K2). */
export const insertServicePerson = statement.one({
  name: 'accounts.insert-service-person',
  params: { name: t.text },
  row: { id: t.integer },
  sql: ({ name }) => sql`insert into directory.people (name, actor_kind) values (${name}, 'service') returning id`,
});

/** Account of the open API, for rows `a` of accounts, `p` of people and `i` of invitations. */
const accountSql = sql`json_build_object('id', a.id, 'email', a.email, 'person_id', a.person_id, 'person_name', p.name, 'active', a.is_active,
  'superuser', a.superuser, 'global_editor', a.global_editor, 'groups', a.groups,
  'teams', coalesce((select json_agg(json_build_object('holon_id', t.holon_id, 'active', t.is_active) order by t.holon_id)
    from directory.team_authority t where t.account_id = a.id), '[]'),
  'has_password', a.password_hash is not null, 'invitation_expires_at', directory.iso_utc(i.expires_at), 'created_at', directory.iso_utc(a.created_at))`;
const accountsSql = sql`directory.accounts a left join directory.people p on p.id = a.person_id
  left join directory.invitations i on i.account_id = a.id`;

/** Returns one account as `{account}`. */
export const getAccount = statement.maybeOne({
  name: 'accounts.get',
  params: { accountId: t.integer },
  row: bodyRow,
  sql: ({ accountId }) =>
    sql`select json_build_object('account', ${accountSql})::text as body from ${accountsSql} where a.id = ${accountId}`,
});

/** Returns the filtered accounts that follow the given email, each as JSON with its email. */
export const searchAccounts = statement.many({
  name: 'accounts.search',
  params: {
    text: t.text.nullable,
    after: t.text.nullable,
    isActive: t.boolean.nullable,
    superuser: t.boolean.nullable,
    group: t.text.nullable,
    limit: t.integer,
  },
  row: { item: t.text, email: t.text },
  sql: ({ text, after, isActive, superuser, group, limit }) => sql`
    select ${accountSql}::text as item, a.email from ${accountsSql}
    where (${text} is null or strpos(lower(a.email), lower(${text})) > 0) and (${after} is null or lower(a.email) > lower(${after}))
      and (${isActive} is null or a.is_active = ${isActive}) and (${superuser} is null or a.superuser = ${superuser})
      and (${group} is null or ${group} = any(a.groups))
    order by lower(a.email) limit ${limit}`,
});

/** Replaces the team authority of an account. @throws the driver's error if a holon does not exist (`constraintOf`) */
export const replaceTeams = statement.none({
  name: 'accounts.replace-teams',
  params: { accountId: t.integer, holonIds: t.integer.array, areActive: t.boolean.array },
  sql: ({ accountId, holonIds, areActive }) => sql`
    with removed as (
      delete from directory.team_authority where account_id = ${accountId} and holon_id <> all(${holonIds})
    )
    insert into directory.team_authority (account_id, holon_id, is_active)
    select ${accountId}, holon_id, is_active from unnest(${holonIds}, ${areActive}) as given(holon_id, is_active) order by holon_id
    on conflict (account_id, holon_id) do update set is_active = excluded.is_active
      where team_authority.is_active is distinct from excluded.is_active`,
});

/** Makes changes that can remove an active superuser run one after the other. */
export const lockSuperusers = statement.none({
  name: 'accounts.lock-superusers',
  sql: () => sql`select pg_advisory_xact_lock(hashtextextended('directory.superusers', 0))`,
});

export const hasSuperuser = statement.one({
  name: 'accounts.has-superuser',
  row: { found: t.boolean },
  sql: () => sql`select exists (select from directory.accounts where superuser and is_active) as found`,
});
