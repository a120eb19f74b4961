/** Session cookie of the console, and the check that a request comes from its own pages (S3). */
import type { IncomingHttpHeaders } from 'node:http';

export interface SessionCookie {
  /**
   * The token in a `Cookie` header; undefined when there is none, or more than one, as it is unclear which one is
   * valid.
   */
  read(header: string | undefined): string | undefined;
  /** `Set-Cookie` that starts a session. The cookie ends with the browser; the directory ends the token. */
  write(token: string): string;
  /** `Set-Cookie` that removes it. */
  readonly removal: string;
}

const plainName = 'coherence_console';

const local = /^(?:localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Whether the host is this machine, where the console works without TLS. */
function isLocalHost(hostname: string): boolean {
  return local.test(hostname);
}

/** Whether the request can have a session. Like an `Authorization` header, the cookie is not verified here. */
export function mayHaveSession(header: string | undefined): boolean {
  return header?.includes(`${plainName}=`) === true;
}

/** With TLS the name has the prefix `__Secure-`: browsers accept such cookies only over TLS. */
export function createSessionCookie(isSecure: boolean): SessionCookie {
  const name = `${isSecure ? '__Secure-' : ''}${plainName}`;
  const attributes = `; Path=/console; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    read: (header = '') => {
      const values = header.split(';').flatMap((pair) => {
        const [key = '', ...value] = pair.split('=');
        return key.trim() === name ? [value.join('=').trim()] : [];
      });
      // A sibling host of the same domain could add a cookie of its own account (session fixation).
      return values.length === 1 ? values[0] : undefined;
    },
    write: (token) => `${name}=${token}${attributes}`,
    removal: `${name}=${attributes}; Max-Age=0`,
  };
}

/** Host of this server as the browser sees it; a proxy passes `Host` on. Undefined when `Host` is invalid. */
export function findOwnHost({ host }: IncomingHttpHeaders): { host: string; isLocal: boolean } | undefined {
  const address = `http://${host ?? ''}/`;
  if (host === undefined || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return url.pathname === '/' && url.username === ''
    ? { host: url.host, isLocal: isLocalHost(url.hostname) }
    : undefined;
}

/**
 * Whether a browser sent the request from a page of this server. Changes require an `Origin` header; reads can omit it,
 * as browsers do.
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
  // Except on this machine, cookie and page require TLS.
  const isProtected = protocol === 'https:' || (own.isLocal && protocol === 'http:');
  return isProtected && stripPort(host, protocol) === stripPort(own.host, protocol);
}

/** Not all proxies pass the default port on. */
function stripPort(host: string, protocol: string): string {
  return host.replace(protocol === 'https:' ? /:443$/ : /:80$/, '');
}
