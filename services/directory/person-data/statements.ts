/** Statements that export and erase one person (`people export`, `people erase`). */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';
import { emailKeySql, personDigestSql, phoneDigitsSql } from '../person-rows/index.ts';
import type { personDataParts } from './contract.ts';

const identifiedRow = { id: t.integer, name: t.text };

export const findPersonById = statement.maybeOne({
  name: 'person-data.find-id',
  params: { id: t.integer },
  row: identifiedRow,
  sql: ({ id }) => sql`select id, name from directory.people where id = ${id}`,
});
/** Returns the person with this key of the workspace file. */
export const findPersonByKeyOf = statement.maybeOne({
  name: 'person-data.find-key',
  params: { key: t.text },
  row: identifiedRow,
  sql: ({ key }) => sql`select id, name from directory.people where key = ${key}`,
});
/** Returns the people with this email in the contact or in an account, ignoring case. */
export const findPeopleByEmail = statement.many({
  name: 'person-data.find-email',
  params: { email: t.text, limit: t.integer },
  row: identifiedRow,
  sql: ({ email, limit }) => sql`
    select id, name from directory.people
    where id in (select id from directory.people where contact ->> 'email' is not null and ${emailKeySql(sql`contact ->> 'email'`)} = ${emailKeySql(email)}
      union select person_id from directory.accounts where lower(email) = lower(btrim(${email})))
    order by id limit ${limit}`,
});
/** Returns the people with this phone number, compared by digits as in the search (D87). */
export const findPeopleByPhone = statement.many({
  name: 'person-data.find-phone',
  params: { phone: t.text, limit: t.integer },
  row: identifiedRow,
  sql: ({ phone, limit }) => sql`
    select id, name from directory.people
    where contact ->> 'phone' is not null and ${phoneDigitsSql(sql`contact ->> 'phone'`)} = ${phoneDigitsSql(phone)}
    order by id limit ${limit}`,
});
/** Returns the people with this name, folded as in the search (D87). */
export const findPeopleByName = statement.many({
  name: 'person-data.find-name',
  params: { name: t.text, limit: t.integer },
  row: identifiedRow,
  sql: ({ name, limit }) => sql`
    select id, name from directory.people where search_name = directory.fold_start(${name}, 600) order by id limit ${limit}`,
});
/** Returns the surviving person of a merge by the merged person's email or key (I5). */
export const findPersonByAlias = statement.maybeOne({
  name: 'person-data.find-alias',
  params: { alias: t.text },
  row: identifiedRow,
  sql: ({ alias }) => sql`
    select id, name from directory.people where id in (select person_id from directory.person_aliases
      where (kind = 'key' and value = ${alias}) or (kind = 'email' and ${emailKeySql(sql`value`)} = ${emailKeySql(alias)}))
    order by id limit 1`,
});
/** Returns the surviving person of a merged person. */
export const findMergedInto = statement.maybeOne({
  name: 'person-data.find-merged-into',
  params: { mergedId: t.integer },
  row: identifiedRow,
  sql: ({ mergedId }) => sql`
    select id, name from directory.people where id = (select into_id from directory.merged_people where gone_id = ${mergedId})`,
});
/** Returns the person with this id, former email or former workspace key, who was merged into `intoId`. */
export const findFormerId = statement.maybeOne({
  name: 'person-data.find-former-id',
  params: { identifier: t.text, intoId: t.integer },
  row: { gone_id: t.integer },
  sql: ({ identifier, intoId }) => sql`
    select gone_id from directory.merged_people
    where into_id = ${intoId} and (gone_id::text = ${identifier} or exists (select from directory.person_aliases a where a.person_id = ${intoId}
      and ((a.kind = 'email' and ${emailKeySql(sql`a.value`)} = ${emailKeySql(identifier)}) or (a.kind = 'key' and a.value = ${identifier}))))
    order by (gone_id::text = ${identifier}) desc, merged_at desc limit 1`,
});
/** Returns a row if the person was erased. */
export const findErasure = statement.maybeOne({
  name: 'person-data.find-erasure',
  params: { personId: t.integer },
  row: { id: t.integer },
  sql: ({ personId }) => sql`select id from directory.erasures where person_id = ${personId} limit 1`,
});

