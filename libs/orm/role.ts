/**
 * The role of one service: it logs in, reads and writes the rows of its own schema, and owns nothing. Made by the migration, whose own
 * role may create roles; where it may not, the role must exist already and only its rights are set.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type pg from 'pg';

export interface ServiceRole {
  readonly name: string;
  readonly password: string;
}

/**
 * What ends a statement of the role whoever sends it. A service asks for less at the start of each connection, but a pooler may drop that.
 */
const limits = [`statement_timeout = '60s'`, `idle_in_transaction_session_timeout = '120s'`] as const;

/** Role and password of the address by which a service will connect. @throws Error when the address names none. */
export function roleOf(url: string, variable: string): ServiceRole {
  if (!URL.canParse(url)) throw new Error(`${variable} is not a valid PostgreSQL URL`);
  const { username, password } = new URL(url);
  if (username === '' || password === '') throw new Error(`${variable} must name the role and its password: postgresql://role:password@…`);
  return { name: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/** Creates the role or gives it this password, and sets what it may do in `schema`; running it again changes nothing. */
export async function grantServiceRole(client: pg.ClientBase, schema: string, role: ServiceRole): Promise<void> {
  const { rows } = await client.query<{ exists: boolean; own: boolean; may_create: boolean; database: string }>(
    `select exists (select from pg_roles where rolname = $1) as exists, current_user = $1 as own, current_database() as database,
      (select rolcreaterole or rolsuper from pg_roles where rolname = current_user) as may_create`,
    [role.name],
  );
  const [state] = rows;
  if (state === undefined || state.own) return; // one role for everything: it owns the schema
  if (state.may_create) {
    await run(client, state.exists ? 'alter role %I login password %L' : 'create role %I login password %L', [
      role.name,
      makeVerifier(role.password),
    ]);
    for (const limit of limits) await run(client, `alter role %I in database %I set ${limit}`, [role.name, state.database]);
  } else if (!state.exists) {
    throw new Error(`the role ${role.name} does not exist, and the role of the migration may not create it`);
  }
  for (const grant of [
    'grant connect, temporary on database %3$I to %1$I',
    'grant usage on schema %2$I to %1$I',
    'grant select, insert, update, delete on all tables in schema %2$I to %1$I',
    'grant usage, select on all sequences in schema %2$I to %1$I',
    'grant execute on all functions in schema %2$I to %1$I',
    // The history of the migrations is read, to know what is pending, and never written.
    'revoke insert, update, delete on %2$I.migrations from %1$I',
  ]) {
    await run(client, grant, [role.name, schema, state.database]);
  }
}

/** Runs a statement whose names and literals PostgreSQL itself quotes. */
async function run(client: pg.ClientBase, template: string, values: readonly string[]): Promise<void> {
  const places = values.map((_value, index) => `$${index + 2}::text`).join(', ');
  const { rows } = await client.query<{ sql: string }>(`select format($1::text, ${places}) as sql`, [template, ...values]);
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
