/** The superuser that CLI commands of tests use, unless a test logs in with another account. */
import { createHash, randomBytes } from 'node:crypto';
import type { TestEnvironment } from '#libs/product/testing';

/** Id of the account and of its person. Not from a sequence, so that the ids of others do not change. */
export const operatorId = 2_000_000_000;

/**
 * Returns a function that returns the superuser's token. The account is created on first use and again when a test has
 * replaced the database: by SQL, since a login would add entries to the audit log.
 */
export function createOperatorLogin(sql: TestEnvironment['sql']): () => Promise<string> {
  const sessionKey = randomBytes(16).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  const digest = createHash('sha256').update(secret).digest('hex');
  return async () => {
    await sql(
      `insert into directory.people (id, name) values (${operatorId}, 'Operator of the tests') on conflict do nothing`,
    );
    await sql(
      `insert into directory.accounts (id, email, person_id, superuser)
       values (${operatorId}, 'operator-of-tests@example.org', ${operatorId}, true)
       on conflict (id) do update set person_id = excluded.person_id where accounts.person_id is null`,
    );
    await sql(
      `insert into directory.login_sessions (session_key, secret_sha256, account_id, expires_at)
       values ($1, decode($2, 'hex'), ${operatorId}, now() + interval '1 day') on conflict do nothing`,
      [sessionKey, digest],
    );
    return `svc_agentic_${sessionKey}_${secret}`;
  };
}
