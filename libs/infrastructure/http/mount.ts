/**
 * Compiles the route table into middleware. Order of checks: route → 405 → authentication and scope → body parse 400 →
 * validation 422 → handler (rules/http#order-of-checks). Everything that depends only on the route is computed once.
 */
import { Router } from '@koa/router';
import type { Middleware } from 'koa';
import {
  type Actor,
  type ReplyBodyOf,
  type HandledRoute,
  type InputOf,
  idempotencyKeyHeader,
  type Route,
  type RouteInput,
  type Rpc,
} from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import type { CallContext, RawReply } from '#libs/infrastructure/nats';
import { collectSoon } from '#libs/infrastructure/transfer';
import { respondNotFound, type HttpApp } from './app.ts';
import { readRawBody, tooLarge, estimateJsonBytes } from './body.ts';
import { type Capacities, type Capacity, createCapacities } from './capacity.ts';
import { MethodNotAllowed, UnparsableBody } from './envelope.ts';
import { sendEvents } from './event-stream.ts';
import { type ExchangeState, type HttpContext, clientAddressOf } from './exchange.ts';
import { prefersEvents } from './formats.ts';
import { compileInput } from './input.ts';
import { mergeFields, type ReplyShape, sendBytes, sendReply } from './reply.ts';

/** Argument of a handler. The handler responds with the declared JSON through `answer`, or directly through `ctx`. */
export interface HandlerCall<Input = RouteInput, Answer = never> {
  readonly ctx: HttpContext;
  readonly route: Route;
  readonly input: Input;
  readonly call: CallContext;
  readonly answer: (body: Answer) => void;
}
export type RouteHandler<Input = RouteInput, Answer = never> = (
  call: HandlerCall<Input, Answer>,
) => Promise<void> | void;

/** One handler for each handler name in a route table. */
export type RouteHandlers<R extends Route> = {
  readonly [Name in Extract<R, HandledRoute>['handler']]: RouteHandlerOf<Extract<R, HandledRoute<Name>>>;
};
type RouteHandlerOf<R extends HandledRoute> = RouteHandler<InputOf<R>, ReplyBodyOf<R>>;

export interface MountOptions<R extends Route> {
  /** Authenticates the caller. @throws AppError unauthenticated or permission_denied. */
  authenticate: (
    route: Pick<Route, 'auth' | 'scope'>,
    ctx: HttpContext,
  ) => Actor | undefined | Promise<Actor | undefined>;
  /**
   * Calls the operation, normally the bus's `callRaw`. A call that only waits may release the request slot
   * (`startResponse`).
   */
  callRaw: (rpc: Rpc, request: unknown, context: CallContext, ctx: HttpContext) => Promise<RawReply>;
  handlers: RouteHandlers<R>;
  /**
   * Maximum number of concurrent requests with a credential, and the same number of anonymous ones. Further requests
   * get 503, except on routes with `exemptFromShedding`.
   */
  maxInFlight: number;
}

type Mounting = Omit<MountOptions<Route>, 'handlers'> & { readonly handlers: Readonly<Record<string, RouteHandler>> };

interface Operation {
  readonly route: Route;
  run(ctx: HttpContext): Promise<void>;
}

const defaultDeadlineMs = 15_000;
/** `estimateJsonBytes` above which a body triggers a garbage collection soon after its request. */
const heavyWeight = 16 * 1_048_576;

/**
 * Adds the routes to the app, and 404 for everything else.
 * @throws Error for a missing or unused handler, and for routes that share method and path or an operation id.
 */
export function mountRoutes<R extends Route>(app: HttpApp, routes: readonly R[], options: MountOptions<R>): void {
  // Static types end here: each handler receives what the schemas of its route have accepted.
  const handlers = options.handlers as unknown as Mounting['handlers'];
  checkTable(routes, handlers);
  const capacities = createCapacities(options.maxInFlight);
  // The router tests its patterns one by one. One router per number of path segments keeps the lists short.
  const routers = new Map<number, ReturnType<typeof createRouter>>();
  const byPath = Map.groupBy(routes, (route) => route.path.replace(/(?<=.)\/$/, ''));
  const paths = [...byPath.entries()].toSorted(([left], [right]) => compareSpecificity(left, right));
  for (const [path, group] of paths) {
    const operations = new Map(
      group.map((route) => [route.method as string, compileOperation(route, { ...options, handlers }, capacities)]),
    );
    const read = operations.get('GET');
    if (read !== undefined) operations.set('HEAD', read);
    const allow = [...operations.keys()].toSorted().join(', ');
    const segments = countSegments(path);
    const router = routers.get(segments) ?? createRouter();
    routers.set(segments, router);
    router.router.all(toRouterPath(path), (ctx) => dispatch(ctx as unknown as HttpContext, path, operations, allow));
  }
  app.use((ctx, next) => routers.get(countSegments(ctx.path))?.route(ctx, next) ?? next());
  app.use(respondNotFound);
}

