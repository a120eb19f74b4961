/** What a failed statement means to the platform: a broken rule, a lost race, or a database that is not there. */
import { types } from 'node:util';
import { AppError, unavailable } from '#libs/errors';

const connectionCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  '57P01',
  '57P02',
  '57P03',
  '57P05', // shut down, crashed, starting, idle session ended
  '25P03', // idle in transaction for too long
  '53300',
  '53100',
  '53200', // too many connections, disk full, out of memory
  '28P01',
  '28000', // the password or the certificate is refused: it may be on its way to another one
  'EPROTO',
]);
/** A certificate that is not trusted, and what else fails in a handshake. */
const tlsCodes = /^(CERT_|SELF_SIGNED_|UNABLE_TO_|DEPTH_ZERO_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH|INVALID_CA)/;
const connectionMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|timeout expired|Connection ended|Query read timeout|read E|write E|driver has already been destroyed|The server does not support SSL connections|There was an error establishing an SSL connection)/;
/** A connection that was there and went away: shut down, crashed, ended while idle, reset on the way. */
const lostCodes = new Set(['ECONNRESET', 'EPIPE', '57P01', '57P02', '57P05']);
const lostMessages = /^(Connection terminated|Client has encountered a connection error|Connection ended)/;
const poolExhausted = /^timeout exceeded when trying to connect/;
/** How PgBouncer answers what it does not hand on from the start of a connection. */
export const refusesStartOptions = /^unsupported startup parameter/;
const queryCanceled = '57014';
const conflictCodes = new Set(['40001', '40P01']);
const lockNotAvailable = '55P03';
const inFailedTransaction = '25P02';
const featureNotSupported = '0A000';
const readOnlyTransaction = '25006';

interface DatabaseError {
  readonly code?: unknown;
  readonly constraint?: unknown;
  readonly message: string;
}

/** The pg error itself, or the one that MikroORM or an AggregateError (several addresses of a host) wraps. */
function findDatabaseError(error: unknown): DatabaseError | undefined {
  for (let current = error, depth = 0; types.isNativeError(current) && depth < 5; depth++) {
    if (!(current instanceof AppError) && 'code' in current && typeof current.code === 'string') return current;
    if (current.cause === undefined) return current;
    current = current.cause;
  }
  return types.isNativeError(error) ? error : undefined;
}

/** SQLSTATE or system code of what a statement failed with, e.g. `23505`; undefined for anything else. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = findDatabaseError(error)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Name of the constraint that a statement broke (unique, check, foreign key, exclusion, not null has none). */
export function constraintOf(error: unknown): string | undefined {
  const found = findDatabaseError(error);
  return typeof found?.constraint === 'string' ? found.constraint : undefined;
}

/** True when the database could not be reached, went away or refuses work: nothing is known to be wrong with the statement. */
export function isConnectionError(error: unknown): boolean {
  const found = findDatabaseError(error);
  if (found === undefined) return false;
  if (typeof found.code === 'string' && (connectionCodes.has(found.code) || found.code.startsWith('08') || tlsCodes.test(found.code)))
    return true;
  return connectionMessages.test(found.message);
}

/** True when a driver's error tells that the connection of a statement was lost. Whether the statement took effect is unknown. */
export function isLostConnection(error: unknown): boolean {
  const found = error instanceof AppError ? undefined : findDatabaseError(error);
  if (found === undefined) return false;
  if (typeof found.code === 'string' && (lostCodes.has(found.code) || found.code.startsWith('08'))) return true;
  return lostMessages.test(found.message);
}

/** True when the same transaction may succeed if it runs again: serialization failure, deadlock, a plan made stale by a migration. */
export function isTransient(error: unknown): boolean {
  return isConflict(error) || needsAnotherConnection(error);
}

/** True for a serialization failure and a deadlock: another transaction was under way at the same time. */
function isConflict(error: unknown): boolean {
  return conflictCodes.has(sqlStateOf(error) ?? '');
}

/** True when PostgreSQL did not run the statement because an earlier one of its transaction had failed. */
export function isRefusedAfterFailure(error: unknown): boolean {
  return sqlStateOf(error) === inFailedTransaction;
}

/** True when nothing is known to be wrong with the statement: the same one may succeed later, or on another connection. */
export function mayPass(error: unknown): boolean {
  const code = sqlStateOf(error);
  return isConnectionError(error) || isTransient(error) || code === queryCanceled || code === lockNotAvailable;
}

/**
 * True when the connection of a statement is of no use, and another one may be: a prepared statement that outlived a change of its table, or a server
 * that takes no writes any more. The statement had no effect.
 */
export function needsAnotherConnection(error: unknown): boolean {
  return isStalePlan(error) || isReadOnly(error);
}

/** True when the server takes no writes: it became a standby, or never was anything else. */
function isReadOnly(error: unknown): boolean {
  return sqlStateOf(error) === readOnlyTransaction;
}

/** True when a prepared statement outlived a change of its table; a new connection prepares it again. */
function isStalePlan(error: unknown): boolean {
  return sqlStateOf(error) === featureNotSupported && types.isNativeError(error) && error.message.includes('cached plan');
}

/**
 * The error that leaves the library: 503 for a database that is away or too slow and for a conflict that remains after the retries, else the
 * error itself. The texts name neither
 * address nor user; the cause, for the log alone, holds what the driver said (never the password).
 */
export function toDatabaseError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (sqlStateOf(error) === queryCanceled) {
    return new AppError({ code: 'deadline_exceeded', message: 'The database did not answer in time' }, { cause: error });
  }
  if (isConflict(error) || sqlStateOf(error) === lockNotAvailable)
    return unavailable('The request conflicts with concurrent changes; retry', { cause: error });
  if (!isConnectionError(error) && !isReadOnly(error)) return error;
  const said = findDatabaseError(error)?.message ?? '';
  if (refusesStartOptions.test(said)) {
    const cause = new Error(`${said}: DATABASE_URL leads to a pooler, so DATABASE_POOLER must be transaction`, { cause: error });
    return unavailable('The database is not available', { cause });
  }
  const busy = poolExhausted.test(said);
  return unavailable(busy ? 'Too many requests wait for the database' : 'The database is not available', { cause: error });
}
