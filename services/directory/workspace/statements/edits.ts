/** Memberships and relationships that the API ended: deleted ones, and ones that moved to another journey (W24). */
import { sql, statement, t } from '#libs/infrastructure/sql';

function endedEdges(name: 'memberships' | 'relationships', left: string, right: string) {
  const [fromField, toField] = [sql.literal(left), sql.literal(right)];
  const [table, fromColumn, toColumn] = [sql.id(`directory.${name}`), sql.id(`e.${left}`), sql.id(`e.${right}`)];
  return statement.many({
    name: `workspace.list-ended-${name}`,
    params: { fromIds: t.integer.array },
    row: { left_id: t.integer, right_id: t.integer, journey: t.text.nullable },
    sql: ({ fromIds }) => sql`
      select (h.changes -> ${fromField} ->> 'old')::integer as left_id, (h.changes -> ${toField} ->> 'old')::integer as right_id,
        h.changes -> 'journey_slug' ->> 'old' as journey
      from directory.history h
      where h.object_kind = ${sql.literal(name)} and h.action = 'delete' and h.via <> 'file'
        and (h.changes -> ${fromField} ->> 'old')::integer = any(${fromIds})
      union
      select ${fromColumn}, ${toColumn}, h.changes -> 'journey_slug' ->> 'old'
      from ${table} e join directory.history h on h.object_kind = ${sql.literal(name)} and h.object_id = e.id
      where ${fromColumn} = any(${fromIds}) and h.action = 'update' and h.via <> 'file' and h.changes -> 'journey_slug' is not null`,
  });
}

export const listEndedEdges = {
  memberships: endedEdges('memberships', 'person_id', 'holon_id'),
  relationships: endedEdges('relationships', 'from_holon_id', 'to_holon_id'),
} as const;
