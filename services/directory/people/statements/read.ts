/** Reads of people (rules/people#people); JSON is made by SQL and passed on as it is. */
import { type Sql, sql, statement, t } from '#libs/sql';
import { bodyRow } from '../../body.ts';
import { listSql, pageParams } from '../../list-statement.ts';
import { personListItemSql, personPublicSql } from '../../public-json.ts';
import { afterParams, recordOrders, type RecordSort } from '../../record-list.ts';
import { startsOfAddressesSql } from '../../address-keys.ts';
import { containsSql, gramsOf, nameInAnySql } from '../../text-match.ts';

/** The reply of `people.get-many`, in the order of the ids. */
export const getPeople = statement.one({
  name: 'people.get-many',
  params: { ids: t.integer.array },
  row: bodyRow,
  sql: ({ ids }) => sql`
    select json_build_object('items', coalesce(json_agg(json_build_object('id', p.id, 'name', p.name, 'photo', p.photo_url,
      'contact', p.contact, 'description', p.description, 'actor_kind', p.actor_kind) order by wanted.place), '[]'))::text as body
    from (select id, min(place) as place from unnest(${ids}) with ordinality as w(id, place) group by id) as wanted
    join directory.people p on p.id = wanted.id`,
});

/** The reply of `people.find-by-keys`. */
export const findPeopleByKeys = statement.one({
  name: 'people.find-by-keys',
  params: { keys: t.text.array },
  row: bodyRow,
  sql: ({ keys }) => sql`
    select json_build_object('items', coalesce(json_agg(json_build_object('key', key, 'id', id)), '[]'))::text as body
    from (select key, id from directory.people where key = any(${keys})
      union all select value, person_id from directory.person_aliases where kind = 'key' and value = any(${keys})) as named`,
});

/** PersonPublic. */
export const getPerson = statement.maybeOne({
  name: 'v1.people.get',
  params: { id: t.integer },
  row: bodyRow,
  sql: ({ id }) => sql`select ${personPublicSql('p')}::text as body from directory.people p where p.id = ${id}`,
});

/** @param foundOnce the matches are found first; otherwise the page is read in its order */
const list = (sort: RecordSort, foundOnce: boolean) =>
  statement.one({
    name: `v1.people.list-${sort}${foundOnce ? '.found' : ''}`,
    planned: 'each-call',
    params: { text: t.text, ...afterParams, ...pageParams },
    row: bodyRow,
    sql: ({ text, createdAfter, updatedAfter, limit, offset }) => {
      const addresses = startsOfAddressesSql('p', text);
      const inName = containsSql(sql`p.search_name`, text, gramsOf('p'), sql`true`);
      const arms = (columns: Sql, conditions: readonly Sql[]): Sql =>
        sql.join(
          conditions.map((condition) => sql`select ${columns} from directory.people p where ${condition}`),
          sql` union `,
        );
      return listSql({
        foundOnce,
        from: foundOnce
          ? sql`(${arms(sql`p.id, p.search_name, p.created_at, p.updated_at`, [nameInAnySql('p', text), ...addresses])}) as p`
          : sql`directory.people p`,
        where: sql`${foundOnce ? sql`true` : sql`(${inName} or p.id in (${arms(sql`p.id`, addresses)}))`}
      and (${createdAfter} is null or p.created_at > ${createdAfter}) and (${updatedAfter} is null or p.updated_at > ${updatedAfter})`,
        key: sql`p.id`,
        order: recordOrders[sort]('p'),
        itemFrom: sql`directory.people p on p.id = page.key`,
        item: personListItemSql('p'),
        limit,
        offset,
        extra: { query: text },
        fields: ['limit', 'offset', 'count', 'has_more', 'items'],
      });
    },
  });

const lists = (foundOnce: boolean) => ({
  name: list('name', foundOnce),
  latest: list('latest', foundOnce),
  updated: list('updated', foundOnce),
});

/** People with a part of the name that is in few, its words in any order, or an email or phone number that begins with the text. */
export const findPeople = lists(true);
/** The same for a text that is empty, or short and in many names. */
export const listPeople = lists(false);
