/** Error replies of an operation as the checks before it and its own declarations make them (spec 03 §1, Order of checks). */
import type { Route } from '#libs/contract';
import { errorCodes } from '#libs/errors';

type Json = Record<string, unknown>;

export interface DescribedError {
  readonly status: number;
  readonly description: string;
  readonly schema: Json;
}

const detail = { type: 'object', properties: { detail: { type: 'string' } }, required: ['detail'] };
const validationError = {
  type: 'object',
  required: ['detail'],
  properties: {
    detail: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'loc', 'msg'],
        properties: {
          type: { type: 'string', description: 'For example `missing`, `int_parsing`, `string_type`, `enum`.' },
          loc: { type: 'array', items: { type: ['string', 'integer'] }, description: 'Source and path, e.g. `["query", "limit"]`.' },
          msg: { type: 'string' },
          ctx: { type: 'object' },
        },
      },
    },
  },
};

const general: Readonly<Record<number, string>> = {
  400: 'The body cannot be parsed, or the request is refused.',
  401: 'The credential is missing or not accepted.',
  403: 'The credential is of the wrong class or lacks the right.',
  404: 'Something that the request names does not exist.',
  409: 'The request contradicts the stored state.',
  412: 'A precondition does not hold.',
  413: 'The body is too large.',
  422: 'Parameters or body are missing or malformed; every problem is listed.',
  429: 'Too many requests.',
  503: 'The service or one of its dependencies is not available or busy; try again.',
};

/**
 * Every error status that the route can answer with, in ascending order. A fault of the server (500) is promised by no
 * operation, so it is in no document. Adds the envelopes used to `schemas`.
 */
export function describeErrors(
  route: Route,
  surface: 'api' | 'v1',
  reasons: ReadonlyMap<number, readonly { reason: string; when: string }[]>,
  schemas: Json,
): DescribedError[] {
  const statuses = new Set<number>([...listStatuses(route), ...reasons.keys(), ...listOwnStatuses(route)]);
  return [...statuses]
    .toSorted((left, right) => left - right)
    .map((status) => {
      const own = reasons.get(status) ?? [];
      const named = own.filter(({ reason }) => !isGeneral(reason));
      const lines = own.map(({ reason, when }) => (isGeneral(reason) ? `- ${when}` : `- \`${reason}\`: ${when}`));
      const description = [route.replies[status]?.description ?? general[status] ?? 'Refused.', ...lines].join('\n');
      const codes = [...listGateReasons(route, status), ...named.map(({ reason }) => reason)];
      return { status, description, schema: surface === 'v1' ? chooseV1(status, codes, schemas) : chooseApi(status, codes, schemas) };
    });
}

/**
 * The name of a general code says when an operation answers so, but is not in the answer's `error`; `precondition_failed` is
 * (spec 03, D9).
 */
function isGeneral(reason: string): boolean {
  return Object.hasOwn(errorCodes, reason) && reason !== 'precondition_failed';
}

/** What the credential's class refuses with 403 (spec 03, D12 and D13). */
function listGateReasons({ auth }: Route, status: number): string[] {
  if (status !== 403 || (auth !== 'user' && auth !== 'coherence')) return [];
  return ['per_user_token_required', ...(auth === 'coherence' ? ['coherence_access_required'] : [])];
}

/** Error statuses that the route itself describes in words only; their envelope is the surface's. */
function listOwnStatuses(route: Route): number[] {
  return Object.entries(route.replies).flatMap(([status, reply]) =>
    Number(status) >= 400 && reply.schema === undefined ? [Number(status)] : [],
  );
}

function listStatuses(route: Route): number[] {
  const statuses: number[] = [];
  if (route.neverShed !== true) statuses.push(503);
  if (route.auth !== 'none') statuses.push(401);
  if (route.auth === 'user' || route.auth === 'coherence' || route.auth === 'v1' || route.auth === 'ops') statuses.push(403);
  if (route.auth === 'login-gate') statuses.push(403, 429);
  if (route.rawBody !== undefined) return statuses;
  if (route.body !== undefined) statuses.push(400, 413);
  if (route.body !== undefined || route.upload !== undefined || hasParameters(route)) statuses.push(422);
  if (route.params !== undefined && route.rpc !== undefined) statuses.push(404);
  return statuses;
}

function hasParameters(route: Route): boolean {
  return route.params !== undefined || route.query !== undefined || route.headers !== undefined;
}

/** `{detail}` or, where the operation has application errors, `{error, message, …}`; both happen at one status. */
function chooseApi(status: number, codes: readonly string[], schemas: Json): Json {
  if (status === 422) return use('ValidationError', validationError, schemas);
  const framework = use('FrameworkError', detail, schemas);
  if (codes.length === 0) return framework;
  return { anyOf: [applicationError(codes), framework] };
}

function applicationError(codes: readonly string[]): Json {
  const error = { type: 'string', enum: [...new Set(codes)], description: 'Application code.' };
  return { type: 'object', properties: { error, message: { type: 'string' } }, required: ['error', 'message'] };
}

/** `{code, message, retryable, …}`; the body's parse, its size and the form of the request use `{detail}` here too. */
function chooseV1(status: number, codes: readonly string[], schemas: Json): Json {
  if (status === 422) return use('ValidationError', validationError, schemas);
  if (status === 413) return use('FrameworkError', detail, schemas);
  const usual = Object.values(errorCodes).flatMap((entry) => (entry.status === status ? [entry.v1] : []));
  const code = { type: 'string', enum: [...new Set([...codes, ...usual])] };
  const properties = { code, message: { type: 'string' }, retryable: { type: 'boolean' } };
  const error: Json = { type: 'object', required: ['code', 'message', 'retryable'], properties };
  return status === 400 ? { anyOf: [error, use('FrameworkError', detail, schemas)] } : error;
}

function use(name: string, schema: Json, schemas: Json): Json {
  schemas[name] ??= schema;
  return { $ref: `#/components/schemas/${name}` };
}
