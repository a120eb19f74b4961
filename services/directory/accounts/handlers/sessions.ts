/** Login, logout, verification of tokens, whoami (rules/access#login; D40). */
import { type AuditContext, recordAudit } from '#libs/audit';
import type { Static } from '#libs/contract';
import { AppError, unavailable } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import { type HandlersOf, rawJson, type RawJson } from '#libs/nats';
import type { Database } from '#libs/orm';
import { sessionEvents, type sessionRpcs } from '../contract.ts';
import type { LoginThrottle, RefusedLogins } from '../login-limits.ts';
import { createToken, parseToken, type Passwords, tokenLifetimeSeconds } from '../rules.ts';
import { createSession, findCredentials, getWhoami, replacePasswordHash, revokeSession, verifySession } from '../statements/sessions.ts';

export interface SessionOptions {
  readonly db: Database;
  readonly jobs: Jobs;
  readonly passwords: Passwords;
  /** Does the work of those without the gate key, the console's included, so that they wait for each other alone. */
  readonly gatePasswords: Passwords;
  readonly throttle: LoginThrottle;
  readonly refused: RefusedLogins;
}

interface LoginAttempt {
  readonly email: string;
  readonly password: string;
  readonly from: AuditContext & { readonly clientIp: string };
  /** What limits count it by. */
  readonly address: string;
  readonly gateless: boolean;
}

type SessionHandlers = HandlersOf<typeof sessionRpcs>;

/** Times that a login looks at an account that changes under it. */
const maxAttempts = 3;

function invalidCredentials(): AppError {
  return new AppError({ code: 'unauthenticated', message: 'Invalid credentials.' });
}

export function createSessionHandlers(options: SessionOptions): SessionHandlers {
  const { db, jobs, passwords, gatePasswords, throttle, refused } = options;

  async function login(request: Static<typeof sessionRpcs.login.request>, context: AuditContext): Promise<RawJson> {
    const { email, password, ip, without_gate_key: gateless = false } = request;
    // Who has no gate key must not be able to hold back those who have it, also where they share an address (D76).
    const attempt = { email, password, from: { ...context, clientIp: ip }, address: gateless ? `console ${ip}` : ip, gateless };
    await throttle.admitLogin(attempt.address);
    for (let count = 1; count <= maxAttempts; count++) {
      const reply = await attemptLogin(attempt);
      if (reply !== undefined) return reply;
    }
    throw unavailable('The account is being changed');
  }

  /** Undefined when the account was changed while the password was checked: then it has to be checked again. */
  async function attemptLogin({ email, password, from, address, gateless }: LoginAttempt): Promise<RawJson | undefined> {
    // Asked before the password is checked, and again after: of parallel attempts only those count that finish inside the limit.
    await throttle.admitEmail(email, address);
    const account = await findCredentials(db, { email });
    const { matches, raised } = await (gateless ? gatePasswords : passwords).check(password, account?.password_hash ?? null);
    if (account === undefined || account.password_hash === null || !matches || !account.is_active) {
      await throttle.countFailure(email, address);
      throttle.count('credentials');
      await refused.record(from, account?.id ?? null, 'credentials');
      throw invalidCredentials();
    }
    await throttle.admitEmail(email, address);
    if (account.person === null) {
      await refused.record(from, account.id, 'no_person');
      throw new AppError({ code: 'permission_denied', message: 'This account has no person.' });
    }
    const { token, sessionKey, secretSha256 } = createToken();
    const { id: accountId, password_hash: passwordHash } = account;
    const session = await db.transaction(async (tx) => {
      const wanted = { sessionKey, secretSha256, accountId, passwordHash, lifetimeSeconds: tokenLifetimeSeconds, forConsole: gateless };
      const created = await createSession(tx, wanted);
      if (created !== undefined) recordAudit(tx, from, { target: { type: 'account', id: accountId }, accountId });
      return created;
    });
    if (session === undefined) return undefined;
    if (raised !== undefined) await replacePasswordHash(db, { accountId, known: passwordHash, next: raised });
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
    refuseLogin: async ({ ip }, context) => {
      await throttle.admitGateTry(ip);
      await findCredentials(db, { email: '' });
      await gatePasswords.verify('', null);
      throttle.count('gate_key');
      await refused.record({ ...context, clientIp: ip }, null, 'gate_key');
      throw invalidCredentials();
    },
    logout: async (_request, context) => {
      const { actor } = context;
      const sessionKey = actor?.kind === 'user' ? actor.sessionKey : undefined;
      if (sessionKey === undefined) {
        throw new AppError({ code: 'permission_denied', message: 'Only the token of a login can be logged out.' });
      }
      await jobs.transaction(async (tx) => {
        const revoked = await revokeSession(tx, { sessionKey });
        if (revoked === undefined) return;
        await jobs.emit(tx, sessionEvents.sessionsRevoked, { session_keys: [sessionKey] });
        recordAudit(tx, context, { target: { type: 'account', id: revoked.account_id } });
      });
      return { revoked: true };
    },
    verifySession: async ({ token, for_console: forConsole = false }) => {
      const parts = parseToken(token);
      const row = parts === undefined ? undefined : await verifySession(db, { ...parts, forConsole });
      if (row === undefined) throw new AppError({ code: 'unauthenticated', message: 'Authentication required.' });
      return rawJson(row.body);
    },
    whoami: async (_request, { actor }) => {
      const personId = actor?.kind === 'user' ? actor.personId : null;
      const keyId = actor?.kind === 'user' ? actor.key?.id : undefined;
      const row = personId === null ? undefined : await getWhoami(db, { personId, keyId });
      if (row === undefined) throw new AppError({ code: 'permission_denied', message: 'This account has no person.' });
      return rawJson(row.body);
    },
  };
}
