/**
 * HTTP operations of the gateway as frozen data. `route()` infers the types of a declaration's functions and handler
 * from its schemas and checks them against the operation, so types are written only once.
 */
import type { Static, TSchema, TObject } from 'typebox';
import type { Actor, Scope } from './callers.ts';
import type { ErrorReasons, RequestOf, Rpc } from './declarations.ts';
import { Type } from './type.ts';

/**
 * Classes of access: without credentials; shared token or per-user token (S); per-user token (U); per-user token with
 * coherence access (UC); shared token only; `/api/v1`; gate key `X-Svc-Api-Key` of login (checked before the body is
 * read, D40); reading operator data; running operator actions (rules/access#operators).
 */
export type AuthClass =
  | 'none'
  | 'shared-or-user'
  | 'user'
  | 'coherence'
  | 'shared'
  | 'v1'
  | 'login-gate'
  | 'ops'
  | 'ops-act';

/**
 * Credentials that a route requires: a credential of its class and, for a service key, this scope. With the scope null,
 * service keys are rejected.
 */
export type RouteAccess =
  | { readonly auth: TokenlessClass; readonly scope?: undefined }
  | { readonly auth: Exclude<AuthClass, TokenlessClass>; readonly scope: Scope | null };
type TokenlessClass = 'none' | 'login-gate';

type Fields = Readonly<Record<string, unknown>>;

/** Validated and converted input of a route. Numbers keep their original text. */
export interface RouteInput<Params = Fields, Query = Fields, Headers = Fields, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly headers: Headers;
  readonly body: Body;
  readonly actor: Actor | undefined;
  /** Client address for rate limits: the IPv4 address, or the /64 block of the IPv6 address (D71). */
  readonly ip: string;
}

export interface RouteReply<Schema extends TSchema = TSchema> {
  readonly description: string;
  /** Absent: the reply has no body. */
  readonly schema?: Schema;
  /** Default `application/json`. */
  readonly contentType?: string;
}

/** One of several representations of a response. */
export interface RouteFormat {
  readonly contentType: string;
  readonly schema: TSchema;
}

