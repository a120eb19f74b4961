/** Login, logout, verification of tokens, whoami (rules/access#login; D40). */
import { type AuditContext, recordAudit } from '#libs/infrastructure/audit';
import type { Static } from '#libs/infrastructure/contract';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import { type HandlersOf, rawJson, type RawJson } from '#libs/infrastructure/nats';
import type { Dependencies } from '../../dependencies.ts';
import { sessionEvents, type sessionRpcs } from '../contract.ts';
import { createToken, parseToken, tokenLifetimeSeconds } from '../rules.ts';
import {
  createSession,
  findCredentials,
  getWhoami,
  replacePasswordHash,
  revokeSession,
  verifySession,
} from '../statements/sessions.ts';

interface LoginAttempt {
  readonly email: string;
  readonly password: string;
  readonly from: AuditContext & { readonly clientIp: string };
  /** Client address, used as the key of the rate limits. */
  readonly address: string;
  readonly withoutGateKey: boolean;
}

type SessionHandlers = HandlersOf<typeof sessionRpcs>;

/** Maximum attempts when the account changes concurrently. */
const maxAttempts = 3;

function invalidCredentials(): AppError {
  return new AppError({ code: 'unauthenticated', message: 'Invalid credentials.' });
}

export function createSessionHandlers({
  db,
  jobs,
  passwords,
  gatePasswords,
  throttle,
  refused,
}: Pick<Dependencies, 'db' | 'jobs' | 'passwords' | 'gatePasswords' | 'throttle' | 'refused'>): SessionHandlers {
  async function login(request: Static<typeof sessionRpcs.login.request>, context: AuditContext): Promise<RawJson> {
    const { email, password, ip, without_gate_key: withoutGateKey = false } = request;
    // Callers with and without the gate key have separate limits, so that callers without it cannot block the others,
    // even from the same address (D76).
    const attempt = {
      email,
      password,
      from: { ...context, clientIp: ip },
      address: withoutGateKey ? `console ${ip}` : ip,
      withoutGateKey,
    };
    await throttle.admitLogin(attempt.address);
    for (let count = 1; count <= maxAttempts; count++) {
      const reply = await attemptLogin(attempt);
      if (reply !== undefined) return reply;
    }
    throw unavailable('The account is being changed');
  }

  /**
   * Attempts a login. Returns undefined if the account was changed while the password was checked; the caller retries.
   */
  async function attemptLogin({
    email,
    password,
    from,
    address,
    withoutGateKey,
  }: LoginAttempt): Promise<RawJson | undefined> {
    // The limit is checked before and after the password, so that parallel attempts are counted too.
    await throttle.admitEmail(email, address);
    const account = await findCredentials(db, { email });
    const { matches, upgraded } = await (withoutGateKey ? gatePasswords : passwords).check(
      password,
      account?.password_hash ?? null,
    );
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
      const created = await createSession(tx, {
        sessionKey,
        secretSha256,
        accountId,
        passwordHash,
        lifetimeSeconds: tokenLifetimeSeconds,
        forConsole: withoutGateKey,
      });
      if (created !== undefined) recordAudit(tx, from, { target: { type: 'account', id: accountId }, accountId });
      return created;
    });
    if (session === undefined) return undefined;
    if (upgraded !== undefined) await replacePasswordHash(db, { accountId, known: passwordHash, next: upgraded });
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
        throw new AppError({ code: 'permission_denied', message: 'Only a token of a login can be logged out.' });
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
