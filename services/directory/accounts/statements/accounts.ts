/** Account queries of the admin CLI and the gateway. Writes are in account-units.ts. */
import { sql, statement, t } from '#libs/sql';

/** Constraint violated by two accounts with the same email, ignoring case. */
export const accountEmailUnique = 'accounts__email__unique';
/** Constraint violated by an account whose person does not exist. */
export const accountPersonForeign = 'accounts__person_id__foreign';

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

/** Returns the filtered accounts that follow the given email, each as JSON with its email. */
export const listAccounts = statement.many({
  name: 'accounts.list',
  params: {
    after: t.text.nullable,
    isActive: t.boolean.nullable,
    superuser: t.boolean.nullable,
    group: t.text.nullable,
    limit: t.integer,
  },
  row: { item: t.text, email: t.text },
  sql: ({ after, isActive, superuser, group, limit }) => sql`
    select json_build_object('id', a.id, 'email', a.email, 'person_id', a.person_id, 'is_active', a.is_active, 'superuser', a.superuser,
      'global_editor', a.global_editor, 'groups', a.groups, 'person_name', p.name, 'has_password', a.password_hash is not null,
      'created_at', directory.iso_utc(a.created_at))::text as item, a.email
    from directory.accounts a left join directory.people p on p.id = a.person_id
    where (${after} is null or lower(a.email) > lower(${after})) and (${isActive} is null or a.is_active = ${isActive})
      and (${superuser} is null or a.superuser = ${superuser}) and (${group} is null or ${group} = any(a.groups))
    order by lower(a.email) limit ${limit}`,
});
