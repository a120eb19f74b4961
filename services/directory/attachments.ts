/** Journeys of holons and classes, and the classes that a class allows below it: ordered attachments. */
import { statement, type Statement } from '#libs/orm';

/** One owner whose attachments differ: before and after, in order. */
export interface AttachedRow {
  readonly owner_id: number;
  readonly old: number[];
  readonly new: number[];
}

/** `$1` = JSON list of `{owner_id, targets}`; makes the attachments exactly these, in this order. Returns the owners that changed. */
export const attach: Record<'class_journeys' | 'holon_journeys' | 'class_allowed_children', Statement> = {
  class_journeys: attachment('class_journeys', 'class_id', 'journey_id'),
  holon_journeys: attachment('holon_journeys', 'holon_id', 'journey_id'),
  class_allowed_children: attachment('class_allowed_children', 'class_id', 'child_class_id'),
};

function attachment(table: string, owner: string, target: string): Statement {
  return statement(
    `workspace.attach-${table}`,
    `with input as (
       select i.owner_id, coalesce(i.targets, '{}') as targets from jsonb_to_recordset($1::jsonb) as i(owner_id integer, targets integer[])
     ), current as (
       select i.owner_id, i.targets, coalesce(array_agg(a.${target} order by a.position, a.${target}) filter (where a.${target} is not null), '{}') as stored
       from input i left join directory.${table} a on a.${owner} = i.owner_id group by i.owner_id, i.targets
     ), changed as (
       select * from current where stored is distinct from targets
     ), removed as (
       delete from directory.${table} a using changed c where a.${owner} = c.owner_id and a.${target} <> all(c.targets)
     ), added as (
       insert into directory.${table} (${owner}, ${target}, position)
       select c.owner_id, t.id, t.position - 1 from changed c, unnest(c.targets) with ordinality as t(id, position)
       on conflict (${owner}, ${target}) do update set position = excluded.position
     )
     select owner_id, stored as old, targets as new from changed`,
  );
}
