/** Rejects requests that node's parser accepts and HTTP forbids, and normalizes paths (D107). */
import type { IncomingMessage } from 'node:http';
import { AppError, badRequest } from '#libs/infrastructure/errors';
import type { HttpExchange } from './exchange.ts';

/**
 * The Host header: a single token, or empty for a target without authority (RFC 9112 §3.2). Code that uses the host
 * validates it further.
 */
const hostPattern = /^[\x21-\x7e]*$/;

/**
 * Rejects a malformed request and closes its connection, because it is uncertain where the next request starts. @throws
 * AppError 400, 417
 */
export function rejectMalformed({ req, res }: Pick<HttpExchange, 'req' | 'res'>): void {
  const problem = findProblem(req);
  if (problem === undefined) return;
  res.setHeader('Connection', 'close');
  throw problem;
}

function findProblem({ httpVersion, headers, rawHeaders }: IncomingMessage): AppError | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return badRequest('Only HTTP/1.1 and HTTP/1.0 are supported');
  const { host, expect, 'transfer-encoding': coding } = headers;
  if (host === undefined ? httpVersion === '1.1' : !hostPattern.test(host) || isRepeated('host', rawHeaders))
    return badRequest('A request must have one valid Host header');
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked'))
    return badRequest('Transfer-Encoding must be chunked');
  if (expect !== undefined && httpVersion === '1.1' && !/^100-continue$/i.test(expect))
    return new AppError({ code: 'expectation_failed', message: 'Only Expect: 100-continue is supported' });
  return undefined;
}

function isRepeated(name: string, rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index];
    if (given?.length === name.length && given.toLowerCase() === name) count++;
  }
  return count > 1;
}

/**
 * Normalizes the request target to path and query without unnecessary percent-encoding. The host of an absolute target
 * replaces the Host header.
 * @returns false for an invalid target, which becomes `/`
 */
export function normalizeTarget(req: IncomingMessage): boolean {
  const { url = '' } = req;
  if (url.startsWith('/') || url === '*') {
    req.url = toPlain(url);
    return true;
  }
  const [, host, rest = ''] = /^https?:\/\/([^/?#]+)(.*)/is.exec(url) ?? [];
  req.url = host === undefined ? '/' : toPlain(rest.startsWith('/') ? rest : `/${rest}`);
  if (host !== undefined) req.headers.host = host;
  return host !== undefined;
}

function toPlain(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? plainPath(target) : `${plainPath(target.slice(0, end))}${target.slice(end)}`;
}

/** Returns the path without unnecessary percent-encoding (RFC 3986 §2.3). */
export function plainPath(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(/%([2-7][0-9a-f])/gi, (encoded, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[\w.~-]/.test(character) ? character : encoded;
  });
}
