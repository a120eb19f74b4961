/**
 * What stands at the role of a service because a pooler hands nothing on from the start of a connection: its schema, and what decides about plans
 * (rules/operations#a-pooler).
 */
import type pg from 'pg';
import { unavailable } from '#libs/errors';
import { plannerSettings } from './planner.ts';

/** Statements that set them, in the form of `format`: `%1$I` is the role, `%2$I` the database, `%3$I` the schema. */
export const roleSettings: readonly string[] = [
  'search_path = %3$I, public',
  ...Object.entries(plannerSettings).map(([name, value]) => `${name} = '${value}'`),
];

/**
 * A check of the first connection of a pool: that of a role which does not know the schema would find no table. `public` is known to all.
 * @returns a function that throws AppError `unavailable` until a set-up has given the role its schema
 */
export function createRoleCheck(schema: string): (client: pg.ClientBase) => Promise<void> {
  let known = schema === 'public';
  return async (client) => {
    if (known) return;
    const { rows } = await client.query<{ path: string }>(`select current_setting('search_path') as path`);
    known = rows[0]?.path.split(',')[0]?.trim() === schema;
    if (known) return;
    throw unavailable('The database is not set up for this service', {
      cause: new Error(
        `the role of DATABASE_URL does not begin its search path with ${schema}. With DATABASE_POOLER=transaction each service has a role of its own: ` +
          `run tools/migrate.ts with DATABASE_URL_${schema.toUpperCase()}`,
      ),
    });
  };
}
