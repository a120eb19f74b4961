/** Requests that node's parser lets through and HTTP does not, and paths that are written in several ways (D107). */
import type { IncomingMessage } from 'node:http';
import { AppError, badRequest } from '#libs/errors';
import type { HttpExchange } from './exchange.ts';

/** One word; empty where the target has no authority (RFC 9112 §3.2). Which host it is, is for those to judge who rely on it. */
const hostPattern = /^[\x21-\x7e]*$/;

/** The answer ends the connection: where the next request would begin is not certain. @throws AppError 400, 417 */
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
 * Gives a request the usual form of its target: path and query, with characters that need no encoding as they are. What names a server of its own
 * counts as its Host. @returns false for a target that is none; it becomes `/`
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

/** The path with characters that need no encoding as they are (RFC 3986 §2.3). */
export function plainPath(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(/%([2-7][0-9a-f])/gi, (encoded, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[\w.~-]/.test(character) ? character : encoded;
  });
}
