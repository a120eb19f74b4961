/** Reads of people (rules/people#people); JSON is made by SQL and passed on as it is. */
import { statement } from '#libs/orm';
import { listStatement } from '../../list-statement.ts';
import { personListItemSql, personPublicSql } from '../../public-json.ts';
import { recordOrders, type RecordSort } from '../../record-list.ts';
import { containsInAnySql, containsSql, gramsOf, longGramsOf } from '../../text-match.ts';

/** `$1` = ids; one row with the reply of `people.get-many`, in the order of the ids. */
export const getPeople = statement(
  'people.get-many',
  `select json_build_object('items', coalesce(json_agg(json_build_object('id', p.id, 'name', p.name, 'photo', p.photo_url,
     'contact', p.contact, 'description', p.description, 'actor_kind', p.actor_kind) order by wanted.place), '[]'))::text as body
   from (select id, min(place) as place from unnest($1::integer[]) with ordinality as w(id, place) group by id) as wanted
   join directory.people p on p.id = wanted.id`,
);

/** `$1` = workspace keys; one row with the reply of `people.find-by-keys`. */
export const findPeopleByKeys = statement(
  'people.find-by-keys',
  `select json_build_object('items', coalesce(json_agg(json_build_object('key', key, 'id', id)), '[]'))::text as body
   from directory.people where key = any($1::text[])`,
);

/** `$1` = person; one row with PersonPublic. */
export const getPerson = statement(
  'v1.people.get',
  `select ${personPublicSql('p')}::text as body from directory.people p where p.id = $1::integer`,
);

/** @param found the matches are found first; otherwise the page is read in its order */
const list = (sort: RecordSort, found: boolean) =>
  listStatement({
    name: `v1.people.list-${sort}${found ? '.found' : ''}`,
    planned: 'each-call',
    ...(found ? { foundOnce: true } : {}),
    from: 'directory.people p',
    where: `${found ? containsInAnySql('p.search_name', '$1', gramsOf('p'), longGramsOf.people('p')) : containsSql('p.search_name', '$1', gramsOf('p'), 'true')}
      and ($2::timestamptz is null or p.created_at > $2::timestamptz) and ($3::timestamptz is null or p.updated_at > $3::timestamptz)`,
    key: 'p.id',
    order: recordOrders[sort]('p'),
    itemFrom: 'directory.people p on p.id = page.key',
    item: personListItemSql('p'),
    limit: '$4::integer',
    offset: '$5::integer',
    extra: { query: '$1::text' },
    fields: ['limit', 'offset', 'count', 'has_more', 'items'],
  });

const lists = (found: boolean) => ({ name: list('name', found), latest: list('latest', found), updated: list('updated', found) });

/** `$1` = part of the name, `$2`, `$3` = created, updated after or null, `$4` = limit, `$5` = offset. */
export const findPeople = lists(true);
/** The same for a text that is empty, or short and in many names. */
export const listPeople = lists(false);
