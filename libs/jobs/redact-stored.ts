/** Removes secrets from job errors that earlier releases stored as they were; this release redacts an error before it stores it. */
import type { BackfillWork } from '#libs/orm/migrations';
import { redactText } from '#libs/redaction';

const batch = 1_000;

/** For a migration of each service. Errors are searched in the database, so redacting them when they are read would still confirm a guess. */
export async function redactStoredErrors(schema: string, query: Parameters<BackfillWork>[0]): Promise<void> {
  const read = `select id, error from ${schema}.jobs where error is not null and id > $1::uuid order by id limit ${batch}`;
  const write = `update ${schema}.jobs j set error = c.error from jsonb_to_recordset($1::jsonb) as c(id uuid, stored text, error text)
    where j.id = c.id and j.error = c.stored`;
  let last: string | undefined = '00000000-0000-0000-0000-000000000000';
  while (last !== undefined) {
    const rows = (await query(read, [last])) as { id: string; error: string }[];
    const changed = rows.flatMap(({ id, error: stored }) => {
      const error = redactText(stored);
      return error === stored ? [] : [{ id, stored, error }];
    });
    if (changed.length > 0) await query(write, [JSON.stringify(changed)]);
    last = rows.length < batch ? undefined : rows.at(-1)?.id;
  }
}