function createRouter(): { router: Router; route: Middleware<ExchangeState> } {
  const router = new Router({ sensitive: true });
  return { router, route: router.routes() as unknown as Middleware<ExchangeState> };
}

/** Returns the number of slashes, without a trailing one. */
function countSegments(path: string): number {
  let count = 0;
  for (let index = path.indexOf('/'); index !== -1 && index < path.length - 1; index = path.indexOf('/', index + 1))
    count++;
  return count;
}

function dispatch(
  ctx: HttpContext,
  path: string,
  operations: ReadonlyMap<string, Operation>,
  allow: string,
): Promise<void> {
  ctx.state.route = path;
  const operation = operations.get(ctx.method);
  if (operation !== undefined) return operation.run(ctx);
  if (ctx.method !== 'OPTIONS' || ctx.state.surface !== 'api') throw new MethodNotAllowed(allow);
  ctx.res.setHeader('Allow', `${allow}, OPTIONS`);
  ctx.status = 204;
  return Promise.resolve();
}

/** Converts `{name}` to `:name` and escapes the router's special characters. */
function toRouterPath(path: string): string {
  return path.replace(/[:*?+()[\]!\\]/g, String.raw`\$&`).replace(/\{([a-z_]+)\}/g, ':$1');
}

/** Sorts fixed segments before parameters, so that `search` in `/conversations/search` is not read as an id. */
function compareSpecificity(left: string, right: string): number {
  const order = (path: string): string => path.replace(/\{[a-z_]+\}/g, '\u{10ffff}');
  return order(left) < order(right) ? -1 : 1;
}

function checkTable(routes: readonly Route[], handlers: Readonly<Record<string, RouteHandler>>): void {
  const operations = new Set<string>();
  const positions = new Set<string>();
  const named = new Set<string>();
  for (const route of routes) {
    const position = `${route.method} ${route.path.replace(/(?<=.)\/$/, '').replace(/\{[a-z_]+\}/g, '{}')}`;
    if (positions.has(position)) throw new Error(`route ${position} is declared twice`);
    if (operations.has(route.operationId)) throw new Error(`operation id ${route.operationId} is declared twice`);
    if (route.handler !== undefined && !Object.hasOwn(handlers, route.handler)) {
      throw new Error(`route ${position}: there is no handler "${route.handler}"`);
    }
    // During a stream the credential is not checked again (D89).
    if (route.events !== undefined && route.auth !== 'none')
      throw new Error(`route ${position}: an event stream takes no credential`);
    positions.add(position);
    operations.add(route.operationId);
    if (route.handler !== undefined) named.add(route.handler);
  }
  for (const name of Object.keys(handlers)) if (!named.has(name)) throw new Error(`handler "${name}" has no route`);
}

function compileOperation(route: Route, options: Mounting, capacities: Capacities): Operation {
  const authenticate = compileAuthenticate(route, options, capacities);
  const capacity = route.auth === 'none' ? capacities.anonymous : capacities.authenticated;
  const begin = (ctx: HttpContext) =>
    route.isLongRunning === true ? capacities.acquireWait(ctx) : capacity.acquire(ctx);
  const readInput = compileInput(route);
  const deadlineMs = route.deadlineMs ?? defaultDeadlineMs;
  const perform = compilePerform(route, options);
  const changes = route.method !== 'GET';
  const run = async (ctx: HttpContext): Promise<void> => {
    if (route.auth !== 'none') ctx.res.setHeader('Cache-Control', 'no-store');
    const actor = await authenticate(ctx);
    ctx.state.actor = actor;
    ctx.state.authorize = async () => authenticate(ctx);
    refuseEncoding(ctx);
    const received = route.body === undefined ? undefined : await receiveJson(ctx, capacity);
    const { requestId, traceparent } = ctx.state;
    const common = {
      requestId,
      actor,
      traceparent,
      clientIp: changes ? clientAddressOf(ctx) : undefined,
      via: changes ? findClientProgram(ctx) : undefined,
      deadlineMs: Date.now() + deadlineMs,
    };
    let releaseMemory: (() => void) | undefined;
    try {
      if (route.exemptFromShedding !== true) ctx.state.startResponse = begin(ctx);
      if (received !== undefined) releaseMemory = await capacity.memory.acquire(received.weight, common.deadlineMs);
      const input = readInput(ctx, actor, received?.bytes);
      received?.release();
      const key = route.idempotent === true ? input.headers[idempotencyKeyHeader] : undefined;
      await perform(ctx, input, typeof key === 'string' ? { ...common, sentIdempotencyKey: key } : common);
    } finally {
      received?.release();
      releaseMemory?.();
      if (received !== undefined && received.weight > heavyWeight) collectSoon();
      ctx.state.startResponse();
    }
  };
  return { route, run };
}

