/**
 * Authorizes requests by the class of the route and the scopes of the key (rules/access#classes-of-routes; D12, D13,
 * D30, D40; K3, K4).
 */
import {
  type Actor,
  type AuthClass,
  hasScope,
  isChatAgent,
  mayActOps,
  mayReadOps,
  type Route,
} from '#libs/infrastructure/contract';
import { AppError, appError, coherenceAccessRequired } from '#libs/infrastructure/errors';
import { type HttpContext, clientAddressOf } from '#libs/infrastructure/http';
import type { CallContext } from '#libs/infrastructure/nats';
import { type Credential, unauthenticated, type UserActor } from './credentials/cache.ts';

export interface AuthOptions {
  isSharedToken: (given: string) => boolean;
  isGateKey: (given: string) => boolean;
  /** Tokens that act for an account. */
  credentials: readonly Credential[];
  /** Sessions of the console. Console requests accept only these sessions; all other requests reject them (S3). */
  consoleSessions: Credential;
  /** Behaves like a failed login, so that a wrong gate key is indistinguishable from a wrong password (D40). */
  refuseLogin: (ip: string, call: CallContext) => Promise<unknown>;
}

type Access = Pick<Route, 'auth' | 'scope' | 'forChatAgents'>;

const sharedActor: Actor = Object.freeze({ kind: 'shared' });
/** Timeout of verifying a credential. */
const verifyTimeoutMs = 5_000;

/**
 * Returns the function that authenticates the request of any route. It reads credentials from the Authorization header
 * only, never from cookies.
 */
export function createAuthenticate(
  options: AuthOptions,
): (route: Access, ctx: HttpContext) => Actor | undefined | Promise<Actor | undefined> {
  const { isSharedToken, isGateKey } = options;

  const refuse = async (ctx: HttpContext): Promise<never> => {
    await options.refuseLogin(clientAddressOf(ctx), newCall(ctx));
    throw new AppError({ code: 'unauthenticated', message: 'Invalid credentials.' });
  };

  return (route, ctx) => {
    const { auth } = route;
    if (auth === 'none') return undefined;
    if (auth === 'login-gate') {
      const key = ctx.req.headers['x-svc-api-key'];
      return isGateKey(typeof key === 'string' ? key : '') ? undefined : refuse(ctx);
    }
    const token = readBearer(ctx.req.headers.authorization);
    if (token === undefined) throw unauthenticated();
    const { isFromConsole } = ctx.state;
    if (!isFromConsole && isSharedToken(token)) return admitShared(auth);
    const credential = isFromConsole
      ? options.consoleSessions
      : options.credentials.find((form) => form.matches(token));
    if (credential?.matches(token) !== true) throw unauthenticated();
    const actor = credential.verify(token, () => newCall(ctx));
    return actor instanceof Promise ? actor.then((known) => admitUser(route, known)) : admitUser(route, actor);
  };
}

function admitShared(auth: AuthClass): Actor {
  if (auth === 'shared' || auth === 'shared-or-user') return sharedActor;
  if (auth === 'user' || auth === 'coherence') throw perUserTokenRequired();
  throw unauthenticated();
}

/** Checks the rights that a route requires of the account. @throws AppError permission_denied */
export function admitUser({ auth, scope, forChatAgents }: Access, actor: UserActor): Actor {
  const { key } = actor;
  if (key !== undefined && typeof scope === 'string' && !hasScope(key.scopes, scope))
    throw insufficientScope(scope, key.scopes);
  // Routes for the platform's own clients accept service keys with the scope of the route, but not logins of people
  // (D30).
  if (auth === 'shared' && key === undefined) throw unauthenticated();
  if (auth === 'coherence' && !actor.coherenceAccess) throw coherenceAccessRequired();
  // Requests of the open API are attributed to the person of the account. The person can have been erased since the
  // login.
  if (auth === 'v1' && actor.personId === null)
    throw new AppError({ code: 'permission_denied', message: 'This account has no person.' });
  if (forChatAgents === true && isChatAgent(actor)) return actor;
  if (auth === 'ops' && !mayReadOps(actor)) {
    throw new AppError({
      code: 'permission_denied',
      message: 'Only superusers and members of ops_viewers or ops_operators may see operations.',
    });
  }
  if (auth === 'ops-act' && !mayActOps(actor)) {
    throw new AppError({
      code: 'permission_denied',
      message: 'Only superusers and members of ops_operators may do this.',
    });
  }
  return actor;
}

/** Returns the token of `Authorization: Bearer <token>`. The scheme is case-insensitive. */
function readBearer(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^bearer +(\S+)$/i.exec(header)?.[1];
}

/** Created only when needed: an object per request costs a sixth of a read. */
function newCall(ctx: HttpContext): CallContext {
  const { requestId, traceparent } = ctx.state;
  return { requestId, traceparent, deadlineMs: Date.now() + verifyTimeoutMs, clientIp: clientAddressOf(ctx) };
}

function perUserTokenRequired(): AppError {
  const message = 'This operation needs a per-user token; the shared token is not accepted.';
  return appError('permission_denied', 'per_user_token_required', message, { detail: message });
}

function insufficientScope(needed: string, held: readonly string[]): AppError {
  const message = `This operation needs the scope ${needed}; the key has ${held.join(', ')}.`;
  return appError('permission_denied', 'insufficient_scope', message, {
    detail: message,
    required_scope: needed,
    scopes: held,
  });
}
