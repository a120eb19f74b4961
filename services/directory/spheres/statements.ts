/** Statements on spheres (W15). */
import { sql, statement, t } from '#libs/infrastructure/sql';
import { bodyRow } from '../lists/index.ts';

const sphereSql = sql`json_build_object('id', s.id, 'key', s.key, 'name', s.name, 'is_active', s.is_active)`;

/** Returns the reply of `spheres.list`. */
export const listSpheres = statement.one({
  name: 'spheres.list',
  params: { includeInactive: t.boolean, after: t.integer, limit: t.integer },
  row: bodyRow,
  sql: ({ includeInactive, after, limit }) => sql`
    with page as (
      select s.* from directory.spheres s where (s.is_active or ${includeInactive}) and s.id > ${after} order by s.id limit ${limit} + 1
    ), shown as (select * from page order by id limit ${limit})
    select json_build_object('items', coalesce((select json_agg(${sphereSql} order by s.id) from shown s), '[]'),
      'next', case when (select count(*) from page) > ${limit} then (select max(id)::text from shown) end)::text as body`,
});

/** Returns a sphere as JSON. */
export const getSphere = statement.one({
  name: 'spheres.get',
  params: { id: t.integer },
  row: bodyRow,
  sql: ({ id }) => sql`select ${sphereSql}::text as body from directory.spheres s where s.id = ${id}`,
});

/** Locks the sphere. */
export const lockSphere = statement.maybeOne({
  name: 'spheres.lock',
  params: { id: t.integer },
  row: { isActive: t.boolean },
  sql: ({ id }) => sql`select is_active as "isActive" from directory.spheres where id = ${id} for update`,
});

/** Returns the first free key among `<base>`, `<base>-2`, `<base>-3`, …. */
export const findFreeKey = statement.one({
  name: 'spheres.find-free-key',
  params: { base: t.text },
  row: { key: t.text },
  sql: ({ base }) => sql`
    with recursive candidate as (
      select 1 as number, ${base}::text as key
      union all
      select number + 1, ${base}::text || '-' || (number + 1) from candidate
      where exists (select from directory.spheres s where s.key = candidate.key)
    ) select key from candidate order by number desc limit 1`,
});

/** Inserts a sphere. Returns no row if the key is taken. */
export const insertSphere = statement.maybeOne({
  name: 'spheres.insert',
  params: { key: t.text, name: t.text },
  row: { id: t.integer },
  sql: ({ key, name }) =>
    sql`insert into directory.spheres (key, name) values (${key}, ${name}) on conflict (key) do nothing returning id`,
});

/** Saves a sphere; null leaves a field unchanged. */
export const saveSphere = statement.none({
  name: 'spheres.save',
  params: { id: t.integer, name: t.text.nullable, isActive: t.boolean.nullable },
  sql: ({ id, name, isActive }) => sql`
    update directory.spheres set name = coalesce(${name}, name), is_active = coalesce(${isActive}, is_active) where id = ${id}`,
});
