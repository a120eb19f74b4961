/**
 * Calls the operation of a route for another handler (rules/mcp#tools), with the input checks of the route and without
 * an HTTP request.
 */
import type { Actor, Route, Rpc } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import type { CallContext, RawReply } from '#libs/infrastructure/nats';
import { invalidInput, renderError } from './envelope.ts';
import { findSurface, type HttpContext } from './exchange.ts';
import { compileArguments } from './input.ts';
import { mergeFields } from './reply.ts';

/** Status and body of the route's response, or of its error envelope. */
export interface RouteCallResult {
  readonly status: number;
  readonly body: Buffer;
}

export interface RouteCallOptions {
  /** Checks the rights of the caller. @throws AppError permission_denied */
  readonly authorize: (route: Route, actor: Actor) => void;
  readonly callRaw: (rpc: Rpc, request: unknown, context: CallContext) => Promise<RawReply>;
  /** Maximum size of a reply in bytes. Larger replies are rejected, because the caller buffers them in memory. */
  readonly maxBytes: number;
}

export type CallRoute = (
  ctx: HttpContext,
  call: CallContext,
  actor: Actor,
  given: Readonly<Record<string, unknown>>,
) => Promise<RouteCallResult>;

/**
 * Prepares calls of one GET route with an operation. Arguments are named like the path and query parameters. Errors are
 * returned as results.
 */
export function compileRouteCall(route: Route, { authorize: admit, callRaw, maxBytes }: RouteCallOptions): CallRoute {
  const { rpc } = route;
  if (rpc === undefined || route.method !== 'GET') throw new Error(`route ${route.path} cannot be read`);
  const toText = compileTexts(route);
  const readInput = compileArguments(route);
  const toRequest = route.toRequest ?? mergeFields;
  return async (ctx, call, actor, given) => {
    try {
      admit(route, actor);
      const input = readInput(ctx, actor, toText(given));
      return { status: route.status ?? 200, body: await collect(await callRaw(rpc, toRequest(input), call), maxBytes) };
    } catch (error) {
      const { status, body } = renderError(findSurface(route.path), error);
      return { status, body: Buffer.from(body, 'utf8') };
    }
  };
}

const namesOf = (schema: unknown): string[] =>
  Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});

/**
 * Converts arguments to the text of path and query parameters. @throws AppError unprocessable for values that cannot be
 * written as text
 */
function compileTexts(
  route: Route,
): (given: Readonly<Record<string, unknown>>) => { path: Record<string, string>; query: string } {
  const [inPath, inQuery] = [new Set(namesOf(route.params)), new Set(namesOf(route.query))];
  return (given) => {
    const path: Record<string, string> = {};
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(given)) {
      if (value === null || value === undefined) continue;
      const values = Array.isArray(value) ? (value as unknown[]) : [value];
      const isKnown = inPath.has(name) || inQuery.has(name);
      if (!isKnown) throw invalid('extra_forbidden', name, 'There is no such argument');
      if (values.some((item) => !isScalar(item)))
        throw invalid('scalar_type', name, 'Input should be a text, a number, a boolean, or a list of them');
      const text = values.map(String).join(',');
      if (inPath.has(name)) path[name] = text;
      else query.set(name, text);
    }
    for (const name of inPath) if (path[name] === undefined) throw invalid('missing', name, 'Field required');
    return { path, query: query.toString() };
  };
}

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
const invalid = (type: string, name: string, msg: string): AppError =>
  invalidInput([{ type, loc: ['arguments', name], msg }]);

async function collect(reply: RawReply, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of reply.kind === 'bytes' ? [reply.bytes] : reply.chunks) {
    size += part.byteLength;
    if (size > maxBytes) {
      const message = `The answer is larger than ${maxBytes} bytes; ask for less of it`;
      throw new AppError({ code: 'payload_too_large', message });
    }
    parts.push(part);
  }
  return Buffer.concat(parts, size);
}
