/**
 * Handles requests of the console (S3). `/console/api/…` with the session cookie is rewritten to `/api/…` with the
 * bearer token of the cookie, and passes the same routes, checks and limits. Routes do not read cookies.
 * `/console/api/…` is the only path that accepts console sessions, and accepts no other tokens.
 */
import { AppError, notFound } from '#libs/infrastructure/errors';
import { type HttpContext, rewritePath } from '#libs/infrastructure/http';
import { createSessionCookie, findOwnHost, isFromOwnPage, type SessionCookie } from './session-cookie.ts';

const root = '/console';
const callPrefix = `${root}/api/`;
const invitationPath = `${root}/invitation`;
const logoutPath = '/api/v1/auth/logout';

/** Prevents scripts in a response that is opened as a page. */
const responsePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

interface SessionGuardOptions {
  /** False: the console returns 404, except the page of invitations (W7). */
  readonly isEnabled: boolean;
  readonly isAllowed: (method: string, path: string) => boolean;
}

export function createSessionGuard({ isEnabled, isAllowed }: SessionGuardOptions) {
  const guard = async (ctx: HttpContext, next: () => Promise<unknown>): Promise<void> => {
    if (!isEnabled && !isOfInvitation(ctx.path)) throw notFound();
    const isCall = ctx.path.startsWith(callPrefix);
    const isChange = ctx.method !== 'GET' && ctx.method !== 'HEAD';
    if ((isCall || isChange) && !isFromOwnPage(ctx.method, ctx.req.headers))
      throw new AppError({ code: 'permission_denied', message: 'The console accepts requests of its own pages only.' });
    if (!isCall) {
      await next();
      return;
    }
    const path = ctx.path.slice(root.length);
    if (!isAllowed(ctx.method, path)) throw notFound();
    const cookie = findCookie(ctx);
    const token = cookie.read(ctx.req.headers.cookie);
    // The session determines the actor, so other credentials are removed.
    delete ctx.req.headers.authorization;
    if (token !== undefined) ctx.req.headers.authorization = `Bearer ${token}`;
    ctx.res.setHeader('Content-Security-Policy', responsePolicy);
    ctx.res.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    ctx.state.isFromConsole = true;
    rewritePath(ctx, path);
    await next();
    if (path === logoutPath) ctx.res.appendHeader('Set-Cookie', cookie.removal);
  };
  return (ctx: HttpContext, next: () => Promise<unknown>): Promise<unknown> =>
    ctx.path === root || ctx.path.startsWith(`${root}/`) ? guard(ctx, next) : next();
}

/** Returns whether a path belongs to the page of invitations, which accounts of the API need, too. */
const isOfInvitation = (path: string): boolean =>
  path.replace(/\/$/, '') === invitationPath || path.startsWith(`${root}/assets/`);

/** Returns the session cookie for the host of the request. */
export function findCookie(ctx: HttpContext): SessionCookie {
  return createSessionCookie(findOwnHost(ctx.req.headers)?.isLocal !== true);
}
