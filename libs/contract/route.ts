/**
 * HTTP operations of the gateway as frozen data. `route()` infers the types of a declaration's functions and handler
 * from its schemas and checks them against the operation, so types are written only once.
 */
import type { Static, TSchema, TObject } from 'typebox';
import type { Actor, Scope } from './callers.ts';
import type { ErrorReasons, RequestOf, Rpc } from './declarations.ts';
import { Type } from './type.ts';

/**
 * `none`, shared token or per-user token (S), per-user (U), per-user with coherence access (UC), shared only,
 * `/api/v1`, the gate key `X-Svc-Api-Key` of login (checked before the body is read, D40), reading operations, running
 * operator actions (rules/access#operators).
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
 * Credentials that a route requires: a credential of its class, and for a service key this scope. Null: service keys
 * are rejected.
 */
export type RouteAccess =
  | { readonly auth: TokenlessClass; readonly scope?: undefined }
  | { readonly auth: Exclude<AuthClass, TokenlessClass>; readonly scope: Scope | null };
type TokenlessClass = 'none' | 'login-gate';

type Fields = Readonly<Record<string, unknown>>;

/** Validated and coerced input of a route; numbers keep their raw text. */
export interface RouteInput<Params = Fields, Query = Fields, Headers = Fields, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly headers: Headers;
  readonly body: Body;
  readonly actor: Actor | undefined;
  /** Client address for rate limits: the IPv4 address, or the /64 of the IPv6 address (D71). */
  readonly ip: string;
}

export interface RouteReply<Schema extends TSchema = TSchema> {
  readonly description: string;
  /** Absent = no body. */
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
  /** False: served, but not in the OpenAPI documents (the documents themselves and their pages). */
  readonly documented?: false;
  /** Accepts login tokens only. Service keys and identity provider tokens get 403. */
  readonly loginOnly?: true;
  /**
   * Body fields kept for old clients. Requests that use one get `Deprecation: true`
   * (rules/http#headers-of-every-answer).
   */
  readonly deprecatedFields?: readonly string[];
  /** Never rejected because the gateway is overloaded: the sender would not retry (D20). */
  readonly exemptFromShedding?: boolean;
  /**
   * May wait for minutes, e.g. for a language model. Has its own concurrency limit and does not use that of short
   * requests.
   */
  readonly isLongRunning?: boolean;
  /** The handler reads the body itself, byte for byte. Neither body nor parameters are validated (D33d). */
  readonly rawBody?: { readonly contentType: string; readonly description: string; readonly schema?: TSchema };
  /** Streamed multipart with this file part; served by `handler` in the gateway, never read by the body parser. */
  readonly upload?: { readonly part: string; readonly description: string };
  /**
   * Status of the reply; `outcomes` maps a reply's outcome (see libs/nats `withOutcome`) to another one. Default 200.
   */
  readonly status?: number;
  readonly outcomes?: Readonly<Record<string, number>>;
  /**
   * Representations of the default response by value of the query parameter `format`, preferred first. Without
   * `format`, the Accept header decides; if nothing matches or the header is absent, the first is used
   * (rules/http#formats).
   */
  readonly formats?: Readonly<Record<string, RouteFormat>>;
  /**
   * Streams the same response as events for clients that accept `text/event-stream`. The operation takes the same
   * request and replies with events. The response starts with the first event, so earlier failures return a normal
   * error response (C4).
   */
  readonly events?: { readonly rpc: Rpc; readonly description: string; readonly example: string };
  /** Strong ETag for GET with If-None-Match; for single resources, read or written (rules/http#etag). */
  readonly etag?: boolean;
  /**
   * Accepts an `Idempotency-Key` (I1). Set it on routes with a handler; other routes take it from their RPC. Declares
   * the header and its errors.
   */
  readonly idempotent?: true;
  /** Time for the whole request; default 15 000. */
  readonly deadlineMs?: number;
  /** Extra application errors beyond those of the RPC. */
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
  /** JSON body. `optional`: an empty body is `{}`. */
  readonly body?: RouteBody;
  /** The operation called; the reply's bytes are passed through unparsed. */
  readonly rpc?: Rpc | undefined;
  /** Name of a handler in the gateway that serves the route itself (uploads, downloads, webhooks); instead of `rpc`. */
  readonly handler?: string | undefined;
  /** Status → reply, for the documents; error replies are merged from the class, the RPC's errors and these. */
  readonly replies: Readonly<Record<number, RouteReply>>;
  // Declared as methods so that functions with a narrower input type fit: the caller has validated the input.
  /** Input → RPC request. Default: path parameters, query and body merged. */
  toRequest?(this: void, input: RouteInput): unknown;
  /** Extra response headers, from the input. */
  responseHeaders?(this: void, input: RouteInput): Record<string, string>;
  /** Path for handlers that forward the request to another service. */
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

/** A route served by a gateway handler; `InputOf` and `AnswerOf` are the handler's types. */
export interface HandledRoute<
  Name extends string = string,
  Input extends RouteInput = RouteInput,
  Answer = unknown,
> extends Route {
  readonly handler: Name;
  /** For the type checker only; does not exist at run time. */
  readonly types?: { readonly input: Input; readonly answer: Answer };
}

export type InputOf<R extends HandledRoute> = NonNullable<R['types']>['input'];
/** JSON body of the successful response. */
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

/** A value before it is serialized to JSON: undefined optional fields are omitted. */
type BeforeJson<T> = { [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] };

/** Default request of an operation: path overrides query, both override the body. */
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

/** Requires `toRequest` when the merged fields do not match the operation's request. */
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

/** Declares a gateway route (architecture#contracts). @throws Error when it has neither rpc nor handler, or both. */
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

/** Visible ASCII characters. */
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

/** Adds the header and its errors to an idempotent route; returns other routes unchanged. */
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
