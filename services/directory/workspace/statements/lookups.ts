/** Statements that look up the keys of a workspace document, check the trees, and read uploaded chunks of documents. */
import { type RowOf, type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { infoFieldGroupsSql } from '../../classes/index.ts';
import type { ReferencedList } from '../rules/file-changes.ts';
import type { ListName } from '../rules/vocabulary.ts';

const keyRow = { key: t.text, id: t.integer };

function byKey(list: ListName, table: string, key: Sql) {
  return statement.many({
    name: `workspace.find-${list}`,
    params: { keys: t.text.array },
    row: keyRow,
    sql: ({ keys }) => sql`select ${key} as key, id from ${sql.id(`directory.${table}`)} where ${key} = any(${keys})`,
  });
}

export const findByKey = {
  spheres: byKey('spheres', 'spheres', sql`key`),
  classes: byKey('classes', 'object_classes', sql`slug`),
  journeys: byKey('journeys', 'journeys', sql`slug`),
  people: byKey('people', 'people', sql`key`),
  holons: byKey('holons', 'holons', sql`slug`),
  accounts: byKey('accounts', 'accounts', sql`lower(email)`),
  memberships: byKey('memberships', 'memberships', sql`key`),
  relationships: byKey('relationships', 'relationships', sql`key`),
} as const satisfies Record<ListName, unknown>;

function byId(list: string, table: string, key: Sql) {
  return statement.many({
    name: `workspace.name-${list}`,
    params: { ids: t.integer.array },
    row: { id: t.integer, key: t.text.nullable },
    sql: ({ ids }) => sql`select id, ${key} as key from ${sql.id(`directory.${table}`)} where id = any(${ids})`,
  });
}

/** Statements that return the keys of objects that other objects of a workspace refer to. */
export const findKeys = {
  spheres: byId('spheres', 'spheres', sql`key`),
  classes: byId('classes', 'object_classes', sql`slug`),
  journeys: byId('journeys', 'journeys', sql`slug`),
  people: byId('people', 'people', sql`key`),
  holons: byId('holons', 'holons', sql`slug`),
  steps: byId('steps', 'journey_steps', sql`slug`),
} as const satisfies Partial<Record<ReferencedList, unknown>>;

/** Returns the keys of merged people, with the surviving person (I5). */
export const findFormerKeys = statement.many({
  name: 'workspace.find-former-keys',
  params: { keys: t.text.array },
  row: keyRow,
  sql: ({ keys }) =>
    sql`select value as key, person_id as id from directory.person_aliases where kind = 'key' and value = any(${keys})`,
});

const stepRow = { id: t.integer, journey_id: t.integer, slug: t.text, position: t.integer, is_archived: t.boolean };
const questionRow = {
  id: t.integer,
  journey_id: t.integer,
  text: t.text,
  position: t.integer,
  is_retired: t.boolean,
};
export type QuestionRow = RowOf<typeof questionRow>;

export const findSteps = statement.many({
  name: 'workspace.find-steps',
  params: { journeyIds: t.integer.array },
  row: stepRow,
  sql: ({ journeyIds }) => sql`
    select id, journey_id, slug, position, is_archived from directory.journey_steps where journey_id = any(${journeyIds})
    order by journey_id, position, id`,
});

/** Returns questions in their order. */
export const findQuestions = statement.many({
  name: 'workspace.find-questions',
  params: { journeyIds: t.integer.array },
  row: questionRow,
  sql: ({ journeyIds }) => sql`
    select id, journey_id, text, position, is_retired from directory.journey_questions where journey_id = any(${journeyIds})
    order by journey_id, position, id`,
});

const edgeRow = {
  id: t.integer,
  key: t.text.nullable,
  left_id: t.integer,
  right_id: t.integer,
  journey_id: t.integer.nullable,
};

function edges(name: 'memberships' | 'relationships', left: string, right: string) {
  const [table, fromId, toId] = [sql.id(`directory.${name}`), sql.id(`e.${left}`), sql.id(`e.${right}`)];
  const columns = sql`e.id, e.key, ${fromId} as left_id, ${toId} as right_id, e.journey_id`;
  return statement.many({
    name: `workspace.find-edges-${name}`,
    params: { pairs: t.json, keys: t.text.array },
    row: edgeRow,
    sql: ({ pairs, keys }) => sql`
     select * from (
       select ${columns} from (select distinct left_id, right_id from jsonb_to_recordset(${pairs}) as i(left_id integer, right_id integer)) as i
         join ${table} e on ${fromId} = i.left_id and ${toId} = i.right_id
       union
       select ${columns} from ${table} e where e.key = any(${keys})
     ) as found order by key nulls first, id`,
  });
}

/**
 * Finds memberships or relationships by a JSON list of `{left_id, right_id}` and by keys. Rows without key are first,
 * since they match an item without key.
 */
export const findEdges = {
  memberships: edges('memberships', 'person_id', 'holon_id'),
  relationships: edges('relationships', 'from_holon_id', 'to_holon_id'),
} as const;

/** Returns password hashes by lower-case emails. */
export const findHashes = statement.many({
  name: 'workspace.find-hashes',
  params: { emails: t.text.array },
  row: { email: t.text, password_hash: t.text.nullable },
  sql: ({ emails }) =>
    sql`select lower(email) as email, password_hash from directory.accounts where lower(email) = any(${emails})`,
});

/** Returns the effective `info_field_groups` (JSON) for each class of these holons. */
export const findClassFields = statement.many({
  name: 'workspace.find-class-fields',
  params: { holonIds: t.integer.array },
  row: { holon_ids: t.integer.array, info_field_groups: t.text },
  sql: ({ holonIds }) => sql`
    select used.holon_ids, ${infoFieldGroupsSql('c')}::text as info_field_groups
    from (select class_id, array_agg(id) as holon_ids from directory.holons where id = any(${holonIds}) group by class_id) as used
    join directory.object_classes c on c.id = used.class_id`,
});

/** Grants team authority for a JSON list of `{account_id, holon_id, is_active}`. Returns new and changed rows. */
export const grantTeams = statement.many({
  name: 'workspace.grant-teams',
  params: { teams: t.json },
  row: { account_id: t.integer, holon_id: t.integer, is_active: t.boolean },
  sql: ({ teams }) => sql`
    insert into directory.team_authority (account_id, holon_id, is_active)
    select i.account_id, i.holon_id, i.is_active from jsonb_to_recordset(${teams}) as i(account_id integer, holon_id integer, is_active boolean)
    on conflict (account_id, holon_id) do update set is_active = excluded.is_active
      where team_authority.is_active is distinct from excluded.is_active
    returning account_id, holon_id, is_active`,
});

/** Returns classes that are their own ancestor. */
export const findClassCycles = statement.many({
  name: 'workspace.find-class-cycles',
  row: { id: t.integer },
  sql: () => sql`
    with recursive up as (
      select id as start_id, parent_id, 1 as depth from directory.object_classes where parent_id is not null
      union all
      select up.start_id, c.parent_id, up.depth + 1 from up join directory.object_classes c on c.id = up.parent_id
      where c.parent_id is not null and up.parent_id <> up.start_id and up.depth < 1000
    ) select distinct start_id as id from up where parent_id = start_id`,
});

/** Returns holons among the ids that are their own ancestor. */
export const findHolonCycles = statement.many({
  name: 'workspace.find-holon-cycles',
  params: { ids: t.integer.array },
  row: { id: t.integer },
  sql: ({ ids }) => sql`
    with recursive up as (
      select id as start_id, parent_id, 1 as depth from directory.holons where id = any(${ids}) and parent_id is not null
      union all
      select up.start_id, h.parent_id, up.depth + 1 from up join directory.holons h on h.id = up.parent_id
      where h.parent_id is not null and up.parent_id <> up.start_id and up.depth < 10000
    ) select distinct start_id as id from up where parent_id = start_id`,
});

/** Recomputes `ancestor_ids` (nearest first) and inherited flags of all classes (D48). */
export const deriveClasses = statement.none({
  name: 'workspace.derive-classes',
  sql: () => sql`
    with recursive tree as (
      select id, array[]::integer[] as ancestor_ids, private, name_read_only from directory.object_classes where parent_id is null
      union all
      select c.id, tree.id || tree.ancestor_ids, c.private or tree.private, c.name_read_only or tree.name_read_only
      from directory.object_classes c join tree on tree.id = c.parent_id
    )
    update directory.object_classes c
    set ancestor_ids = tree.ancestor_ids, effective_private = tree.private, effective_name_read_only = tree.name_read_only
    from tree where tree.id = c.id
      and (c.ancestor_ids, c.effective_private, c.effective_name_read_only) is distinct from (tree.ancestor_ids, tree.private, tree.name_read_only)`,
});

/** Defers the check of parents until the commit, since a parent can follow its children in the file and its batches. */
export const deferParents = statement.none({
  name: 'workspace.defer-parents',
  sql: () => sql`set constraints all deferred`,
});

export const storeUpload = statement.none({
  name: 'workspace.keep-upload',
  params: { uploadId: t.text, part: t.integer, text: t.text },
  sql: ({ uploadId, part, text }) => sql`
    insert into directory.workspace_uploads (upload_id, part, body) values (${uploadId}, ${part}, ${text})
    on conflict (upload_id, part) do update set body = excluded.body, created_at = clock_timestamp()`,
});

/** Returns the chunks of an upload, in order. */
export const findUpload = statement.many({
  name: 'workspace.find-upload',
  params: { uploadId: t.text },
  row: { part: t.integer, body: t.text },
  sql: ({ uploadId }) =>
    sql`select part, body from directory.workspace_uploads where upload_id = ${uploadId} order by part`,
});

export const deleteUpload = statement.none({
  name: 'workspace.delete-upload',
  params: { uploadId: t.text },
  sql: ({ uploadId }) => sql`delete from directory.workspace_uploads where upload_id = ${uploadId}`,
});