/** Returns the identifiers that other services use for the person. */
export const findIdentity = statement.one({
  name: 'person-data.identity',
  params: { personId: t.integer },
  row: {
    emails: t.text.array,
    account_ids: t.integer.array,
    telegram: t.text.array,
    digest: t.text.nullable,
    former: t.text,
  },
  sql: ({ personId }) => sql`
    select array(select distinct email from (
        select btrim(contact ->> 'email') as email from directory.people where id = ${personId}
        union all select email from directory.accounts where person_id = ${personId}
        union all select value from directory.person_aliases where kind = 'email' and person_id = ${personId}) as known where email <> '' order by email) as emails,
      array(select id from directory.accounts where person_id = ${personId} order by id) as account_ids,
      array(select distinct telegram from (
        select btrim(contact ->> 'telegram_user_id') as telegram from directory.people where id = ${personId}
        union all select value from directory.person_aliases where kind = 'telegram' and person_id = ${personId}) as known
        where telegram ~ '^[1-9][0-9]{0,14}$' order by telegram) as telegram,
      (select ${personDigestSql('p')} from directory.people p where p.id = ${personId}) as digest,
      (select coalesce(jsonb_agg(distinct entry.value), '[]')::text
        from directory.merged_people m, jsonb_array_elements(m.were) as entry where m.into_id = ${personId}) as former`,
});

const holonSql = (alias: string): Sql => {
  const row = sql.id(alias);
  return sql`json_build_object('id', ${row}.id, 'slug', ${row}.slug, 'name', ${row}.name)`;
};
const workflowSql = (alias: string): Sql =>
  sql`'journey', j.slug, 'step', s.slug, 'follow_up_after', ${sql.id(alias)}.follow_up_after`;
const workflowJoinsSql = (alias: string): Sql =>
  sql`left join directory.journeys j on j.id = ${sql.id(alias)}.journey_id left join directory.journey_steps s on s.id = ${sql.id(alias)}.step_id`;

