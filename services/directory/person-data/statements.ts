/** Everything of one person in the directory: what is handed out, and its removal (`people export`, `people erase`). */
import { statement, type Statement } from '#libs/orm';
import type { personDataParts } from '../contract.ts';

export interface IdentifiedRow {
  readonly id: number;
  readonly name: string;
}

/** `$1` = id. */
export const findPersonById = statement('person-data.find-id', 'select id, name from directory.people where id = $1::integer');
/** `$1` = key of the workspace file. */
export const findPersonByKeyOf = statement('person-data.find-key', 'select id, name from directory.people where key = $1::text');
/** `$1` = email of the contact or of an account, case ignored. */
export const findPeopleByEmail = statement(
  'person-data.find-email',
  `select id, name from directory.people
   where id in (select id from directory.people where lower(btrim(contact ->> 'email')) = lower(btrim($1::text))
     union select person_id from directory.accounts where lower(email) = lower(btrim($1::text)))
   order by id`,
);
/** `$1` = id of a person who is gone; a row when an erasure removed them. */
export const findErasure = statement('person-data.find-erasure', 'select id from directory.erasures where person_id = $1::integer limit 1');

export interface IdentityRow {
  readonly emails: string[];
  readonly account_ids: number[];
  readonly telegram: string | null;
}

/** `$1` = person; one row with what other services know them by. */
export const findIdentity = statement(
  'person-data.identity',
  `select array(select distinct email from (
       select btrim(contact ->> 'email') as email from directory.people where id = $1::integer
       union all select email from directory.accounts where person_id = $1::integer) as known where email <> '' order by email) as emails,
     array(select id from directory.accounts where person_id = $1::integer order by id) as account_ids,
     (select contact ->> 'telegram_user_id' from directory.people where id = $1::integer) as telegram`,
);

const holonSql = (alias: string): string => `json_build_object('id', ${alias}.id, 'slug', ${alias}.slug, 'name', ${alias}.name)`;
const workflowSql = (alias: string): string => `'journey', j.slug, 'step', s.slug, 'follow_up_after', ${alias}.follow_up_after`;
const workflowJoinsSql = (alias: string): string =>
  `left join directory.journeys j on j.id = ${alias}.journey_id left join directory.journey_steps s on s.id = ${alias}.step_id`;

/** By part: `$1` = person, `$2` = after this id, `$3` = at most so many; id and JSON of each item. */
export const exportParts: Readonly<Record<(typeof personDataParts)[number], Statement>> = {
  person: part(
    'person',
    'p.id',
    `json_build_object('id', p.id, 'key', p.key, 'name', p.name, 'description', p.description, 'photo_url', p.photo_url,
       'actor_kind', p.actor_kind, 'contact', p.contact, 'infos', p.infos, 'created_at', directory.iso_utc(p.created_at),
       'updated_at', directory.iso_utc(p.updated_at))`,
    'directory.people p where p.id = $1::integer',
  ),
  accounts: part(
    'accounts',
    'a.id',
    `json_build_object('id', a.id, 'email', a.email, 'is_active', a.is_active, 'superuser', a.superuser, 'global_editor', a.global_editor,
       'groups', a.groups, 'created_at', directory.iso_utc(a.created_at), 'updated_at', directory.iso_utc(a.updated_at),
       'teams', coalesce((select json_agg(json_build_object('holon', ${holonSql('h')}, 'is_active', t.is_active) order by h.id)
         from directory.team_authority t join directory.holons h on h.id = t.holon_id where t.account_id = a.id), '[]'),
       'sessions', coalesce((select json_agg(json_build_object('created_at', directory.iso_utc(l.created_at),
           'expires_at', directory.iso_utc(l.expires_at), 'revoked_at', directory.iso_utc(l.revoked_at)) order by l.created_at)
         from directory.login_sessions l where l.account_id = a.id), '[]'))`,
    'directory.accounts a where a.person_id = $1::integer',
  ),
  memberships: part(
    'memberships',
    'm.id',
    `json_build_object('id', m.id, 'holon', ${holonSql('h')}, ${workflowSql('m')}, 'responsible_person_id', m.responsible_person_id)`,
    `directory.memberships m join directory.holons h on h.id = m.holon_id ${workflowJoinsSql('m')} where m.person_id = $1::integer`,
  ),
  'responsible-memberships': part(
    'responsible-memberships',
    'm.id',
    `json_build_object('id', m.id, 'person_id', m.person_id, 'holon', ${holonSql('h')}, ${workflowSql('m')})`,
    `directory.memberships m join directory.holons h on h.id = m.holon_id ${workflowJoinsSql('m')} where m.responsible_person_id = $1::integer`,
  ),
  'responsible-relationships': part(
    'responsible-relationships',
    'r.id',
    `json_build_object('id', r.id, 'from', ${holonSql('f')}, 'to', ${holonSql('t')}, ${workflowSql('r')})`,
    `directory.relationships r join directory.holons f on f.id = r.from_holon_id join directory.holons t on t.id = r.to_holon_id
     ${workflowJoinsSql('r')} where r.responsible_person_id = $1::integer`,
  ),
  notes: part(
    'notes',
    'n.id',
    `json_build_object('id', n.id, 'body', n.body, 'note_type', n.note_type, 'created_at', directory.iso_utc(n.created_at),
       'written_by_this_person', n.author_person_id is not distinct from $1::integer)`,
    `directory.notes n where n.id in (select note_id from directory.person_notes where person_id = $1::integer
       union select id from directory.notes where author_person_id = $1::integer)`,
  ),
  'step-config-changes': part(
    'step-config-changes',
    'c.id',
    `json_build_object('id', c.id, 'step_id', c.step_id, 'paths', c.paths, 'source', c.source, 'changed_at', directory.iso_utc(c.changed_at))`,
    'directory.step_config_audit c join directory.accounts a on a.id = c.account_id where a.person_id = $1::integer',
  ),
};

