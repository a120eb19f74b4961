/** One HTTP exchange as the library's parts see it: koa's context with what the edge knows of the request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ParameterizedContext } from 'koa';
import type { Actor } from '#libs/contract';
import type { ByteBudget } from './byte-budget.ts';
import type { Metrics } from '#libs/telemetry';
import { isIP } from 'node:net';

/**
 * `/api/*` answers with `{detail}` or `{error, message}`; `/api/v1/*` and `/api/ops/*` with `{code, message, retryable}`, and without CORS
 * (rules/http#error-envelopes).
 */
export type Surface = 'api' | 'v1' | 'other';

/** Why a guard refused a request or ended a connection; the label of a metric. */
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
  /** From `X-Request-Id` or made here; in every answer, log line and hop. */
  requestId: string;
  surface: Surface;
  /** `performance.now()` at arrival. */
  startedAt: number;
  /** Template of the matched route, or `unmatched`; never an id (it labels metrics). */
  route: string;
  actor: Actor | undefined;
  /** True for what came in by the door of the console, where other credentials are taken than elsewhere. */
  isFromConsole: boolean;
  /** W3C trace context of what is done for this request. */
  traceparent: string;
  /** Hops before this server whose `X-Forwarded-For` entries are believed. */
  trustedProxyHops: number;
  /**
   * Checks the credential and the rights of the request again, as they are now: for requests that wait before they are answered (D89).
   * @throws AppError 401, 403, 503
   */
  authorize: () => Promise<Actor | undefined>;
  /** Counts what a guard refuses. */
  countRefusal: (reason: Refusal) => void;
  /** The work is done and the answer begins, which may take as long as the client likes: gives the place for work back. */
  beginResponse: () => void;
  /** The answer is written whole, even when the connection is kept open for the rest of the request. */
  isWritten: boolean;
  /** Bytes of answers that clients have not taken yet. */
  responseBudget: ByteBudget;
}

export type HttpContext = ParameterizedContext<ExchangeState>;

/** What the guards of bodies and answers see of an exchange, koa's or another server's. */
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

/** From here on the request is one for this path: routes and envelopes see no other. Its log line keeps the path that it came with. */
export function rewritePath(ctx: HttpContext, path: string): void {
  ctx.path = path;
  ctx.state.surface = findSurface(path);
}

/**
 * What limits count the client by (`toAddressBlock`): the peer, or with `hops` trusted proxies the entry that the outermost of them wrote.
 * Entries further left are the client's own words.
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

/** The path of a request as logs have it: the name of a public file, whose knowledge opens it, is left out. */
export function redactPath(path: string): string {
  return path.replace(/^(\/media\/[^/]*\/[^/]*\/).+/s, '$1…');
}

/** @returns what counts one */
export function countRefusals(metrics: Metrics): (reason: Refusal) => void {
  const total = metrics.counter('http_requests_refused_total', 'Requests and connections ended by a guard', { reason: refusals });
  return (reason) => total.inc({ reason }, 1);
}

/**
 * An IPv4 address, or the /64 of an IPv6 address, each in one spelling: whoever has one IPv6 address has the 2^64 beside it (D71). IPv4 that is
 * seen through IPv6 counts as IPv4. A port, which proxies may add, is left out; all that is no address counts as one client.
 */
export function toAddressBlock(text: string): string {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = bare.replace(/%.*/s, ''); // the interface of a link-local address
  const version = isIP(address);
  if (version === 4) return address;
  if (version !== 6) return 'unknown';
  const groups = readGroups(address);
  return readEmbedded(groups) ?? `${groups.slice(0, 4).join(':')}::/64`;
}

/** The eight groups of an IPv6 address, in lower case and without leading zeros. */
function readGroups(address: string): string[] {
  const [left, right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = (left ?? '').split(':').filter((group) => group !== '');
  const after = (right ?? '').split(':').filter((group) => group !== '');
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
}

/** `::ffff:0:0/96` (mapped) and `64:ff9b::/96` (NAT64, RFC 6052). */
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
