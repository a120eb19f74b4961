/** Classifies failed statements: a violated constraint, a conflict, or an unavailable database. */
import { types } from 'node:util';
import { AppError, unavailable } from '#libs/infrastructure/errors';

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
  '28000', // password or certificate rejected: may succeed soon, while credentials are being replaced
  'EPROTO',
]);
/** Untrusted certificates and other TLS handshake failures. */
const tlsCodes = /^(CERT_|SELF_SIGNED_|UNABLE_TO_|DEPTH_ZERO_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH|INVALID_CA)/;
const connectionMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|timeout expired|Connection ended|Query read timeout|read E|write E|driver has already been destroyed|The server does not support SSL connections|There was an error establishing an SSL connection)/;
/** Codes that mean that an established connection was lost: reset, shutdown, crash, or an ended idle session. */
const lostCodes = new Set(['ECONNRESET', 'EPIPE', '57P01', '57P02', '57P05']);
const lostMessages = /^(Connection terminated|Client has encountered a connection error|Connection ended)/;
const poolExhausted = /^timeout exceeded when trying to connect/;
/** PgBouncer's error message for an unsupported startup parameter. */
export const refusesStartOptions = /^unsupported startup parameter/;
const queryCanceled = '57014';
const conflictCodes = new Set(['40001', '40P01']);
const foreignKeyViolation = '23503';
const lockNotAvailable = '55P03';
const inFailedTransaction = '25P02';
const featureNotSupported = '0A000';
const readOnlyTransaction = '25006';

interface DatabaseError {
  readonly code?: unknown;
  readonly constraint?: unknown;
  readonly message: string;
}

/**
 * Returns the pg error itself, or the pg error wrapped by MikroORM or by an AggregateError (for a host with several
 * addresses).
 */
function findDatabaseError(error: unknown): DatabaseError | undefined {
  for (let current = error, depth = 0; types.isNativeError(current) && depth < 5; depth++) {
    if (!(current instanceof AppError) && 'code' in current && typeof current.code === 'string') return current;
    if (current.cause === undefined) return current;
    current = current.cause;
  }
  return types.isNativeError(error) ? error : undefined;
}

/** Returns the SQLSTATE or system code of a failed statement, e.g. `23505`; undefined for other errors. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = findDatabaseError(error)?.code;
  return typeof code === 'string' ? code : undefined;
}

/**
 * Returns the name of the violated constraint (unique, check, foreign key, exclusion); undefined for other errors and
 * for a violated `not null`, which has no name.
 */
export function constraintOf(error: unknown): string | undefined {
  const found = findDatabaseError(error);
  return typeof found?.constraint === 'string' ? found.constraint : undefined;
}

/**
 * Returns true when the database is unreachable, the connection was lost, or the database rejects work. The statement
 * itself may be valid.
 */
export function isConnectionError(error: unknown): boolean {
  const found = findDatabaseError(error);
  if (found === undefined) return false;
  if (
    typeof found.code === 'string' &&
    (connectionCodes.has(found.code) || found.code.startsWith('08') || tlsCodes.test(found.code))
  )
    return true;
  return connectionMessages.test(found.message);
}

/** True when the connection of a statement was lost. Whether the statement took effect is unknown. */
export function isLostConnection(error: unknown): boolean {
  const found = error instanceof AppError ? undefined : findDatabaseError(error);
  if (found === undefined) return false;
  if (typeof found.code === 'string' && (lostCodes.has(found.code) || found.code.startsWith('08'))) return true;
  return lostMessages.test(found.message);
}

/**
 * Returns true when a retry of the same transaction may succeed: after a serialization failure, a deadlock, or a
 * migration that made a plan stale.
 */
export function isTransient(error: unknown): boolean {
  return isConflict(error) || needsAnotherConnection(error);
}

/** True for a serialization failure or deadlock with a concurrent transaction. */
function isConflict(error: unknown): boolean {
  return conflictCodes.has(sqlStateOf(error) ?? '');
}

/**
 * True when a row that the statement refers to, or still depends on, was written concurrently. A repeated transaction
 * finds the present state.
 */
export function isLostReference(error: unknown): boolean {
  return sqlStateOf(error) === foreignKeyViolation;
}

/** Returns true when PostgreSQL skipped the statement because an earlier statement of the transaction had failed. */
export function isRefusedAfterFailure(error: unknown): boolean {
  return sqlStateOf(error) === inFailedTransaction;
}

/** Returns true when the statement may be valid and can succeed later or on another connection. */
export function mayPass(error: unknown): boolean {
  const code = sqlStateOf(error);
  return isConnectionError(error) || isTransient(error) || code === queryCanceled || code === lockNotAvailable;
}

/**
 * Returns true when this connection cannot run the statement but another one may: its prepared statement is older than
 * a change of the table, or the server has become read-only. The statement had no effect.
 */
export function needsAnotherConnection(error: unknown): boolean {
  return isStalePlan(error) || isReadOnly(error);
}

/** True when the server is read-only, e.g. a standby. */
function isReadOnly(error: unknown): boolean {
  return sqlStateOf(error) === readOnlyTransaction;
}

/**
 * Returns true when a prepared statement is older than a change of its table. A new connection prepares the statement
 * again.
 */
function isStalePlan(error: unknown): boolean {
  return (
    sqlStateOf(error) === featureNotSupported && types.isNativeError(error) && error.message.includes('cached plan')
  );
}

/**
 * Converts an error for callers of the library: 503 when the database is unavailable or too slow, or a conflict remains
 * after the retries; otherwise the error itself. The text contains neither address nor user; the cause, for the log
 * only, contains the driver's message (never the password).
 */
export function toDatabaseError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (sqlStateOf(error) === queryCanceled) {
    return new AppError(
      { code: 'deadline_exceeded', message: 'The database did not answer in time' },
      { cause: error },
    );
  }
  if (isConflict(error) || sqlStateOf(error) === lockNotAvailable)
    return unavailable('The request conflicts with concurrent changes; retry', { cause: error });
  if (!isConnectionError(error) && !isReadOnly(error)) return error;
  const text = findDatabaseError(error)?.message ?? '';
  if (refusesStartOptions.test(text)) {
    const cause = new Error(`${text}: DATABASE_URL leads to a pooler, so DATABASE_POOLER must be transaction`, {
      cause: error,
    });
    return unavailable('The database is not available', { cause });
  }
  const busy = poolExhausted.test(text);
  return unavailable(busy ? 'Too many requests wait for the database' : 'The database is not available', {
    cause: error,
  });
}