/** Statements that return the export items after an id, by part. */
export const ownExportParts = {
  person: part(
    'person',
    sql`p.id`,
    sql`json_build_object('id', p.id, 'key', p.key, 'name', p.name, 'description', p.description, 'photo_url', p.photo_url,
       'actor_kind', p.actor_kind, 'contact', p.contact, 'infos', p.infos,
       'also_known_by', coalesce((select json_agg(json_build_object('kind', f.kind, 'value', f.value) order by f.kind, f.value)
         from directory.person_aliases f where f.person_id = p.id), '[]'), 'created_at', directory.iso_utc(p.created_at),
       'updated_at', directory.iso_utc(p.updated_at))`,
    (personId) => sql`directory.people p where p.id = ${personId}`,
  ),
  accounts: part(
    'accounts',
    sql`a.id`,
    sql`json_build_object('id', a.id, 'email', a.email, 'is_active', a.is_active, 'superuser', a.superuser, 'global_editor', a.global_editor,
       'groups', a.groups, 'created_at', directory.iso_utc(a.created_at), 'updated_at', directory.iso_utc(a.updated_at),
       'teams', coalesce((select json_agg(json_build_object('holon', ${holonSql('h')}, 'is_active', t.is_active) order by h.id)
         from directory.team_authority t join directory.holons h on h.id = t.holon_id where t.account_id = a.id), '[]'),
       'sessions', coalesce((select json_agg(json_build_object('created_at', directory.iso_utc(l.created_at),
           'expires_at', directory.iso_utc(l.expires_at), 'revoked_at', directory.iso_utc(l.revoked_at)) order by l.created_at)
         from directory.login_sessions l where l.account_id = a.id), '[]'),
       'keys', coalesce((select json_agg(json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes,
           'created_at', directory.iso_utc(k.created_at), 'expires_at', directory.iso_utc(k.expires_at),
           'last_used_at', directory.iso_utc(k.last_used_at), 'revoked_at', directory.iso_utc(k.revoked_at)) order by k.created_at, k.id)
         from directory.service_keys k where k.account_id = a.id), '[]'),
       'identities', coalesce((select json_agg(json_build_object('issuer', i.issuer, 'subject', i.subject, 'linked_by', i.linked_by,
           'linked_at', directory.iso_utc(i.linked_at)) order by i.linked_at, i.issuer, i.subject)
         from directory.identities i where i.account_id = a.id), '[]'))`,
    (personId) => sql`directory.accounts a where a.person_id = ${personId}`,
  ),
  memberships: part(
    'memberships',
    sql`m.id`,
    sql`json_build_object('id', m.id, 'holon', ${holonSql('h')}, ${workflowSql('m')}, 'responsible_person_id', m.responsible_person_id)`,
    (personId) =>
      sql`directory.memberships m join directory.holons h on h.id = m.holon_id ${workflowJoinsSql('m')} where m.person_id = ${personId}`,
  ),
  'responsible-memberships': part(
    'responsible-memberships',
    sql`m.id`,
    sql`json_build_object('id', m.id, 'person_id', m.person_id, 'holon', ${holonSql('h')}, ${workflowSql('m')})`,
    (personId) =>
      sql`directory.memberships m join directory.holons h on h.id = m.holon_id ${workflowJoinsSql('m')} where m.responsible_person_id = ${personId}`,
  ),
  'responsible-relationships': part(
    'responsible-relationships',
    sql`r.id`,
    sql`json_build_object('id', r.id, 'from', ${holonSql('f')}, 'to', ${holonSql('t')}, ${workflowSql('r')})`,
    (
      personId,
    ) => sql`directory.relationships r join directory.holons f on f.id = r.from_holon_id join directory.holons t on t.id = r.to_holon_id
     ${workflowJoinsSql('r')} where r.responsible_person_id = ${personId}`,
  ),
  notes: part(
    'notes',
    sql`n.id`,
    (
      personId,
    ) => sql`json_build_object('id', n.id, 'body', n.body, 'note_type', n.note_type, 'created_at', directory.iso_utc(n.created_at),
       'written_by_this_person', n.author_person_id is not distinct from ${personId})`,
    (
      personId,
    ) => sql`directory.notes n where n.id in (select note_id from directory.person_notes where person_id = ${personId}
       union select id from directory.notes where author_person_id = ${personId})`,
  ),
  'step-config-changes': part(
    'step-config-changes',
    sql`c.id`,
    sql`json_build_object('id', c.id, 'step_id', c.step_id, 'paths', c.paths, 'source', c.source, 'changed_at', directory.iso_utc(c.changed_at))`,
    (personId) =>
      sql`directory.step_config_audit c join directory.accounts a on a.id = c.account_id where a.person_id = ${personId}`,
  ),
} as const satisfies Readonly<Record<(typeof personDataParts)[number], unknown>>;

function part(name: string, key: Sql, item: Sql | ((personId: SqlPart) => Sql), rest: (personId: SqlPart) => Sql) {
  return statement.many({
    name: `person-data.${name}`,
    params: { personId: t.integer, after: t.integer, limit: t.integer },
    row: { id: t.integer, item: t.text },
    sql: ({ personId, after, limit }) => {
      const json = typeof item === 'function' ? item(personId) : item;
      return sql`select ${key} as id, ${json}::text as item from ${rest(personId)} and ${key} > ${after} order by ${key} limit ${limit}`;
    },
  });
}

/** Deactivates the person's accounts and returns the accounts that were active. */
export const deactivateAccounts = statement.many({
  name: 'person-data.deactivate',
  params: { personId: t.integer },
  row: { id: t.integer },
  sql: ({ personId }) => sql`
    update directory.accounts set is_active = false, updated_at = clock_timestamp()
    where id in (select id from directory.accounts where person_id = ${personId} order by id for update) and is_active returning id`,
});
export const listAccountIds = statement.many({
  name: 'person-data.account-ids',
  params: { personId: t.integer },
  row: { id: t.integer },
  sql: ({ personId }) => sql`select id from directory.accounts where person_id = ${personId}`,
});

