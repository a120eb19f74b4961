/** Cross-origin access (rules/http#cross-origin-access): `/api/*` but not `/api/v1/*`, on every answer, without credentials. */
import type { HttpContext } from './exchange.ts';

const allowedMethods = 'GET, POST, PUT, PATCH, OPTIONS';
const allowedHeaders = 'Authorization, Content-Type';

/** Adds the headers for an origin of the list; `*` in the list allows every origin. */
export function createCors(allowedOrigins: readonly string[]): (ctx: HttpContext) => void {
  const origins = new Set(allowedOrigins);
  const any = origins.has('*');
  return ({ req, res }) => {
    if (any) res.setHeader('Access-Control-Allow-Origin', '*');
    else res.setHeader('Vary', 'Origin');
    const origin = req.headers.origin;
    if (!any) {
      if (origin === undefined || !origins.has(origin)) return;
      res.setHeader('Access-Control-Allow-Origin', origin);
    }
    res.setHeader('Access-Control-Allow-Methods', allowedMethods);
    res.setHeader('Access-Control-Allow-Headers', allowedHeaders);
  };
}

/** True for the question that a browser asks before a cross-origin call; it is answered before routing and authentication. */
export function isPreflight({ req, method }: HttpContext): boolean {
  return method === 'OPTIONS' && req.headers.origin !== undefined && req.headers['access-control-request-method'] !== undefined;
}
