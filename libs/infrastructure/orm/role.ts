/**
 * Database role of one service: it can log in, and read and write the rows of its schema, but owns nothing. The
 * migration creates the role if the migration's role may create roles. Otherwise the role must exist, and the migration
 * only sets its rights.
 */
import type pg from 'pg';
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { unavailable } from '#libs/infrastructure/errors';
import { listHosts } from './hosts.ts';

export interface ServiceRole {
  readonly name: string;
  /** Undefined when the password is managed elsewhere, or the role authenticates with a certificate or token. */
  readonly password: string | undefined;
}

/** Time limits of the role in any session. A service sets lower limits when it connects, but a pooler may drop them. */
const limits: readonly string[] = [`statement_timeout = '60s'`, `idle_in_transaction_session_timeout = '120s'`];

/** Returns the role and password in the URL of a service. @throws Error when the URL does not contain a role */
export function roleOf(url: string, variable: string): ServiceRole {
  const [first = ''] = listHosts(url, variable).urls;
  const { username, password } = new URL(first);
  if (username === '') throw new Error(`${variable} must name the role: postgresql://role:password@…`);
  return { name: decodeURIComponent(username), password: password === '' ? undefined : decodeURIComponent(password) };
}

/**
 * Creates the role or sets its password, and sets its rights in `schema`; idempotent.
 * @param rights statements that restrict rights on tables of libraries: `%1$I` is the role, `%2$I` the schema
 */
export async function grantServiceRole(
  client: pg.ClientBase,
  schema: string,
  role: ServiceRole,
  rights: readonly string[] = [],
): Promise<void> {
  const granted = [
    'grant connect, temporary on database %3$I to %1$I',
    'grant usage on schema %2$I to %1$I',
    'grant select, insert, update, delete on all tables in schema %2$I to %1$I',
    'grant usage, select on all sequences in schema %2$I to %1$I',
    'grant execute on all functions in schema %2$I to %1$I',
    // The role reads the migration history to find pending migrations, and never writes it.
    'revoke insert, update, delete on %2$I.migrations from %1$I',
    ...rights,
  ];
  await grantRole(client, schema, role, granted, [...limits, ...roleSettings]);
}

/** Creates a role or sets its password, and replaces its rights in `schema` by `rights`, in one transaction. */
export async function grantRole(
  client: pg.ClientBase,
  schema: string,
  role: ServiceRole,
  rights: readonly string[],
  settings: readonly string[] = limits,
): Promise<void> {
  const { rows } = await client.query<{ exists: boolean; own: boolean; may_create: boolean; database: string }>(
    `select exists (select from pg_roles where rolname = $1) as exists, current_user = $1 as own, current_database() as database,
      (select rolcreaterole or rolsuper from pg_roles where rolname = current_user) as may_create`,
    [role.name],
  );
  const [state] = rows;
  if (state === undefined || state.own) return; // an installation with a single role: the role owns the schema
  if (state.may_create) {
    const verb = state.exists ? 'alter' : 'create';
    if (role.password === undefined) await run(client, `${verb} role %I login`, [role.name]);
    else await run(client, `${verb} role %I login password %L`, [role.name, makeVerifier(role.password)]);
    for (const setting of settings) {
      await run(client, `alter role %1$I in database %2$I set ${setting}`, [role.name, state.database, schema]);
    }
  } else if (!state.exists) {
    throw new Error(`the role ${role.name} does not exist, and the role of the migration may not create it`);
  }
  // Uses a transaction, so that other sessions never see the temporary grants.
  await client.query('begin');
  try {
    for (const right of rights) await run(client, right, [role.name, schema, state.database]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** Runs a statement whose names and literals are quoted by PostgreSQL. */
async function run(client: pg.ClientBase, template: string, values: readonly string[]): Promise<void> {
  const positions = values.map((_value, index) => `$${index + 2}::text`).join(', ');
  const { rows } = await client.query<{ sql: string }>(`select format($1::text, ${positions}) as sql`, [
    template,
    ...values,
  ]);
  await client.query(rows[0]?.sql ?? '');
}

/**
 * Returns the verifier that PostgreSQL stores for a password (RFC 5802). It is computed here, so that the password does
 * not appear in a statement or server log.
 */
function makeVerifier(password: string): string {
  const salt = randomBytes(16);
  const iterations = 4096;
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
  const keyOf = (label: string): Buffer => createHmac('sha256', salted).update(label).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`;
}

/**
 * Planner settings of every connection; DATABASE_URL can override them. Random page reads cost little more than
 * sequential ones on SSDs and in memory: with PostgreSQL's default for spinning disks, a few thousand ids already cause
 * a full table scan. JIT is off: the planner overestimates conditions that walk a tree, and compiling takes longer than
 * any request's statement. Parallel workers are off: starting them takes longer than most statements, and concurrent
 * requests use the processors anyway. The statement memory fits the rows that an index finds in a table of one or two
 * gigabytes; with less, PostgreSQL rechecks every row of their pages.
 */
export const plannerSettings = {
  random_page_cost: '1.1',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  work_mem: '16MB',
} as const;

/** `plannerSettings` as startup options of a connection. */
export const plannerOptions = Object.entries(plannerSettings)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');

/**
 * Statements that set `plannerSettings` for a role, as templates of `format`: `%1$I` is the role, `%2$I` the database,
 * `%3$I` the schema.
 */
export const roleSettings: readonly string[] = [
  'search_path = %3$I, public',
  ...Object.entries(plannerSettings).map(([name, value]) => `${name} = '${value}'`),
];

/**
 * Returns a check for new connections of a pool: the role's search path must start with `schema`, otherwise the service
 * would not find its tables.
 * @returns a function that throws AppError `unavailable` while the role's search path is another one
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
