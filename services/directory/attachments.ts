/** Journeys of holons and classes, and the classes that a class allows below it: ordered attachments. */
import { type RowOf, sql, statement, t } from '#libs/sql';

const attachedRow = { owner_id: t.integer, old: t.integer.array, new: t.integer.array };
export type AttachedRow = RowOf<typeof attachedRow>;

/**
 * Makes the attachments of a JSON list of `{owner_id, targets}` exactly these, in this order. Returns the owners whose attachments differed: before
 * and after, in order.
 */
export const attach = {
  class_journeys: attachment('class_journeys', 'class_id', 'journey_id'),
  holon_journeys: attachment('holon_journeys', 'holon_id', 'journey_id'),
  class_allowed_children: attachment('class_allowed_children', 'class_id', 'child_class_id'),
} as const;

function attachment(name: string, ownerColumn: string, targetColumn: string) {
  const [table, owner, target] = [sql.id(`directory.${name}`), sql.id(ownerColumn), sql.id(targetColumn)];
  return statement.many({
    name: `workspace.attach-${name}`,
    params: { attachments: t.json },
    row: attachedRow,
    sql: ({ attachments }) => sql`
     with input as (
       select i.owner_id, coalesce(i.targets, '{}') as targets from jsonb_to_recordset(${attachments}) as i(owner_id integer, targets integer[])
     ), current as (
       select i.owner_id, i.targets, coalesce(array_agg(a.${target} order by a.position, a.${target}) filter (where a.${target} is not null), '{}') as stored
       from input i left join ${table} a on a.${owner} = i.owner_id group by i.owner_id, i.targets
     ), changed as (
       select * from current where stored is distinct from targets
     ), removed as (
       delete from ${table} a using changed c where a.${owner} = c.owner_id and a.${target} <> all(c.targets)
     ), added as (
       insert into ${table} (${owner}, ${target}, position)
       select c.owner_id, t.id, t.position - 1 from changed c, unnest(c.targets) with ordinality as t(id, position)
       on conflict (${owner}, ${target}) do update set position = excluded.position
     )
     select owner_id, stored as old, targets as new from changed`,
  });
}
