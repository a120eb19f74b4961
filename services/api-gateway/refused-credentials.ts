/** Counts 401 responses by type of credential. An increase indicates clients with old credentials, or guessing. */
import type { Actor, AuthClass, Route } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import type { HttpContext } from '#libs/infrastructure/http';
import type { Metrics } from '#libs/infrastructure/telemetry';

type Authenticate = (
  route: Pick<Route, 'auth' | 'scope'>,
  ctx: HttpContext,
) => Actor | undefined | Promise<Actor | undefined>;

/** `other` means a token in a format that the platform does not issue, including wrong or old shared tokens. */
const credentials = ['none', 'gate_key', 'login_token', 'service_key', 'identity_token', 'other'] as const;
type Credential = (typeof credentials)[number];
/** Token prefixes and the type of credential that each of them identifies. */
const forms: Readonly<Record<string, Credential>> = {
  svc_agentic_: 'login_token',
  svc_key_: 'service_key',
  eyJ: 'identity_token',
};

/** Wraps an authentication function and counts its rejections. */
export function countRefusedCredentials(metrics: Metrics, authenticate: Authenticate): Authenticate {
  const refused = metrics.counter('credentials_refused_total', 'Requests answered 401, by kind of credential', {
    credential: credentials,
  });
  const count = (auth: AuthClass, ctx: HttpContext, error: unknown): never => {
    if (error instanceof AppError && error.code === 'unauthenticated')
      refused.inc({ credential: kindOf(auth, ctx.req.headers.authorization) });
    throw error;
  };
  return (route, ctx) => {
    try {
      const actor = authenticate(route, ctx);
      return actor instanceof Promise ? actor.catch((error: unknown) => count(route.auth, ctx, error)) : actor;
    } catch (error) {
      return count(route.auth, ctx, error);
    }
  };
}

function kindOf(auth: AuthClass, authorization: string | undefined): Credential {
  if (auth === 'login-gate') return 'gate_key';
  if (authorization === undefined) return 'none';
  const [, form] = /^[Bb][Ee][Aa][Rr][Ee][Rr] +(svc_agentic_|svc_key_|eyJ)/.exec(authorization) ?? [];
  return forms[form ?? ''] ?? 'other';
}
