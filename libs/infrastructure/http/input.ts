/**
 * The input of one route: path, query, headers and JSON body, parsed and validated together
 * (rules/http#order-of-checks).
 */
import type { Actor, Route, RouteInput, TSchema } from '#libs/infrastructure/contract';
import { parseBody } from './body.ts';
import { invalidInput, maxProblems, type ValidationItem } from './envelope.ts';
import { type HttpContext, clientAddressOf } from './exchange.ts';
import { compileFormats } from './formats.ts';
import { missingId, compileParameters } from './parameters.ts';
import { listUnstorable } from './storable.ts';
import { compileCheck } from './validation.ts';

const none: Record<string, unknown> = Object.freeze({});
const empty = Buffer.alloc(0);
const bodyLocation = ['body', 'payload'] as const;

/** Returns a function that removes undeclared fields, unless the schema allows them (rules/http#paths-and-methods). */
function compilePick(schema: TSchema): (body: unknown) => unknown {
  const { properties = {}, additionalProperties } = schema as { properties?: object; additionalProperties?: unknown };
  if (additionalProperties === true) return (body) => body;
  const fields = Object.keys(properties);
  return (body) => {
    const source = body as Record<string, unknown>;
    return Object.fromEntries(
      fields.filter((field) => Object.hasOwn(source, field)).map((field) => [field, source[field]]),
    );
  };
}

interface Given {
  readonly path: Record<string, string | undefined>;
  /** Query string without `?`. */
  readonly query: string;
  readonly headers: HttpContext['req']['headers'];
}

type Finish = (
  ctx: HttpContext,
  actor: Actor | undefined,
  given: Given,
  body: unknown,
  bodyProblems: ValidationItem[],
) => RouteInput;

function compileFinish(route: Route): Finish {
  const readParameters = compileParameters(route);
  const chooseFormat = route.formats === undefined ? undefined : compileFormats(route.formats);
  return (ctx, actor, given, body, bodyProblems) => {
    if (route.rawBody !== undefined) return new Input(given.path, none, none, undefined, actor, ctx);
    const { params, query, headers, problems, absent } = readParameters(given);
    if (problems.length > 0 || bodyProblems.length > 0) throw invalidInput([...problems, ...bodyProblems]);
    if (absent) throw missingId(route);
    // `Accept` is an alternative to the parameter `format`; handlers only need to read `format`.
    if (chooseFormat !== undefined) query['format'] ??= chooseFormat(given.headers.accept);
    return new Input(params, query, headers, body, actor, ctx);
  };
}

const readGiven = (ctx: HttpContext): Given => ({
  path: (ctx as { params?: Record<string, string> }).params ?? {},
  query: ctx.querystring,
  headers: ctx.req.headers,
});

/** Prepares the validation of path and query arguments that are not part of a URL. @throws AppError 400, 404, 422. */
export function compileArguments(
  route: Route,
): (ctx: HttpContext, actor: Actor | undefined, given: Pick<Given, 'path' | 'query'>) => RouteInput {
  const finish = compileFinish(route);
  return (ctx, actor, { path, query }) => finish(ctx, actor, { path, query, headers: {} }, undefined, []);
}

/** Prepares the validation of a request: all its parts together, except a raw body. @throws AppError 400, 404, 422. */
export function compileInput(
  route: Route,
): (ctx: HttpContext, actor: Actor | undefined, bytes: Buffer | undefined) => RouteInput {
  const finish = compileFinish(route);
  const { body } = route;
  if (body === undefined) return (ctx, actor) => finish(ctx, actor, readGiven(ctx), undefined, []);
  const check = compileCheck(body.schema, bodyLocation);
  const pick = compilePick(body.schema);
  const deprecated = route.deprecatedFields ?? [];
  return (ctx, actor, bytes = empty) => {
    const { value, text } = parseBody(bytes, body.optional === true);
    if (
      deprecated.length > 0 &&
      typeof value === 'object' &&
      value !== null &&
      deprecated.some((field) => Object.hasOwn(value, field))
    ) {
      ctx.res.setHeader('Deprecation', 'true');
    }
    const broken = check(value);
    const problems = [
      ...broken,
      ...listUnstorable(body.schema, value, text, bodyLocation, maxProblems - broken.length),
    ];
    return finish(ctx, actor, readGiven(ctx), problems.length === 0 ? pick(value) : undefined, problems);
  };
}

/**
 * Input of a handler. The client address is computed on access, because it is rarely needed and costs a system call.
 */
class Input implements RouteInput {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly headers: Record<string, unknown>;
  readonly body: unknown;
  readonly actor: Actor | undefined;
  readonly #ctx: HttpContext;
  constructor(
    params: Record<string, unknown>,
    query: Record<string, unknown>,
    headers: Record<string, unknown>,
    body: unknown,
    actor: Actor | undefined,
    ctx: HttpContext,
  ) {
    this.params = params;
    this.query = query;
    this.headers = headers;
    this.body = body;
    this.actor = actor;
    this.#ctx = ctx;
  }
  get ip(): string {
    return clientAddressOf(this.#ctx);
  }
}