export const listMemberships = eraseStep(
  'person-data.memberships-of-person',
  (personId) => sql`select id from directory.memberships where person_id = ${personId} order by id`,
);

/** Statements that return the memberships and relationships that lose their responsible person. */
export const listResponsible = {
  memberships: eraseStep(
    'person-data.responsible-memberships-of-others',
    (personId) =>
      sql`select id from directory.memberships where responsible_person_id = ${personId} and person_id <> ${personId} order by id`,
  ),
  relationships: eraseStep(
    'person-data.responsible-relationships-of-others',
    (personId) => sql`select id from directory.relationships where responsible_person_id = ${personId} order by id`,
  ),
};

/**
 * Erasure steps in order. Each step returns one row per removed row. Notes in feeds of other people remain; notes that
 * the person wrote lose their author.
 */
export const eraseSteps = {
  notes: eraseStep(
    'person-data.erase-notes',
    (personId) => sql`delete from directory.notes n using directory.person_notes own
     where own.person_id = ${personId} and n.id = own.note_id
       and not exists (select from directory.person_notes other where other.note_id = n.id and other.person_id <> ${personId})
     returning n.id`,
  ),
  authored_notes: eraseStep(
    'person-data.erase-authors',
    (personId) =>
      sql`update directory.notes set author_person_id = null where author_person_id = ${personId} returning id`,
  ),
  memberships: eraseStep(
    'person-data.erase-memberships',
    (personId) => sql`delete from directory.memberships where person_id = ${personId} returning id`,
  ),
  accounts: eraseStep(
    'person-data.erase-accounts',
    (personId) => sql`delete from directory.accounts where person_id = ${personId} returning id`,
  ),
  people: eraseStep(
    'person-data.erase-person',
    (personId) => sql`delete from directory.people where id = ${personId} returning id`,
  ),
};

function eraseStep(name: string, text: (personId: SqlPart) => Sql) {
  return statement.many({
    name,
    params: { personId: t.integer },
    row: { id: t.integer },
    sql: ({ personId }) => text(personId),
  });
}

/** Removes a name or email from notes in the person's feed. These notes remain in other feeds. */
export const removeFromNotes = statement.none({
  name: 'person-data.remove-from-notes',
  params: { personId: t.integer, text: t.text },
  sql: ({ personId, text }) => sql`
    update directory.notes n set body = replace(n.body, ${text}, '[removed]') from directory.person_notes own
    where own.person_id = ${personId} and n.id = own.note_id and position(${text} in n.body) > 0`,
});

/**
 * Removes the history of a person, and of memberships and accounts of the person that exist or were deleted. Accounts
 * that now belong to another person stay (W10).
 */
export const removeHistoryOfPerson = statement.none({
  name: 'person-data.remove-history',
  params: { personId: t.integer, personIds: t.integer.array },
  sql: ({ personId, personIds }) => sql`
    delete from directory.history h
    where (h.object_kind = 'people' and h.object_id = any(${personIds}))
      or (h.object_kind = 'memberships' and h.object_id in (select id from directory.memberships where person_id = ${personId}
        union select object_id from directory.history d where d.object_kind = 'memberships' and d.action = 'delete'
          and d.changes -> 'person_id' ->> 'old' = any(${personIds}::text[])))
      or (h.object_kind = 'accounts' and h.object_id in (select id from directory.accounts where person_id = ${personId}
        union select object_id from directory.history d where d.object_kind = 'accounts' and d.action = 'delete'
          and d.changes -> 'person_id' ->> 'old' = any(${personIds}::text[])))`,
});

export const recordErasure = statement.none({
  name: 'person-data.record-erasure',
  params: { personId: t.integer, operator: t.text, counts: t.json },
  sql: ({ personId, operator, counts }) =>
    sql`insert into directory.erasures (person_id, operator, counts) values (${personId}, ${operator}, ${counts})`,
});
