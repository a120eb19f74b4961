/** Finds remaining references to a person in the platform's tables (rules/people#what-names-a-person). */
import type { TestPlatform } from './test-platform.ts';

/** SQL list of all schemas with tables. */
export const personSchemas = `('agents', 'conversations', 'directory', 'events', 'media', 'transcripts')`;

/**
 * Returns where the person id still occurs: in person columns of all services, in rooms, and in the participants of the
 * feed. Historical data is excluded.
 */
export async function findPersonReferences({ sql }: Pick<TestPlatform, 'sql'>, person: number): Promise<string[]> {
  const columns = await sql<{ place: string; type: string }>(
    `select format('%I.%I|%I', c.table_schema, c.table_name, c.column_name) as place, c.udt_name as type
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where t.table_type = 'BASE TABLE' and c.table_schema in ${personSchemas}
       and c.udt_name in ('int4', '_int4', 'text') and c.column_name ~ '(^|_)(person|participant)_ids?$'
       and c.table_name not in ('erasures', 'merged_people', 'gone_people', 'kept_answers')`,
  );
  const found: string[] = [];
  for (const { place, type } of columns) {
    const [table, column] = place.split('|');
    const is = type === '_int4' ? `${column} @> array[$1::integer]` : `${column}::text = $1::text`;
    const [row] = await sql<{ count: string }>(`select count(*) from ${table} where ${is}`, [String(person)]);
    if (Number(row?.count) > 0) found.push(place);
  }
  const rooms = await sql(
    `select 1 from conversations.all_conversations where room::text ~ ('"personId": ' || $1 || '[^0-9]')`,
    [String(person)],
  );
  const told = await sql(
    `select 1 from events.subjects where type = 'conversation' and people @> array[$1::integer] limit 1`,
    [person],
  );
  return [...found, ...rooms.map(() => 'room'), ...told.map(() => 'events.subjects|people')].toSorted();
}
