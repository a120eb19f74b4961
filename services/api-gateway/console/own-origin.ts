/** Whether a browser sent a request from a page of this very server (S3). */
import type { IncomingHttpHeaders } from 'node:http';
import { isLocalHost } from './cookie.ts';

/** Where this server is for the browser; a proxy before it hands `Host` on. Undefined when `Host` is none. */
export function findOwnHost({ host }: IncomingHttpHeaders): { host: string; isLocal: boolean } | undefined {
  const address = `http://${host ?? ''}/`;
  if (host === undefined || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return url.pathname === '/' && url.username === '' ? { host: url.host, isLocal: isLocalHost(url.hostname) } : undefined;
}

/**
 * What changes something must name its origin. A read may leave it out, as browsers do; where they say that it comes from elsewhere, it is
 * refused like the others.
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
  // Elsewhere than on this machine the cookie travels encrypted only, and so did the page that asks.
  const isProtected = protocol === 'https:' || (own.isLocal && protocol === 'http:');
  return isProtected && stripPort(host, protocol) === stripPort(own.host, protocol);
}

/** Proxies differ in whether they hand the usual port on. */
function stripPort(host: string, protocol: string): string {
  return host.replace(protocol === 'https:' ? /:443$/ : /:80$/, '');
}
