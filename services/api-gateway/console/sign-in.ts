/**
 * Sign-in to the console at the identity provider (S3; D105). The browser stores the pending sign-in in a cookie, gets
 * a session as after a password login, and returns to the requested page (P6). The return URL is not sealed; it is
 * validated when it is read.
 */
import { AppError } from '#libs/infrastructure/errors';
import { type HttpContext, type RouteHandler, sendEmpty } from '#libs/infrastructure/http';
import type { Bus, CallContext } from '#libs/infrastructure/nats';
import { type CodeSignIn, SignInError } from '#libs/infrastructure/oidc';
import { directory } from '#services/directory';
import { parseReturnUrl, withReason } from './return-url.ts';
import { findOwnHost, isFromOwnPage, requireOwnHost } from './session-cookie.ts';
import { findCookie } from './session-guard.ts';
import { SignInCookies, signInPath } from './sign-in-cookies.ts';

export interface ProviderSignIn {
  readonly start: RouteHandler;
  readonly finish: RouteHandler;
  readonly signOut: RouteHandler;
}

export interface ProviderSignInParts {
  readonly bus: Pick<Bus, 'call'>;
  readonly codeSignIn: CodeSignIn;
  /** Called for every failed sign-in. */
  readonly onFailure: (error: unknown, call: CallContext) => void;
}

const overviewUrl = parseReturnUrl(undefined);

export function createProviderSignIn({ bus, codeSignIn, onFailure }: ProviderSignInParts): ProviderSignIn {
  /** Redirects to the page with the reason of the failure. @throws unexpected errors */
  const sendBack = (ctx: HttpContext, call: CallContext, returnUrl: string, error: unknown): void => {
    const reason = reasonOf(error);
    if (reason !== 'limited') onFailure(error, call);
    send(ctx, withReason(returnUrl, reason));
  };
  const hasSession = async (ctx: HttpContext, call: CallContext): Promise<boolean> => {
    const token = findCookie(ctx).read(ctx.req.headers.cookie);
    if (token === undefined) return false;
    try {
      await bus.call(directory.rpcs.verifySession, { token, for_console: true }, call);
      return true;
    } catch (error) {
      if (error instanceof AppError) return false;
      throw error;
    }
  };
  return {
    start: async ({ ctx, call }) => {
      const returnUrl = parseReturnUrl(new URLSearchParams(ctx.search).get('to'));
      const own = requireOwnHost(ctx.req.headers);
      const cookies = new SignInCookies(own.isLocal, ctx.req.headers.cookie);
      try {
        const {
          url,
          state,
          stored: sealedState,
        } = await codeSignIn.begin(`${own.origin}${signInPath}/callback`, cookies.requiresLogin);
        ctx.res.appendHeader('Set-Cookie', cookies.add({ state, sealedState, returnUrl, nowMs: Date.now() }));
        send(ctx, url);
      } catch (error) {
        sendBack(ctx, call, returnUrl, error);
      }
    },
    finish: async ({ ctx, input, call }) => {
      const cookies = new SignInCookies(findOwnHost(ctx.req.headers)?.isLocal === true, ctx.req.headers.cookie);
      const pending = cookies.find(new URLSearchParams(ctx.search).get('state'));
      if (pending !== undefined) ctx.res.appendHeader('Set-Cookie', cookies.remove(pending));
      const returnUrl = pending?.returnUrl ?? overviewUrl;
      try {
        const { identity, withoutEmail, retainedForEnd } = await codeSignIn.finish(ctx.search, pending?.sealedState);
        const { issuer, subject, verifiedEmail } = identity;
        const request = {
          issuer,
          subject,
          ip: input.ip,
          ...(verifiedEmail === undefined ? {} : { email: verifiedEmail }),
        };
        const { token } = await bus.call(directory.rpcs.signInIdentity, request, call).catch((error: unknown) => {
          throw explainRefusal(error, withoutEmail);
        });
        ctx.res.appendHeader('Set-Cookie', [findCookie(ctx).write(token), cookies.setSignOutHint(retainedForEnd)]);
        if (cookies.requiresLogin) ctx.res.appendHeader('Set-Cookie', cookies.setRequiresLogin(false));
        send(ctx, returnUrl);
      } catch (error) {
        const isUnknown = error instanceof SignInError && error.detail === 'state';
        // The sign-in is already finished: the callback was opened twice, or another tab was faster.
        if (isUnknown && (await hasSession(ctx, call))) send(ctx, returnUrl);
        else sendBack(ctx, call, returnUrl, error);
      }
    },
    signOut: async ({ ctx }) => {
      const own = requireOwnHost(ctx.req.headers);
      // Links on other sites must not sign users out.
      if (!isFromOwnPage(ctx.method, ctx.req.headers)) return send(ctx, overviewUrl);
      const cookies = new SignInCookies(own.isLocal, ctx.req.headers.cookie);
      const url = await codeSignIn.endSession(`${own.origin}${overviewUrl}`, cookies.signOutHint);
      ctx.res.appendHeader('Set-Cookie', cookies.setSignOutHint(undefined));
      if (url === undefined) ctx.res.appendHeader('Set-Cookie', cookies.setRequiresLogin(true));
      send(ctx, url ?? overviewUrl);
    },
  };
}

function send(ctx: HttpContext, url: string): void {
  ctx.res.setHeader('Cache-Control', 'no-store');
  ctx.res.setHeader('Referrer-Policy', 'no-referrer');
  ctx.res.setHeader('Location', url);
  sendEmpty(ctx, 303);
}

/**
 * Maps an error of the directory to a sign-in error. A missing account can be caused by an email that could not be
 * fetched.
 */
function explainRefusal(error: unknown, withoutEmail: SignInError | undefined): unknown {
  if (!(error instanceof AppError)) return error;
  if (error.code === 'permission_denied')
    return new SignInError({ failure: 'refused', detail: 'no_person' }, { cause: error });
  if (error.code !== 'unauthenticated') return error;
  if (withoutEmail !== undefined && withoutEmail.failure !== 'refused') return withoutEmail;
  return new SignInError({ failure: 'refused', detail: 'no_account' }, { cause: error });
}

/** Returns the failure reason for the page; `limited` after too many sign-ins. @throws unexpected errors */
function reasonOf(error: unknown): string {
  if (!(error instanceof AppError)) throw error;
  if (error instanceof SignInError) return error.failure;
  if (error.code === 'rate_limited') return 'limited';
  return error.retryable ? 'away' : 'refused';
}