function part(name: string, key: string, item: string, rest: string): Statement {
  return statement(
    `person-data.${name}`,
    `select ${key} as id, ${item}::text as item from ${rest} and ${key} > $2::integer order by ${key} limit $3::integer`,
  );
}

/** `$1` = person; ids of the accounts that were active. */
export const deactivateAccounts = statement(
  'person-data.deactivate',
  `update directory.accounts set is_active = false, updated_at = clock_timestamp()
   where person_id = $1::integer and is_active returning id`,
);
/** `$1` = person. */
export const listAccountIds = statement('person-data.account-ids', 'select id from directory.accounts where person_id = $1::integer');

/**
 * Steps of the removal in their order; `$1` = person. Each returns a row for what it removed. Notes that stand on the feed of another person too
 * stay there; what the person wrote about others stays without an author.
 */
export const eraseSteps: Readonly<Record<string, Statement>> = {
  notes: statement(
    'person-data.erase-notes',
    `delete from directory.notes n using directory.person_notes own
     where own.person_id = $1::integer and n.id = own.note_id
       and not exists (select from directory.person_notes other where other.note_id = n.id and other.person_id <> $1::integer)
     returning n.id`,
  ),
  authored_notes: statement(
    'person-data.erase-authors',
    'update directory.notes set author_person_id = null where author_person_id = $1::integer returning id',
  ),
  memberships: statement('person-data.erase-memberships', 'delete from directory.memberships where person_id = $1::integer returning id'),
  accounts: statement('person-data.erase-accounts', 'delete from directory.accounts where person_id = $1::integer returning id'),
  people: statement('person-data.erase-person', 'delete from directory.people where id = $1::integer returning id'),
};

/** `$1` = person, `$2` = a name or an email: taken out of the notes on the person's feed, which stay where they are on others' feeds too. */
export const removeFromNotes = statement(
  'person-data.remove-from-notes',
  `update directory.notes n set body = replace(n.body, $2::text, '[removed]') from directory.person_notes own
   where own.person_id = $1::integer and n.id = own.note_id and position($2::text in n.body) > 0`,
);

/** `$1` = person, `$2` = operator, `$3` = counts as JSON. */
export const recordErasure = statement(
  'person-data.record-erasure',
  'insert into directory.erasures (person_id, operator, counts) values ($1::integer, $2::text, $3::jsonb)',
);
