/** Login, logout, verification of tokens, whoami (rules/access#login; D40). */
import type { Static } from '#libs/contract';
import { AppError } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import { rawJson, type Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import { directory } from '../../contract.ts';
import type { LoginThrottle } from '../login-throttle.ts';
import type { Passwords } from '../rules/password.ts';
import { createToken, parseToken, tokenLifetimeSeconds } from '../rules/token.ts';
import { createSession, findCredentials, getWhoami, revokeSession, verifySession } from '../statements/sessions.ts';

export interface SessionOptions {
  readonly db: Database;
  readonly jobs: Jobs;
  readonly passwords: Passwords;
  /** Does the work of those without the gate key, so that they wait for each other alone. */
  readonly gatePasswords: Passwords;
  readonly throttle: LoginThrottle;
}

type SessionHandlers = Pick<Handlers<typeof directory>, 'login' | 'refuseLogin' | 'logout' | 'verifySession' | 'whoami'>;
type LoginReply = Static<typeof directory.rpcs.login.reply>;

function invalidCredentials(): AppError {
  return new AppError({ code: 'unauthenticated', message: 'Invalid credentials.' });
}

export function createSessionHandlers(options: SessionOptions): SessionHandlers {
  const { db, jobs, passwords, gatePasswords, throttle } = options;

  async function login({
    email,
    password,
    ip,
  }: Static<typeof directory.rpcs.login.request>): Promise<LoginReply | ReturnType<typeof rawJson>> {
    await throttle.admitLogin(ip);
    // Asked before the password is checked, and again after: of parallel attempts only those count that finish inside the limit.
    await throttle.admitEmail(email, ip);
    const account = await findCredentials(db, { email });
    const matches = await passwords.verify(password, account?.password_hash ?? null);
    if (account === undefined || account.password_hash === null || !matches || !account.is_active) {
      await throttle.countFailure(email, ip);
      throttle.count('credentials');
      throw invalidCredentials();
    }
    await throttle.admitEmail(email, ip);
    if (account.person === null) throw new AppError({ code: 'permission_denied', message: 'This account has no person.' });
    const { token, sessionKey, secretSha256 } = createToken();
    const session = await createSession(db, {
      sessionKey,
      secretSha256,
      accountId: account.id,
      passwordHash: account.password_hash,
      lifetimeSeconds: tokenLifetimeSeconds,
    });
    if (session === undefined) throw invalidCredentials(); // deactivated or changed while the password was checked
    const head = JSON.stringify({
      token,
      token_type: 'Bearer',
      expires_at: session.expires_at,
      expires_in_seconds: tokenLifetimeSeconds,
    });
    return rawJson(`${head.slice(0, -1)},"person":${account.person}}`);
  }

  return {
    login,
    refuseLogin: async ({ ip }) => {
      await throttle.admitGateTry(ip);
      await findCredentials(db, { email: '' });
      await gatePasswords.verify('', null);
      throttle.count('gate_key');
      throw invalidCredentials();
    },
    logout: async (_request, { actor }) => {
      const sessionKey = actor?.kind === 'user' ? actor.sessionKey : undefined;
      if (sessionKey === undefined) throw new AppError({ code: 'unauthenticated', message: 'Authentication required.' });
      await jobs.transaction(async (tx) => {
        const revoked = await revokeSession(tx, { sessionKey });
        if (revoked !== undefined) await jobs.emit(tx, directory.events.sessionsRevoked, { session_keys: [sessionKey] });
      });
      return { revoked: true };
    },
    verifySession: async ({ token }) => {
      const parts = parseToken(token);
      const row = parts === undefined ? undefined : await verifySession(db, parts);
      if (row === undefined) throw new AppError({ code: 'unauthenticated', message: 'Authentication required.' });
      return rawJson(row.body);
    },
    whoami: async (_request, { actor }) => {
      const personId = actor?.kind === 'user' ? actor.personId : null;
      const row = personId === null ? undefined : await getWhoami(db, { personId });
      if (row === undefined) throw new AppError({ code: 'permission_denied', message: 'This account has no person.' });
      return rawJson(row.body);
    },
  };
}
