/** Returns which holons and other subjects of events an account can read (rules/events; V4, D48). */
import { type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { bodyRow } from '../lists/index.ts';
import {
  coveredHolonsSql,
  holonVisibleSql,
  noteReadableSql,
  type ViewerSql,
  viewerParams,
} from '../visibility/index.ts';

/** Returns a row if the account sees everything. The account is queried because these calls have no actor. */
export const findSeesAll = statement.maybeOne({
  name: 'feed.sees-all',
  params: { accountId: t.integer },
  row: { id: t.integer },
  sql: ({ accountId }) => sql`
    select id from directory.accounts where id = ${accountId} and is_active and (superuser or global_editor)`,
});

/**
 * Returns the reply of `feed.hidden-holons`: private holons that the account's authority does not cover, also deleted
 * ones, whose events remain in the feed (V4).
 */
export const listHiddenHolons = statement.one({
  name: 'feed.hidden-holons',
  params: viewerParams,
  row: bodyRow,
  sql: (viewer) => sql`
    with recursive ${coveredHolonsSql('covered', viewer)}
    select json_build_object('ids', coalesce(json_agg(id order by id), '[]'))::text as body from (
      select h.id from directory.object_classes c join directory.holons h on h.class_id = c.id
      where c.effective_private and not ${viewer.seesAll} and h.id not in (select id from covered)
      union all
      select d.holon_id from directory.deleted_private_holons d
      where not ${viewer.seesAll} and (${viewer.accountId} = any(d.account_ids)) is not true) as hidden`,
});

const subjectIds = {
  people: t.integer.array,
  holons: t.integer.array,
  memberships: t.integer.array,
  relationships: t.integer.array,
  notes: t.integer.array,
};

/** Returns SQL that joins a holon and its class under an alias. */
const holonSql = (alias: string, id: string): Sql => sql`
  join directory.holons ${sql.id(alias)} on ${sql.id(`${alias}.id`)} = ${sql.id(id)}
  join directory.object_classes ${sql.id(`${alias}_class`)} on ${sql.id(`${alias}_class.id`)} = ${sql.id(`${alias}.class_id`)}`;
const seenSql = (alias: string, viewer: ViewerSql): Sql => holonVisibleSql(alias, `${alias}_class`, viewer);
const idsSql = (rows: Sql): Sql => sql`(select coalesce(json_agg(id), '[]') from (${rows}) as found)`;

/** Returns the reply of `feed.readable`. A note is readable if it is in a note feed and all its holons are visible. */
export const listReadable = statement.one({
  name: 'feed.readable',
  params: { ...subjectIds, ...viewerParams },
  row: bodyRow,
  sql: ({ people, holons, memberships, relationships, notes, ...viewer }) => sql`
    select json_build_object(
      'people', ${idsSql(sql`select p.id from directory.people p where p.id = any(${people})`)},
      'holons', ${idsSql(sql`select h.id from directory.holons h join directory.object_classes h_class on h_class.id = h.class_id
        where h.id = any(${holons}) and ${seenSql('h', viewer)}`)},
      'memberships', ${idsSql(sql`select m.id from directory.memberships m ${holonSql('h', 'm.holon_id')}
        where m.id = any(${memberships}) and ${seenSql('h', viewer)}`)},
      'relationships', ${idsSql(sql`select r.id from directory.relationships r ${holonSql('f', 'r.from_holon_id')} ${holonSql('t', 'r.to_holon_id')}
        where r.id = any(${relationships}) and ${seenSql('f', viewer)} and ${seenSql('t', viewer)}`)},
      'notes', ${idsSql(sql`select n.id from directory.notes n where n.id = any(${notes}) and ${noteReadableSql('n', viewer)}`)})::text as body`,
});
