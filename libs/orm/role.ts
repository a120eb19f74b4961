/**
 * The role of one service: it logs in, reads and writes the rows of its own schema, and owns nothing. Made by the migration, whose own
 * role may create roles; where it may not, the role must exist already and only its rights are set.
 */
import type pg from 'pg';
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { unavailable } from '#libs/errors';
import { listHosts } from './hosts.ts';

export interface ServiceRole {
  readonly name: string;
  /** Undefined: set by others, or the role shows a certificate or a token instead. */
  readonly password: string | undefined;
}

/**
 * What ends a statement of the role whoever sends it. A service asks for less at the start of each connection, but a pooler may drop that.
 */
const limits: readonly string[] = [`statement_timeout = '60s'`, `idle_in_transaction_session_timeout = '120s'`];

/** Role and password of the address by which a service will connect. @throws Error when the address names no role. */
export function roleOf(url: string, variable: string): ServiceRole {
  const [first = ''] = listHosts(url, variable).urls;
  const { username, password } = new URL(first);
  if (username === '') throw new Error(`${variable} must name the role: postgresql://role:password@…`);
  return { name: decodeURIComponent(username), password: password === '' ? undefined : decodeURIComponent(password) };
}

/**
 * Creates the role or gives it this password, and sets what it may do in `schema`; running it again changes nothing.
 * @param rights statements that narrow this for tables of libraries: `%1$I` is the role, `%2$I` the schema
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
    // The history of the migrations is read, to know what is pending, and never written.
    'revoke insert, update, delete on %2$I.migrations from %1$I',
    ...rights,
  ];
  await grantRole(client, schema, role, granted, [...limits, ...roleSettings]);
}

/** Creates a role, or gives it this password, that may do in `schema` what `rights` say, all at once. */
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
  if (state === undefined || state.own) return; // one role for everything: it owns the schema
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
  // What is given for a moment to be taken again is seen by nobody.
  await client.query('begin');
  try {
    for (const right of rights) await run(client, right, [role.name, schema, state.database]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** Runs a statement whose names and literals PostgreSQL itself quotes. */
async function run(client: pg.ClientBase, template: string, values: readonly string[]): Promise<void> {
  const positions = values.map((_value, index) => `$${index + 2}::text`).join(', ');
  const { rows } = await client.query<{ sql: string }>(`select format($1::text, ${positions}) as sql`, [template, ...values]);
  await client.query(rows[0]?.sql ?? '');
}

/** What PostgreSQL stores of a password (RFC 5802), made here so that the password itself is in no statement and in no log of the server. */
function makeVerifier(password: string): string {
  const salt = randomBytes(16);
  const iterations = 4096;
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
  const keyOf = (label: string): Buffer => createHmac('sha256', salted).update(label).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`;
}

/**
 * Settings of every connection that decide about plans; those of DATABASE_URL come after them. A page at random costs hardly more than the
 * next one on solid disks and in memory: with PostgreSQL's default, made for turning disks, a few thousand ids already read a whole table.
 * Nothing is compiled: conditions that walk a tree look dear to the planner, and compiling takes longer than any statement of a request. Nor
 * do statements start workers: that takes longer than most, and many requests at once keep the processors busy anyway. The memory of a statement
 * holds the rows that an index found in a table of a gigabyte or two; with less, PostgreSQL compares every row of the pages that they are in.
 */
export const plannerSettings = {
  random_page_cost: '1.1',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  work_mem: '16MB',
} as const;

/** The same for the start of a connection. */
export const plannerOptions = Object.entries(plannerSettings)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');

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
