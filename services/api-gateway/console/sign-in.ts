/**
 * Sign-in to the console at the identity provider (S3): there with what the browser keeps in a cookie of its own, and back with a session like that of
 * a password, to the page that was asked for (P6). That stands beside what is sealed, and is judged when it is read: pages of the console, to which any link
 * may lead, and nothing else.
 */
import { AppError } from '#libs/errors';
import { type HttpContext, type RouteHandler, sendNothing } from '#libs/http';
import type { Bus } from '#libs/nats';
import type { CodeSignIn } from '#libs/oidc';
import { directory } from '#services/directory';
import { findCookie } from './door.ts';
import { findOwnHost } from './own-origin.ts';
import { readPlace, withReason } from './place.ts';

const keptSeconds = 600;
const path = '/console/sign-in';

export interface ProviderSignIn {
  readonly begin: RouteHandler;
  readonly finish: RouteHandler;
}

export function createProviderSignIn(bus: Pick<Bus, 'call'>, codeSignIn: CodeSignIn): ProviderSignIn {
  return {
    begin: async ({ ctx }) => {
      const place = readPlace(new URLSearchParams(ctx.search).get('to'));
      const own = findOwnHost(ctx.req.headers);
      if (own === undefined) throw new AppError({ code: 'bad_request', message: 'The request names no host.' });
      try {
        const { url, kept } = await codeSignIn.begin(`${own.isLocal ? 'http' : 'https'}://${own.host}${path}/callback`);
        // Lax: the provider sends the browser back from its own site.
        ctx.res.appendHeader(
          'Set-Cookie',
          `${write(own.isLocal, `${kept}${divider}${encodeURIComponent(place)}`)}; Max-Age=${keptSeconds}`,
        );
        send(ctx, url);
      } catch (error) {
        send(ctx, withReason(place, reasonOf(error)));
      }
    },
    finish: async ({ ctx, input, call }) => {
      const isLocal = findOwnHost(ctx.req.headers)?.isLocal === true;
      ctx.res.appendHeader('Set-Cookie', `${write(isLocal, '')}; Max-Age=0`);
      const { kept, place } = splitKept(read(isLocal, ctx.req.headers.cookie));
      try {
        const { issuer, subject, verifiedEmail } = await codeSignIn.finish(ctx.search, kept);
        const request = { issuer, subject, ip: input.ip, ...(verifiedEmail === undefined ? {} : { email: verifiedEmail }) };
        const { token } = await bus.call(directory.rpcs.signInIdentity, request, call);
        ctx.res.appendHeader('Set-Cookie', findCookie(ctx).write(token));
        send(ctx, place);
      } catch (error) {
        send(ctx, withReason(place, reasonOf(error)));
      }
    },
  };
}

function send(ctx: HttpContext, url: string): void {
  ctx.res.setHeader('Cache-Control', 'no-store');
  ctx.res.setHeader('Referrer-Policy', 'no-referrer');
  ctx.res.setHeader('Location', url);
  sendNothing(ctx, 303);
}

/** For the page: `refused`, `limited` for too many of them, or `away` for what else may work in a moment. @throws what is a fault */
function reasonOf(error: unknown): 'refused' | 'limited' | 'away' {
  if (!(error instanceof AppError)) throw error;
  if (error.code === 'rate_limited') return 'limited';
  return error.retryable ? 'away' : 'refused';
}

const nameOf = (isLocal: boolean): string => `${isLocal ? '' : '__Secure-'}coherence_sign_in`;

function write(isLocal: boolean, value: string): string {
  return `${nameOf(isLocal)}=${value}; Path=${path}; HttpOnly; SameSite=Lax${isLocal ? '' : '; Secure'}`;
}

/** In no sealed text, and in no place as the cookie has it. */
const divider = '|';

function splitKept(value: string | undefined): { kept: string | undefined; place: string } {
  const [kept, place] = value?.split(divider) ?? [];
  try {
    return { kept, place: readPlace(decodeURIComponent(place ?? '')) };
  } catch {
    return { kept, place: readPlace(undefined) };
  }
}

/** Undefined when there is none, or more than one. */
function read(isLocal: boolean, header = ''): string | undefined {
  const values = header.split(';').flatMap((pair) => {
    const [key = '', ...value] = pair.split('=');
    return key.trim() === nameOf(isLocal) ? [value.join('=').trim()] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}
