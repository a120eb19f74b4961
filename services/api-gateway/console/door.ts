/**
 * The way of the console's calls (S3): `/console/api/…` with the session cookie goes on as `/api/…` with the bearer token that the cookie
 * holds, through the very same routes, checks and limits. No route reads a cookie; what is no call of the console ends here. Who comes this way needs
 * a session of the console, which nobody may have who comes another way.
 */
import { AppError, notFound } from '#libs/errors';
import { type HttpContext, rewritePath } from '#libs/http';
import { createSessionCookie, type SessionCookie } from './cookie.ts';
import { findOwnHost, isFromOwnPage } from './own-origin.ts';

const root = '/console';
const callPrefix = `${root}/api/`;
const logoutPath = '/api/v1/auth/logout';

/** An answer that somebody opens as a page of its own does nothing there. */
const inertPage = "default-src 'none'; frame-ancestors 'none'; sandbox";

interface DoorOptions {
  /** False: there is no console here. */
  readonly isEnabled: boolean;
  readonly isWithinReach: (method: string, path: string) => boolean;
}

export function createConsoleDoor({ isEnabled, isWithinReach }: DoorOptions) {
  const enter = async (ctx: HttpContext, next: () => Promise<unknown>): Promise<void> => {
    if (!isEnabled) throw notFound();
    const isCall = ctx.path.startsWith(callPrefix);
    const changes = ctx.method !== 'GET' && ctx.method !== 'HEAD';
    if ((isCall || changes) && !isFromOwnPage(ctx.method, ctx.req.headers)) throw fromElsewhere();
    if (!isCall) {
      await next();
      return;
    }
    const path = ctx.path.slice(root.length);
    if (!isWithinReach(ctx.method, path)) throw notFound();
    const cookie = findCookie(ctx);
    const token = cookie.read(ctx.req.headers.cookie);
    // Whatever else the request brings: the session alone says who acts.
    delete ctx.req.headers.authorization;
    if (token !== undefined) ctx.req.headers.authorization = `Bearer ${token}`;
    ctx.res.setHeader('Content-Security-Policy', inertPage);
    ctx.res.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    ctx.state.isFromConsole = true;
    rewritePath(ctx, path);
    await next();
    if (path === logoutPath) ctx.res.appendHeader('Set-Cookie', cookie.removal);
  };
  return (ctx: HttpContext, next: () => Promise<unknown>): Promise<unknown> =>
    ctx.path === root || ctx.path.startsWith(`${root}/`) ? enter(ctx, next) : next();
}

/** The cookie as it is where the request came to. */
export function findCookie(ctx: HttpContext): SessionCookie {
  return createSessionCookie(findOwnHost(ctx.req.headers)?.isLocal !== true);
}

function fromElsewhere(): AppError {
  return new AppError({ code: 'permission_denied', message: 'The console answers its own pages only.' });
}