interface RouteFacts {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path parameters are written `{conversation_id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /**
   * False: the route is served but not listed in the OpenAPI documents. Used for the documents themselves and their
   * pages.
   */
  readonly documented?: false;
  /** True: members of the group `chat_agents` have access too, without other rights of operators (W7). */
  readonly forChatAgents?: true;
  /** Accepts login tokens only. Service keys and identity provider tokens get 403. */
  readonly loginOnly?: true;
  /**
   * Body fields that exist only for old clients. A request with one of them gets `Deprecation: true`
   * (rules/http#headers-of-every-answer).
   */
  readonly deprecatedFields?: readonly string[];
  /** True: an overloaded gateway still accepts the request, because the sender would not retry (D20). */
  readonly exemptFromShedding?: boolean;
  /** True: the request may take minutes, e.g. for a language model. Such requests have a separate concurrency limit. */
  readonly isLongRunning?: boolean;
  /** The handler reads the body itself, byte for byte. Neither body nor parameters are validated (D33d). */
  readonly rawBody?: { readonly contentType: string; readonly description: string; readonly schema?: TSchema };
  /**
   * Streamed multipart body with this file part. A gateway `handler` serves the route; the body parser never reads the
   * body.
   */
  readonly upload?: { readonly part: string; readonly description: string };
  /**
   * Status of a successful reply. `outcomes` sets another status for an outcome of the reply (see libs/infrastructure/nats
   * `withOutcome`). Default 200.
   */
  readonly status?: number;
  readonly outcomes?: Readonly<Record<string, number>>;
  /**
   * Formats of the successful response by value of the query parameter `format`, the preferred one first. Without
   * `format` the Accept header decides. Without a matching format or without the header, the first one is used
   * (rules/http#formats).
   */
  readonly formats?: Readonly<Record<string, RouteFormat>>;
  /**
   * Sends the response as server-sent events to clients that accept `text/event-stream`. The operation `rpc` takes the
   * same request as the route's and replies with events. The response starts with the first event, so earlier failures
   * return a normal error response (C4).
   */
  readonly events?: { readonly rpc: Rpc; readonly description: string; readonly example: string };
  /**
   * Sends a strong ETag and honours If-None-Match for GET. For routes that read or write a single resource
   * (rules/http#etag).
   */
  readonly etag?: boolean;
  /** The reply to a request with `limit` has the number of all items, which is sent with a link to the next page. */
  readonly counted?: true;
  /**
   * Accepts an `Idempotency-Key` (I1), with the header and its errors in the documents. Set it on routes with a
   * handler; other routes inherit it from their RPC.
   */
  readonly idempotent?: true;
  /** Time limit of the whole request in milliseconds; default 15 000. */
  readonly deadlineMs?: number;
  /** Application errors in addition to those of the RPC. */
  readonly errors?: ErrorReasons;
}

/**
 * One HTTP operation as data, for code that treats all operations alike. Query, header and path schemas are objects of
 * scalar schemas; the http library coerces text by `type` (integer, boolean) and checks `format: date-time` (naive
 * allowed) or `format: date-time-offset`.
 */
export interface Route extends RouteFacts {
  readonly auth: AuthClass;
  /** Absent when the route accepts no token. */
  readonly scope?: Scope | null | undefined;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly headers?: TSchema;
  /** JSON body. With `optional`, an empty body is read as `{}`. */
  readonly body?: RouteBody;
  /** The operation that the route calls. The reply's bytes are sent to the client without parsing. */
  readonly rpc?: Rpc | undefined;
  /** Name of the gateway handler that serves the route instead of an RPC (uploads, downloads, webhooks). */
  readonly handler?: string | undefined;
  /** Replies by status, for the documents. Error replies of the class, of the RPC and of `errors` are added. */
  readonly replies: Readonly<Record<number, RouteReply>>;
  // Declared as methods so that functions with a narrower input type fit: the caller has validated the input.
  /** Converts the input to the RPC request. By default the request has the path parameters, query and body fields. */
  toRequest?(this: void, input: RouteInput): unknown;
  /** Returns extra response headers for the input. */
  responseHeaders?(this: void, input: RouteInput): Record<string, string>;
  /** Returns the path at another service, for handlers that forward the request. */
  forwardTo?(this: void, input: RouteInput): string;
}

interface RouteBody<Schema = TSchema> {
  readonly schema: Schema;
  readonly optional?: boolean;
}

/** A route that calls an operation. Its types are not needed after the declaration. */
export interface CallingRoute extends Route {
  readonly handler?: undefined;
}

/** A route served by a gateway handler. `InputOf` and `ReplyBodyOf` return the handler's types. */
export interface HandledRoute<
  Name extends string = string,
  Input extends RouteInput = RouteInput,
  Answer = unknown,
> extends Route {
  readonly handler: Name;
  /** Exists only for the type checker, not at run time. */
  readonly types?: { readonly input: Input; readonly answer: Answer };
}

export type InputOf<R extends HandledRoute> = NonNullable<R['types']>['input'];
/** Type of the JSON body of the successful response. */
export type ReplyBodyOf<R extends HandledRoute> = NonNullable<R['types']>['answer'];

type Declared = TSchema | undefined;
// oxlint-disable-next-line typescript/no-generated-empty-object-type -- what is not declared has no fields, and joins with what has
type NoFields = Readonly<Record<never, never>>;
type FieldsOf<Schema extends Declared> = Schema extends TSchema ? Static<Schema> : NoFields;
type BodyOf<Schema extends Declared> = Schema extends TSchema ? Static<Schema> : undefined;
type InputBy<
  Params extends Declared,
  Query extends Declared,
  Headers extends Declared,
  Body extends Declared,
> = RouteInput<FieldsOf<Params>, FieldsOf<Query>, FieldsOf<Headers>, BodyOf<Body>>;

/** Type of a value before it is serialized to JSON, which omits optional fields that are undefined. */
type BeforeJson<T> = { [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] };

/** Type of the default request of an operation. Path fields override query fields; both override body fields. */
type DefaultRequest<Params, Query, Body> = Params &
  Omit<Query, keyof Params> &
  (Body extends object ? Omit<Body, keyof Params | keyof Query> : unknown);

interface Shapes<Params, Query, Headers, Body, Replies> {
  readonly params?: Params;
  readonly query?: Query;
  readonly headers?: Headers;
  readonly body?: RouteBody<Body>;
  readonly replies: Replies;
}

interface Calling<Operation extends Rpc, Input> {
  readonly rpc: Operation;
  readonly handler?: undefined;
  readonly toRequest?: (input: Input) => BeforeJson<RequestOf<Operation>>;
  readonly responseHeaders?: (input: Input) => Record<string, string>;
}

/** Type check: `toRequest` is required when the default request does not match the operation's request. */
type MustDeclareRequest<Operation extends Rpc, Input extends RouteInput> =
  DefaultRequest<Input['params'], Input['query'], Input['body']> extends RequestOf<Operation>
    ? unknown
    : { readonly toRequest: unknown };

interface Handled<Name, Input> {
  readonly rpc?: undefined;
  readonly handler: Name;
  readonly forwardTo?: (input: Input) => string;
}

type Replies = Readonly<Record<number, RouteReply>>;
type AnswerBy<Given extends Replies> = Given extends { readonly 200: RouteReply<infer Schema> }
  ? Static<Schema>
  : unknown;

/**
 * Declares a gateway route (architecture#contracts). @throws Error when the route has neither rpc nor handler, or has
 * both
 */
export function route<
  const Name extends string,
  Given extends Replies,
  Params extends Declared = undefined,
  Query extends Declared = undefined,
  Headers extends Declared = undefined,
  Body extends Declared = undefined,
>(
  declaration: RouteFacts &
    RouteAccess &
    Shapes<Params, Query, Headers, Body, Given> &
    Handled<Name, InputBy<Params, Query, Headers, Body>>,
): HandledRoute<Name, InputBy<Params, Query, Headers, Body>, AnswerBy<Given>>;
export function route<
  Operation extends Rpc,
  Params extends Declared = undefined,
  Query extends Declared = undefined,
  Headers extends Declared = undefined,
  Body extends Declared = undefined,
>(
  declaration: RouteFacts &
    RouteAccess &
    Shapes<Params, Query, Headers, Body, Replies> &
    Calling<Operation, InputBy<Params, Query, Headers, Body>> &
    MustDeclareRequest<Operation, InputBy<Params, Query, Headers, Body>>,
): CallingRoute;
export function route(declaration: Route): Route {
  if ((declaration.rpc === undefined) === (declaration.handler === undefined)) {
    throw new Error(`route ${declaration.method} ${declaration.path}: exactly one of rpc and handler is needed`);
  }
  const { properties = {} } = (declaration.query ?? {}) as { properties?: object };
  if (declaration.formats !== undefined && !('format' in properties))
    throw new Error(`route ${declaration.method} ${declaration.path}: its query has no \`format\` to choose by`);
  return Object.freeze(addIdempotencyKeyHeader(declaration));
}

/** Header schema: visible ASCII characters. */
const key = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[!-~]+$',
    description:
      'A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response ' +
      'with `Idempotent-Replayed: true`.',
  }),
);

const keyErrors: ErrorReasons = {
  idempotency_in_progress: { code: 'conflict', when: 'The first request with this key is still in progress; retry.' },
  idempotency_key_reused: { code: 'unprocessable', when: 'The key was used for another request.' },
};

export const idempotencyKeyHeader = 'Idempotency-Key';

interface IdempotentRoute {
  readonly idempotent?: true;
  readonly rpc?: Rpc | undefined;
  readonly headers?: TSchema;
  readonly errors?: ErrorReasons;
}

/** Adds the header `Idempotency-Key` and its errors to an idempotent route; returns other routes unchanged. */
export function addIdempotencyKeyHeader<R extends IdempotentRoute>(route: R): R {
  if (route.idempotent !== true && route.rpc?.idempotent !== true) return route;
  const { properties = {} } = (route.headers ?? {}) as Partial<TObject>;
  return {
    ...route,
    idempotent: true,
    headers: Type.Object({ ...properties, [idempotencyKeyHeader]: key }),
    errors: { ...route.errors, ...keyErrors },
  };
}
