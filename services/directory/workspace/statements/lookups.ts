/** What the database already has of the things that a workspace document names. */
import { type Sql, sql, statement, t } from '#libs/sql';
import { infoFieldGroupsSql } from '../../info-field-groups.ts';
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

/** Keys of people who were merged, and who they are now (I5). */
export const findFormerKeys = statement.many({
  name: 'workspace.find-former-keys',
  params: { keys: t.text.array },
  row: keyRow,
  sql: ({ keys }) => sql`select value as key, person_id as id from directory.person_aliases where kind = 'key' and value = any(${keys})`,
});

const stepRow = { id: t.integer, journey_id: t.integer, slug: t.text, position: t.integer, is_archived: t.boolean };
const questionRow = { id: t.integer, journey_id: t.integer, text: t.text, is_retired: t.boolean };

export const findSteps = statement.many({
  name: 'workspace.find-steps',
  params: { journeyIds: t.integer.array },
  row: stepRow,
  sql: ({ journeyIds }) => sql`
    select id, journey_id, slug, position, is_archived from directory.journey_steps where journey_id = any(${journeyIds})
    order by journey_id, position, id`,
});

/** Retired questions last, so that a text that comes back finds the living one first. */
export const findQuestions = statement.many({
  name: 'workspace.find-questions',
  params: { journeyIds: t.integer.array },
  row: questionRow,
  sql: ({ journeyIds }) => sql`
    select id, journey_id, text, is_retired from directory.journey_questions where journey_id = any(${journeyIds})
    order by journey_id, is_retired, position, id`,
});

const edgeRow = { id: t.integer, key: t.text.nullable, left_id: t.integer, right_id: t.integer, journey_id: t.integer.nullable };

function edges(name: 'memberships' | 'relationships', left: string, right: string) {
  const [table, leftId, rightId] = [sql.id(`directory.${name}`), sql.id(`e.${left}`), sql.id(`e.${right}`)];
  const columns = sql`e.id, e.key, ${leftId} as left_id, ${rightId} as right_id, e.journey_id`;
  return statement.many({
    name: `workspace.find-edges-${name}`,
    params: { pairs: t.json, keys: t.text.array },
    row: edgeRow,
    sql: ({ pairs, keys }) => sql`
     select * from (
       select ${columns} from (select distinct left_id, right_id from jsonb_to_recordset(${pairs}) as i(left_id integer, right_id integer)) as i
         join ${table} e on ${leftId} = i.left_id and ${rightId} = i.right_id
       union
       select ${columns} from ${table} e where e.key = any(${keys})
     ) as found order by key nulls first, id`,
  });
}

/** By a JSON list of `{left_id, right_id}`, and by keys. Keyless rows first, so that they are the natural match of a triple. */
export const findEdges = {
  memberships: edges('memberships', 'person_id', 'holon_id'),
  relationships: edges('relationships', 'from_holon_id', 'to_holon_id'),
} as const;

/** By emails in lower case. */
export const findHashes = statement.many({
  name: 'workspace.find-hashes',
  params: { emails: t.text.array },
  row: { email: t.text, password_hash: t.text.nullable },
  sql: ({ emails }) => sql`select lower(email) as email, password_hash from directory.accounts where lower(email) = any(${emails})`,
});

/** Effective `info_field_groups` as JSON, for each class of these holons. */
export const findClassFields = statement.many({
  name: 'workspace.find-class-fields',
  params: { holonIds: t.integer.array },
  row: { holon_ids: t.integer.array, info_field_groups: t.text },
  sql: ({ holonIds }) => sql`
    select used.holon_ids, ${infoFieldGroupsSql('c')}::text as info_field_groups
    from (select class_id, array_agg(id) as holon_ids from directory.holons where id = any(${holonIds}) group by class_id) as used
    join directory.object_classes c on c.id = used.class_id`,
});
