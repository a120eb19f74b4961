/**
 * Sign-in to the console at the identity provider (S3; D105): there with what the browser keeps in a cookie of its own, and back with a session like that of
 * a password, to the page that was asked for (P6). That stands beside what is sealed, and is judged when it is read: pages of the console, to which any link
 * may lead, and nothing else.
 */
import { AppError } from '#libs/errors';
import { type HttpContext, type RouteHandler, sendEmpty } from '#libs/http';
import type { Bus, CallContext } from '#libs/nats';
import { type CodeSignIn, SignInError } from '#libs/oidc';
import { directory } from '#services/directory';
import { findCookie } from './door.ts';
import { SignInCookies, signInPath } from './sign-in-cookies.ts';
import { findOwnHost, isFromOwnPage } from './own-origin.ts';
import { readPlace, withReason } from './place.ts';

export interface ProviderSignIn {
  readonly begin: RouteHandler;
  readonly finish: RouteHandler;
  readonly leave: RouteHandler;
}

export interface ProviderSignInParts {
  readonly bus: Pick<Bus, 'call'>;
  readonly codeSignIn: CodeSignIn;
  /** Told of every sign-in that failed, however. */
  readonly onFailure: (error: unknown, call: CallContext) => void;
}

const start = readPlace(undefined);

export function createProviderSignIn({ bus, codeSignIn, onFailure }: ProviderSignInParts): ProviderSignIn {
  /** To the page, which says why nobody was signed in. @throws what is a fault */
  const sendBack = (ctx: HttpContext, call: CallContext, place: string, error: unknown): void => {
    const reason = reasonOf(error);
    if (reason !== 'limited') onFailure(error, call);
    send(ctx, withReason(place, reason));
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
    begin: async ({ ctx, call }) => {
      const place = readPlace(new URLSearchParams(ctx.search).get('to'));
      const own = requireOwnHost(ctx);
      const cookies = new SignInCookies(own.isLocal, ctx.req.headers.cookie);
      try {
        const { url, state, kept } = await codeSignIn.begin(`${own.origin}${signInPath}/callback`, cookies.asksAgain);
        ctx.res.appendHeader('Set-Cookie', cookies.add({ state, kept, place, nowMs: Date.now() }));
        send(ctx, url);
      } catch (error) {
        sendBack(ctx, call, place, error);
      }
    },
    finish: async ({ ctx, input, call }) => {
      const cookies = new SignInCookies(findOwnHost(ctx.req.headers)?.isLocal === true, ctx.req.headers.cookie);
      const pending = cookies.find(new URLSearchParams(ctx.search).get('state'));
      if (pending !== undefined) ctx.res.appendHeader('Set-Cookie', cookies.remove(pending));
      const place = pending?.place ?? start;
      try {
        const { identity, withoutEmail, keptForEnd } = await codeSignIn.finish(ctx.search, pending?.kept);
        const { issuer, subject, verifiedEmail } = identity;
        const request = { issuer, subject, ip: input.ip, ...(verifiedEmail === undefined ? {} : { email: verifiedEmail }) };
        const { token } = await bus.call(directory.rpcs.signInIdentity, request, call).catch((error: unknown) => {
          throw explainRefusal(error, withoutEmail);
        });
        ctx.res.appendHeader('Set-Cookie', [findCookie(ctx).write(token), cookies.keepForEnd(keptForEnd)]);
        if (cookies.asksAgain) ctx.res.appendHeader('Set-Cookie', cookies.askAgain(false));
        send(ctx, place);
      } catch (error) {
        const isUnknown = error instanceof SignInError && error.detail === 'state';
        // The address was opened again, or another tab was faster.
        if (isUnknown && (await hasSession(ctx, call))) send(ctx, place);
        else sendBack(ctx, call, place, error);
      }
    },
    leave: async ({ ctx }) => {
      const own = requireOwnHost(ctx);
      // Nobody is signed out by a link of another site.
      if (!isFromOwnPage(ctx.method, ctx.req.headers)) return send(ctx, start);
      const cookies = new SignInCookies(own.isLocal, ctx.req.headers.cookie);
      const url = await codeSignIn.endSession(`${own.origin}${start}`, cookies.forEnd);
      ctx.res.appendHeader('Set-Cookie', cookies.keepForEnd(undefined));
      if (url === undefined) ctx.res.appendHeader('Set-Cookie', cookies.askAgain(true));
      send(ctx, url ?? start);
    },
  };
}

/** Where this server is for the browser. @throws AppError bad_request */
function requireOwnHost(ctx: HttpContext): { isLocal: boolean; origin: string } {
  const own = findOwnHost(ctx.req.headers);
  if (own === undefined) throw new AppError({ code: 'bad_request', message: 'The request names no host.' });
  return { isLocal: own.isLocal, origin: `${own.isLocal ? 'http' : 'https'}://${own.host}` };
}

function send(ctx: HttpContext, url: string): void {
  ctx.res.setHeader('Cache-Control', 'no-store');
  ctx.res.setHeader('Referrer-Policy', 'no-referrer');
  ctx.res.setHeader('Location', url);
  sendEmpty(ctx, 303);
}

/** The directory knows no account for whom the provider named: because of the email, where that could not be asked for. */
function explainRefusal(error: unknown, withoutEmail: SignInError | undefined): unknown {
  if (!(error instanceof AppError)) return error;
  if (error.code === 'permission_denied') return new SignInError({ failure: 'refused', detail: 'no_person' }, { cause: error });
  if (error.code !== 'unauthenticated') return error;
  if (withoutEmail !== undefined && withoutEmail.failure !== 'refused') return withoutEmail;
  return new SignInError({ failure: 'refused', detail: 'no_account' }, { cause: error });
}

/** For the page; `limited` for too many sign-ins. @throws what is a fault */
function reasonOf(error: unknown): string {
  if (!(error instanceof AppError)) throw error;
  if (error instanceof SignInError) return error.failure;
  if (error.code === 'rate_limited') return 'limited';
  return error.retryable ? 'away' : 'refused';
}
