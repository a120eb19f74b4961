/** Moves everything of one person to another (rules/people#merge-people; I3, I5). */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';
import { emailKeySql, linkedinAddressSql, personDigestSql } from '../person-rows/index.ts';
import type { matchFields } from './contract.ts';

const merge = { mergedId: t.integer, intoId: t.integer };

/** Returns the memberships of both people in the same holon and journey. */
export const findDuplicateMemberships = statement.many({
  name: 'merging.find-doubled',
  params: merge,
  row: {
    stays: t.integer,
    goes: t.integer,
    key: t.text.nullable,
    follow_up_after: t.date.nullable,
    responsible_person_id: t.integer.nullable,
    /** Whether the surviving membership gets new values. */
    changes: t.boolean,
  },
  sql: ({ mergedId, intoId }) => sql`
    select low.id as stays, high.id as goes, coalesce(low.key, high.key) as key,
      greatest(low.follow_up_after, high.follow_up_after) as follow_up_after,
      coalesce(low.responsible_person_id, high.responsible_person_id) as responsible_person_id,
      (high.follow_up_after > low.follow_up_after or (low.follow_up_after is null and high.follow_up_after is not null)) is true
        or (low.responsible_person_id is null and high.responsible_person_id is not null) as changes
    from directory.memberships low join directory.memberships high
      on high.holon_id = low.holon_id and high.journey_id is not distinct from low.journey_id and high.id > low.id
    where (low.person_id, high.person_id) in ((${mergedId}, ${intoId}), (${intoId}, ${mergedId}))
    order by low.id`,
});

/** Returns the ids of rows that refer to the merged person, and memberships of the surviving one. */
export const findReferringRows = statement.one({
  name: 'merging.find-referring-rows',
  params: merge,
  row: { memberships: t.integer.array, relationships: t.integer.array, accounts: t.integer.array },
  sql: ({ mergedId, intoId }) => sql`
    select array(select id from directory.memberships
        where person_id in (${mergedId}, ${intoId}) or responsible_person_id = ${mergedId} order by id) as memberships,
      array(select id from directory.relationships where responsible_person_id = ${mergedId} order by id) as relationships,
      array(select id from directory.accounts where person_id = ${mergedId} order by id) as accounts`,
});

/** Moves the history of the merged person to the surviving one (W10). */
export const moveHistory = statement.none({
  name: 'merging.move-history',
  params: merge,
  sql: ({ mergedId, intoId }) =>
    sql`update directory.history set object_id = ${intoId} where object_kind = 'people' and object_id = ${mergedId}`,
});

/** Moves notes to the surviving membership. */
export const moveNotesOfDuplicates = statement.none({
  name: 'merging.move-notes-of-doubled',
  params: { stays: t.integer.array, goes: t.integer.array },
  sql: ({ stays, goes }) => sql`
    update directory.notes n set membership_id = d.stays from unnest(${stays}, ${goes}) as d(stays, goes) where n.membership_id = d.goes`,
});

export const dropMemberships = statement.none({
  name: 'merging.drop-memberships',
  params: { ids: t.integer.array },
  sql: ({ ids }) => sql`delete from directory.memberships where id = any(${ids})`,
});

/** Completes the surviving memberships. Expects a JSON list of rows of `findDuplicateMemberships`. */
export const completeMemberships = statement.none({
  name: 'merging.complete-memberships',
  params: { doubled: t.json },
  sql: ({ doubled }) => sql`
    update directory.memberships m
    set key = d.key, follow_up_after = d.follow_up_after, responsible_person_id = d.responsible_person_id
    from jsonb_to_recordset(${doubled}) as d(stays integer, key text, follow_up_after date, responsible_person_id integer)
    where m.id = d.stays`,
});

const moved = (name: string, text: (mergedId: SqlPart, intoId: SqlPart) => Sql) =>
  statement.many({
    name: `merging.${name}`,
    params: merge,
    row: { id: t.integer },
    sql: ({ mergedId, intoId }) => text(mergedId, intoId),
  });

const column = (table: string, name: string): ReturnType<typeof moved> => {
  const [of, what] = [sql.id(`directory.${table}`), sql.id(name)];
  return moved(
    `move-${table}-${name}`.replaceAll('_', '-'),
    (mergedId, intoId) => sql`update ${of} set ${what} = ${intoId} where ${what} = ${mergedId} returning id`,
  );
};

/** Statements that move rows, by kind. Each returns one row per moved row. */
export const moves = {
  memberships: column('memberships', 'person_id'),
  responsible_memberships: column('memberships', 'responsible_person_id'),
  responsible_relationships: column('relationships', 'responsible_person_id'),
  authored_notes: column('notes', 'author_person_id'),
  notes: moved(
    'move-feed',
    (mergedId, intoId) => sql`
      insert into directory.person_notes (person_id, note_id, created_at)
      select ${intoId}, note_id, created_at from directory.person_notes where person_id = ${mergedId}
      on conflict do nothing returning note_id as id`,
  ),
  accounts: column('accounts', 'person_id'),
} as const;

