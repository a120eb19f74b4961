/** Who may call what: the classes of routes (architecture#contracts; rules/access#classes-of-routes; D12, D13, D30, D40). */
import { timingSafeEqual } from 'node:crypto';
import type { Actor, AuthClass } from '#libs/contract';
import { AppError, appError } from '#libs/errors';
import { type HttpContext, readClientAddress } from '#libs/http';
import type { CallContext } from '#libs/nats';
import { isUserToken, type Sessions } from './sessions.ts';

export interface AuthOptions {
  apiToken: string;
  loginSecret: string;
  sessions: Sessions;
  /** Does the work of a failed login and throws as one (D40: same work and answer whatever was wrong). */
  refuseLogin: (ip: string, call: CallContext) => Promise<unknown>;
}

const sharedActor: Actor = Object.freeze({ kind: 'shared' });
/** Time for the directory to answer about a credential. */
const verifyTimeoutMs = 5_000;

type UserActor = Extract<Actor, { kind: 'user' }>;

/** The check that stands before every route; credentials come from the Authorization header alone, never from cookies. */
export function createAuthenticate(
  options: AuthOptions,
): (auth: AuthClass, ctx: HttpContext) => Actor | undefined | Promise<Actor | undefined> {
  const isSharedToken = createSecretCheck(options.apiToken);
  const isGateKey = createSecretCheck(options.loginSecret);

  const verify = async (token: string, ctx: HttpContext): Promise<UserActor> => {
    if (!isUserToken(token)) throw unauthenticated();
    const actor = await options.sessions.verify(token, newCall(ctx));
    if (actor.kind !== 'user') throw unauthenticated();
    return actor;
  };

  const refuse = async (ctx: HttpContext): Promise<never> => {
    await options.refuseLogin(readClientAddress(ctx), newCall(ctx));
    throw new AppError({ code: 'unauthenticated', message: 'Invalid credentials.' });
  };

  return (auth, ctx) => {
    if (auth === 'none') return undefined;
    if (auth === 'login-gate') {
      const key = ctx.req.headers['x-svc-api-key'];
      return isGateKey(typeof key === 'string' ? key : '') ? undefined : refuse(ctx);
    }
    const token = readBearer(ctx.req.headers.authorization);
    if (token === undefined) throw unauthenticated();
    if (isSharedToken(token)) return admitShared(auth);
    if (auth === 'shared') throw unauthenticated();
    return verify(token, ctx).then((actor) => admitUser(auth, actor));
  };
}

function admitShared(auth: AuthClass): Actor {
  if (auth === 'shared' || auth === 'shared-or-user') return sharedActor;
  if (auth === 'user' || auth === 'coherence') throw perUserTokenRequired();
  throw unauthenticated();
}

function admitUser(auth: AuthClass, actor: UserActor): Actor {
  if (auth === 'coherence' && !actor.coherenceAccess) throw coherenceAccessRequired();
  // Every call of the open API is attributed to the person behind the account, who may be gone since the login.
  if (auth === 'v1' && actor.personId === null) throw new AppError({ code: 'permission_denied', message: 'This account has no person.' });
  if (auth === 'ops' && !actor.superuser) throw new AppError({ code: 'permission_denied', message: 'Only superusers may do this' });
  return actor;
}

/** Compares in a time that depends on neither text: both are laid into blocks of one size, which end with their lengths. */
function createSecretCheck(secret: string): (given: string) => boolean {
  const size = Math.max(256, Buffer.byteLength(secret));
  const lay = (block: Buffer, text: string): Buffer => {
    block.fill(0);
    block.write(text, 'utf8');
    block.writeUInt32LE(text.length, size);
    return block;
  };
  const expected = lay(Buffer.alloc(size + 4), secret);
  const block = Buffer.alloc(size + 4);
  return (given) => timingSafeEqual(lay(block, given), expected);
}

/** The token of `Authorization: Bearer <token>`; the scheme's case does not matter. */
function readBearer(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^bearer +(\S+)$/i.exec(header)?.[1];
}

function newCall(ctx: HttpContext): CallContext {
  return { requestId: ctx.state.requestId, traceparent: ctx.state.traceparent, deadlineMs: Date.now() + verifyTimeoutMs };
}

function unauthenticated(): AppError {
  return new AppError({ code: 'unauthenticated', message: 'Authentication is required.' });
}

function perUserTokenRequired(): AppError {
  const message = 'This operation needs a per-user token; the shared token is not accepted.';
  return appError('permission_denied', 'per_user_token_required', message, { detail: message });
}

function coherenceAccessRequired(): AppError {
  const message = 'This operation needs coherence access.';
  return appError('permission_denied', 'coherence_access_required', message, { detail: message });
}
