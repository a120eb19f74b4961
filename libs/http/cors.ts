/** Cross-origin access (rules/http#cross-origin-access): `/api/*` but not `/api/v1/*`, on every answer, without credentials. */
import type { HttpContext } from './exchange.ts';

const allowedMethods = 'GET, POST, PUT, PATCH, OPTIONS';
/** What a page may read of an answer besides its type and length. */
const exposedHeaders = 'ETag, X-Request-Id, Retry-After, X-Api-Version, Deprecation, Idempotent-Replayed';
/** For as long a browser does not ask again. */
const maxAgeSeconds = '600';

export interface CorsOptions {
  /** `*` is every origin. */
  readonly origins: readonly string[];
  /** Of requests; undefined = those of the contract. */
  readonly headers?: readonly string[] | undefined;
}

const contractHeaders = ['Authorization', 'Content-Type'] as const;

/** Adds the headers for an origin of the list. */
export function createCors(allowed: CorsOptions): (ctx: HttpContext) => void {
  const origins = new Set(allowed.origins);
  const any = origins.has('*');
  const allowedHeaders = joinHeaders([...contractHeaders, ...(allowed.headers ?? [])]);
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
    res.setHeader('Access-Control-Expose-Headers', exposedHeaders);
    res.setHeader('Access-Control-Max-Age', maxAgeSeconds);
  };
}

/** Each once, however it is written. */
function joinHeaders(names: readonly string[]): string {
  const written = names.map((name) => name.toLowerCase());
  return names.filter((_name, index) => written.indexOf(written[index] ?? '') === index).join(', ');
}

/** True for the question that a browser asks before a cross-origin call; it is answered before routing and authentication. */
export function isPreflight({ req, method }: HttpContext): boolean {
  return method === 'OPTIONS' && req.headers.origin !== undefined && req.headers['access-control-request-method'] !== undefined;
}