/** `console` or `cli` for the platform's own clients; undefined for all others (W10). */
function findClientProgram(ctx: HttpContext): string | undefined {
  if (ctx.state.isFromConsole) return 'console';
  return ctx.req.headers['user-agent']?.startsWith('coherence-cli/') === true ? 'cli' : undefined;
}

/**
 * Returns a function that authenticates a request. Calls to the directory for authentication have a concurrency limit.
 */
function compileAuthenticate(
  route: Route,
  options: Mounting,
  capacities: Capacities,
): (ctx: HttpContext) => Actor | undefined | Promise<Actor | undefined> {
  return (ctx) => {
    const answer = options.authenticate(route, ctx);
    if (!(answer instanceof Promise)) return answer;
    try {
      return answer.finally(capacities.acquireCheck(ctx));
    } catch (error) {
      answer.catch(() => undefined);
      throw error;
    }
  };
}

/** Reads the body. Returns the parsed JSON with its estimated size in memory. @throws AppError 400, 408, 413, 503. */
async function receiveJson(
  ctx: HttpContext,
  { bodies }: Capacity,
): Promise<{ bytes: Buffer; weight: number; release: () => void }> {
  const { bytes, release } = await readRawBody(ctx, bodies);
  if (bytes === undefined) throw tooLarge();
  const weight = estimateJsonBytes(bytes);
  if (weight !== undefined) return { bytes, weight, release };
  release();
  throw new UnparsableBody();
}

/** Rejects encoded bodies, because decompression could turn a few bytes into gigabytes (D61). */
function refuseEncoding({ req, state }: HttpContext): void {
  const encoding = req.headers['content-encoding'];
  if (encoding === undefined || encoding.split(',').every((name) => /^(?:identity)?$/i.test(name.trim()))) return;
  state.countRefusal('content_encoding');
  throw new AppError({
    code: 'unsupported_media_type',
    message: 'Content-Encoding is not supported; send the body as it is',
  });
}

function compilePerform(
  route: Route,
  options: Mounting,
): (ctx: HttpContext, input: RouteInput, call: CallContext) => Promise<void> | void {
  const { rpc, handler: name } = route;
  const shapes = compileShapes(route);
  if (rpc === undefined) {
    const handler = options.handlers[name ?? ''];
    if (handler === undefined) throw new Error(`route ${route.path}: there is no handler "${name}"`);
    const shape = shapes(undefined, undefined);
    return (ctx, input, call) => {
      const answer = (body: unknown): void =>
        sendBytes(ctx, Buffer.from(JSON.stringify(body), 'utf8'), undefined, shape);
      return handler({ ctx, route, input, call, answer });
    };
  }
  const toRequest = route.toRequest ?? mergeFields;
  const { events } = route;
  return async (ctx, input, call) => {
    if (events !== undefined) ctx.vary('Accept');
    if (events !== undefined && prefersEvents(ctx.req.headers.accept))
      return sendEvents(ctx, options.callRaw(events.rpc, toRequest(input), call, ctx));
    const reply = await options.callRaw(rpc, toRequest(input), call, ctx);
    if (reply.etag !== undefined) ctx.res.setHeader('ETag', reply.etag);
    if (reply.replayed === true) ctx.res.setHeader('Idempotent-Replayed', 'true');
    if (reply.total !== undefined) setPageHeaders(ctx, reply.total, input.query);
    for (const [header, value] of Object.entries(route.responseHeaders?.(input) ?? {}))
      ctx.res.setHeader(header, value);
    if (route.formats !== undefined) ctx.vary('Accept');
    await sendReply(ctx, reply, shapes(reply.outcome, input.query['format']));
  };
}

/**
 * Returns a function that selects status and content type by the outcome and, for routes with formats, by the format.
 */
function compileShapes(route: Route): (outcome: string | undefined, format: unknown) => ReplyShape {
  const shape = (status: number): ReplyShape => ({
    status,
    contentType: route.replies[status]?.contentType ?? 'application/json',
    etag: route.etag === true && route.method === 'GET',
  });
  const usual = shape(route.status ?? 200);
  const others = new Map(Object.entries(route.outcomes ?? {}).map(([outcome, status]) => [outcome, shape(status)]));
  const { formats } = route;
  const toUsual = (format: unknown): ReplyShape => {
    const contentType = formats?.[String(format)]?.contentType;
    return contentType === undefined ? usual : { ...usual, contentType };
  };
  return (outcome, format) => (outcome === undefined ? toUsual(format) : (others.get(outcome) ?? toUsual(format)));
}

/** Sends the number of all items, and the path of the next page if there is one (rules/discovery#search-and-summary). */
function setPageHeaders(ctx: HttpContext, total: number, { limit, offset = 0 }: RouteInput['query']): void {
  ctx.res.setHeader('X-Total-Count', String(total));
  const next = Number(offset) + Number(limit);
  if (!(next < total)) return;
  const query = new URLSearchParams(ctx.querystring);
  query.set('offset', String(next));
  ctx.res.setHeader('Link', `<${ctx.path}?${query.toString()}>; rel="next"`);
}
