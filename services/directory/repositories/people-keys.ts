import { statement } from '#libs/orm';

/** `$1` = workspace keys; one row with the reply of `people.find-by-keys`. */
export const findPeopleByKeys = statement(
  'people.find-by-keys',
  `select json_build_object('items', coalesce(json_agg(json_build_object('key', key, 'id', id)), '[]'))::text as body
   from directory.people where key = any($1::text[])`,
);
