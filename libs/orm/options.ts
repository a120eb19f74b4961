/** What a service says of its database. */
import type { Logger } from '#libs/logger';

export interface DatabaseOptions {
  /** `postgresql://…`; never part of a message. */
  readonly url: string;
  /** The service's schema, first on the search path of every connection. */
  readonly schema: string;
  /** Most connections of this process. */
  readonly poolSize: number;
  readonly logger: Logger;
  /** A pooler gives a connection for one transaction at a time: nothing is kept on it between two of them (rules/operations#a-pooler). */
  readonly pooled?: boolean | undefined;
  /** Shown by PostgreSQL in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Time that one statement may take, default 30 000. */
  readonly statementTimeoutMs?: number;
  /** Time to wait for a connection, a new one or one of a busy pool; default 10 000, which is how long most callers wait. */
  readonly connectTimeoutMs?: number;
}
