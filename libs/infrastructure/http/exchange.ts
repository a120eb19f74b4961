/** One HTTP exchange: koa's context with additional state. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ParameterizedContext } from 'koa';
import type { Actor } from '#libs/infrastructure/contract';
import type { ByteBudget } from './byte-budget.ts';
import { isIP } from 'node:net';

/**
 * Error format of a path: `/api/*` uses `{detail}` or `{error, message}`; `/api/v1/*` and `/api/ops/*` use `{code,
 * message, retryable}` and have no CORS (rules/http#error-envelopes).
 */
export type Surface = 'api' | 'v1' | 'other';

/** Why a guard rejected a request or closed a connection; a metric label. */
export const refusals = [
  'answer_too_slow',
  'body_too_late',
  'body_too_slow',
  'content_encoding',
  'no_room_for_answer',
  'no_room_for_body',
  'pipelining',
  'too_many_anonymous',
  'too_many_chats',
  'too_many_connections',
  'too_many_credential_checks',
  'too_many_requests',
  'too_many_waits',
] as const;
export type Refusal = (typeof refusals)[number];

export interface ExchangeState {
  /** Request id from `X-Request-Id`, or generated. It is in every response, log line and nested call. */
  requestId: string;
  surface: Surface;
  /** `performance.now()` when the request arrived. */
  startedAt: number;
  /** Path template of the matched route, or `unmatched`. It is a metric label, so it never contains an id. */
  route: string;
  actor: Actor | undefined;
  /** True for requests to the console, which accepts other credentials. */
  isFromConsole: boolean;
  /** W3C trace context of this request. */
  traceparent: string;
  /** Number of trusted proxies that append to `X-Forwarded-For`. */
  trustedProxyHops: number;
  /**
   * Authenticates and authorizes the request again, for requests that wait before the response (D89).
   * @throws AppError 401, 403, 503
   */
  authorize: () => Promise<Actor | undefined>;
  /** Counts a rejection by a guard. */
  countRefusal: (reason: Refusal) => void;
  /** Releases the request slot when the response starts, because a slow client can take long to read the response. */
  startResponse: () => void;
  /** The response is complete, although the connection stays open for the rest of the request. */
  isWritten: boolean;
  /** Budget of response bytes that clients have not read yet. */
  responseBudget: ByteBudget;
}

export type HttpContext = ParameterizedContext<ExchangeState>;

/** The properties of an exchange that the guards of bodies and responses need, with koa or another server. */
export interface HttpExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly state: Pick<ExchangeState, 'startedAt' | 'countRefusal' | 'responseBudget'>;
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

export function findSurface(path: string): Surface {
  if (!path.startsWith('/api')) return 'other';
  const next = path.charCodeAt(4);
  if (Number.isNaN(next)) return 'api';
  if (next !== 47) return 'other';
  return isWithin(path, '/api/v1') || isWithin(path, '/api/ops') ? 'v1' : 'api';
}

/** Changes the path for routing and for the error format. The log line has the original path. */
export function rewritePath(ctx: HttpContext, path: string): void {
  ctx.path = path;
  ctx.state.surface = findSurface(path);
}

/**
 * Returns the client address for rate limits (see `toAddressBlock`). Without trusted proxies it is the address of the
 * connection. With trusted proxies it is the `X-Forwarded-For` entry that the outermost trusted proxy appended; clients
 * can forge the entries to the left of it.
 */
export function clientAddressOf(ctx: HttpContext): string {
  const peer = ctx.req.socket.remoteAddress ?? '';
  const hops = ctx.state.trustedProxyHops;
  const forwarded = hops === 0 ? undefined : ctx.req.headers['x-forwarded-for'];
  if (forwarded === undefined) return toAddressBlock(peer);
  const entries = String(forwarded)
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return toAddressBlock(entries.at(-hops) ?? entries[0] ?? peer);
}

/** Returns the path for logs, without the name of a public file: the name grants access to the file. */
export function redactPath(path: string): string {
  return path.replace(/^(\/media\/[^/]*\/[^/]*\/).+/s, '$1…');
}

/**
 * Returns an IPv4 address, or the /64 block of an IPv6 address, in canonical form: the owner of an IPv6 address usually
 * has the whole block (D71). IPv4-mapped addresses become IPv4. Ports are removed; all invalid addresses count as one
 * client.
 */
export function toAddressBlock(text: string): string {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = bare.replace(/%.*/s, ''); // zone id of a link-local address
  const version = isIP(address);
  if (version === 4) return address;
  if (version !== 6) return 'unknown';
  const groups = readGroups(address);
  return readEmbedded(groups) ?? `${groups.slice(0, 4).join(':')}::/64`;
}

/** Returns the eight groups of an IPv6 address, in lower case and without leading zeros. */
function readGroups(address: string): string[] {
  const [left, right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = (left ?? '').split(':').filter((group) => group !== '');
  const after = (right ?? '').split(':').filter((group) => group !== '');
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
}

/** IPv6 addresses that contain an IPv4 address: `::ffff:0:0/96` (mapped) and `64:ff9b::/96` (NAT64, RFC 6052). */
const embedding = /^(?:0,0,0,0,0,ffff|64,ff9b,0,0,0,0),([0-9a-f]+),([0-9a-f]+)$/;

function readEmbedded(groups: readonly string[]): string | undefined {
  const found = embedding.exec(groups.join(','));
  if (found === null) return undefined;
  return found
    .slice(1)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((pair) => [pair >> 8, pair & 0xff])
    .join('.');
}