/**
 * Records aliases of the merged person (different email and Telegram user, keys) and moves the person's earlier
 * aliases.
 */
export const recordAliases = statement.none({
  name: 'merging.keep-aliases',
  params: merge,
  sql: ({ mergedId, intoId }) => sql`
    with gone as (select * from directory.people where id = ${mergedId}),
    inherited as (update directory.person_aliases set person_id = ${intoId} where person_id = ${mergedId})
    insert into directory.person_aliases (kind, value, person_id)
    select given.kind, given.value, ${intoId}
    from gone, lateral (values ('email', nullif(lower(btrim(gone.contact ->> 'email')), '')), ('key', gone.key), ('origin', gone.origin_key),
        ('telegram', nullif(btrim(gone.contact ->> 'telegram_user_id'), '')))
      as given(kind, value)
    where given.value is not null
    on conflict (kind, value) do update set person_id = excluded.person_id`,
});

/**
 * Fills missing values of the surviving person: contact, description, photo, infos, and the earlier creation date.
 * Existing values remain unchanged. `changed`: whether any value was filled.
 */
export const fillGaps = statement.one({
  name: 'merging.fill-gaps',
  params: merge,
  row: { changed: t.boolean },
  sql: ({ mergedId, intoId }) => sql`
    update directory.people p
    set contact = g.contact || coalesce((select jsonb_object_agg(key, value) from jsonb_each(p.contact)
          where value <> 'null' and btrim(value #>> '{}') <> ''), '{}'),
      infos = g.infos || p.infos, photo_url = coalesce(nullif(p.photo_url, ''), g.photo_url),
      description = case when p.description = '' then g.description else p.description end,
      created_at = least(p.created_at, g.created_at), updated_at = greatest(clock_timestamp(), p.updated_at + interval '1 microsecond')
    from directory.people g, directory.people before where p.id = ${intoId} and before.id = p.id and g.id = ${mergedId}
    returning (p.contact, p.infos, p.photo_url, p.description)
      is distinct from (before.contact, before.infos, before.photo_url, before.description) as changed`,
});

export const dropPerson = statement.none({
  name: 'merging.drop-person',
  params: { mergedId: t.integer },
  sql: ({ mergedId }) => sql`delete from directory.people where id = ${mergedId}`,
});

/**
 * Records the merge. Call it before either person's row changes. Earlier merges into the merged person now point to the
 * surviving person.
 */
export const recordMerge = statement.none({
  name: 'merging.record',
  params: merge,
  sql: ({ mergedId, intoId }) => sql`
    with earlier as (update directory.merged_people set into_id = ${intoId} where into_id = ${mergedId})
    insert into directory.merged_people (gone_id, into_id, were)
    select ${mergedId}, ${intoId}, jsonb_agg(jsonb_build_object('person_id', p.id, 'digest', ${personDigestSql('p')}))
    from directory.people p where p.id in (${mergedId}, ${intoId})
    on conflict (gone_id) do update set into_id = excluded.into_id, were = excluded.were`,
});

export const findMergedByIds = statement.many({
  name: 'merging.find-merged-by-ids',
  params: { ids: t.integer.array },
  row: { gone_id: t.integer, into_id: t.integer },
  sql: ({ ids }) =>
    sql`select gone_id, into_id from directory.merged_people where gone_id = any(${ids}) order by gone_id`,
});

/** Returns people of whom several have one address, after the given field and value. Each field is read in the order of its index. */
export const listDuplicates = statement.many({
  name: 'merging.duplicates',
  params: { afterField: t.text.nullable, afterValue: t.text.nullable, limit: t.integer },
  row: { field: t.text, value: t.text, item: t.text },
  sql: ({ afterField, afterValue, limit }) => {
    const arm = (field: (typeof matchFields)[number], address: Sql, key: Sql): Sql => sql`
      (select ${sql.literal(field)} as field, ${key} as value, json_agg(json_build_object('id', id, 'name', name) order by id) as people
       from directory.people
       where ${address} is not null and ${key} is not null and ${sql.literal(field)} >= coalesce(${afterField}, '')
         and ${key} > case when ${afterField} = ${sql.literal(field)} then ${afterValue} else '' end
       group by ${key} having count(*) > 1 order by ${key} limit ${limit})`;
    const email = sql`contact ->> 'email'`;
    const linkedin = sql`contact ->> 'linkedin'`;
    return sql`
      select field, value, json_build_object('match_field', field, 'match_value', value, 'people', people)::text as item
      from (${arm('contact.email', email, emailKeySql(email))} union all ${arm('contact.linkedin', linkedin, linkedinAddressSql(linkedin))}) as given
      order by field, value limit ${limit}`;
  },
});
