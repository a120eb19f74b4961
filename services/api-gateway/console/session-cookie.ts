/** Session cookie of the console, and the check that a request was sent by a page of the console (S3). */
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '#libs/infrastructure/errors';

export interface SessionCookie {
  /**
   * Returns the token in a `Cookie` header. Returns undefined without a token, and for several tokens, as it is unclear
   * which one is valid.
   */
  read(header: string | undefined): string | undefined;
  /**
   * Returns the `Set-Cookie` header that starts a session. The cookie ends with the browser session; the directory ends
   * the token.
   */
  write(token: string): string;
  /** `Set-Cookie` header that removes the session cookie. */
  readonly removal: string;
}

const plainName = 'coherence_console';

const local = /^(?:localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Returns whether the host is this machine, where the console works without TLS. */
function isLocalHost(hostname: string): boolean {
  return local.test(hostname);
}

/**
 * Returns whether the request can have a session. As with an `Authorization` header, the cookie is not verified here.
 */
export function mayHaveSession(header: string | undefined): boolean {
  return header?.includes(`${plainName}=`) === true;
}

/** Creates the cookie. With TLS its name has the prefix `__Secure-`; browsers accept such cookies only over TLS. */
export function createSessionCookie(isSecure: boolean): SessionCookie {
  const name = `${isSecure ? '__Secure-' : ''}${plainName}`;
  const attributes = `; Path=/console; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    read: (header = '') => {
      const values = header.split(';').flatMap((pair) => {
        const [key = '', ...value] = pair.split('=');
        return key.trim() === name ? [value.join('=').trim()] : [];
      });
      // Several values are rejected: a sibling host of the domain could have added a cookie with another account
      // (session fixation).
      return values.length === 1 ? values[0] : undefined;
    },
    write: (token) => `${name}=${token}${attributes}`,
    removal: `${name}=${attributes}; Max-Age=0`,
  };
}

/**
 * Returns the host of this server as the browser sees it, from the `Host` header that proxies pass on. Returns
 * undefined when `Host` is invalid.
 */
export function findOwnHost({ host }: IncomingHttpHeaders): { host: string; isLocal: boolean } | undefined {
  const address = `http://${host ?? ''}/`;
  if (host === undefined || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return url.pathname === '/' && url.username === ''
    ? { host: url.host, isLocal: isLocalHost(url.hostname) }
    : undefined;
}

/** Returns the origin of this server as the browser sees it. @throws AppError bad_request */
export function requireOwnHost(headers: IncomingHttpHeaders): { isLocal: boolean; origin: string } {
  const own = findOwnHost(headers);
  if (own === undefined)
    throw new AppError({ code: 'bad_request', message: 'The `Host` header is missing or invalid.' });
  return { isLocal: own.isLocal, origin: `${own.isLocal ? 'http' : 'https'}://${own.host}` };
}

/**
 * Returns whether a browser sent the request from a page of this server. Changes require an `Origin` header; browsers
 * can omit it for reads.
 */
export function isFromOwnPage(method: string, headers: IncomingHttpHeaders): boolean {
  const own = findOwnHost(headers);
  if (own === undefined) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin } = headers;
  if (origin === undefined) return method === 'GET' || method === 'HEAD';
  if (!URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  // Cookie and page require TLS, except on this machine.
  const isProtected = protocol === 'https:' || (own.isLocal && protocol === 'http:');
  return isProtected && stripPort(host, protocol) === stripPort(own.host, protocol);
}

/** Removes the default port, which some proxies do not pass on. */
function stripPort(host: string, protocol: string): string {
  return host.replace(protocol === 'https:' ? /:443$/ : /:80$/, '');
}
