/**
 * Error responses of an operation, derived from its declarations and the checks before it (rules/http#order-of-checks).
 */
import type { Route } from '#libs/infrastructure/contract';
import { errorCodes } from '#libs/infrastructure/errors';
import { frameworkStatuses } from './envelope.ts';
import { addComponent, pascal } from './openapi-models.ts';

type Json = Record<string, unknown>;

const insufficientScope = 'insufficient_scope';
/** Codes that also exist on `/api` with a different body, so that a client can have types for both. */
const onBothSurfaces = new Set([insufficientScope, 'precondition_failed']);
/** Codes of `/api/v1` that came to `/api` later, where their types have another name. */
const laterOnApi = new Set(['validation_error', 'bad_cursor', 'idempotency_in_progress', 'idempotency_key_reused']);

export interface DescribedError {
  readonly status: number;
  readonly description: string;
  readonly schema: Json;
}

const detail = { type: 'object', properties: { detail: { type: 'string' } }, required: ['detail'] };
const inputProblem = {
  type: 'object',
  required: ['type', 'loc', 'msg'],
  properties: {
    type: { type: 'string', description: 'For example `missing`, `int_parsing`, `string_type`, `enum`.' },
    loc: {
      type: 'array',
      items: { anyOf: [{ type: 'string' }, { type: 'integer', format: 'int64' }] },
      description: 'Source and path, e.g. `["query", "limit"]`.',
    },
    msg: { type: 'string' },
    ctx: { type: 'object', additionalProperties: true },
  },
};

const general: Readonly<Record<number, string>> = {
  400: 'The body cannot be parsed, or the request is refused.',
  401: 'The credential is missing or not accepted.',
  403: 'The credential is of the wrong class or lacks the right.',
  404: 'Something that the request names does not exist.',
  409: 'The request contradicts the stored state.',
  412: 'A precondition does not hold.',
  408: 'The body came too slowly.',
  413: 'The body is too large.',
  415: 'The body has a `Content-Encoding`.',
  422: 'Parameters or body are missing or malformed; the first 50 problems are listed.',
  429: 'Too many requests.',
  431: 'The head of the request, its path included, is larger than 16 KiB.',
  503: 'The service or one of its dependencies is not available or busy; try again.',
};

/**
 * Describes every error status of the route in ascending order. Omits 500, which no document lists, and statuses that
 * are already in `described`. Adds the used envelopes to `schemas`.
 */
export function describeErrors(
  route: Route,
  surface: 'api' | 'v1',
  reasons: ReadonlyMap<number, readonly { reason: string; when: string }[]>,
  schemas: Json,
  described: Readonly<Record<string, unknown>>,
): DescribedError[] {
  const statuses = new Set<number>([...listStatuses(route), ...reasons.keys(), ...listOwnStatuses(route)]);
  return [...statuses]
    .filter((status) => described[status] === undefined)
    .toSorted((left, right) => left - right)
    .map((status) => {
      const own = reasons.get(status) ?? [];
      // All missing objects have the same code on `/api/v1` and `/api/ops` (D94).
      const isPlain = (reason: string): boolean => isGeneral(reason) || (surface === 'v1' && status === 404);
      const named = own.filter(({ reason }) => !isPlain(reason));
      const lines = own.map(({ reason, when }) => (isPlain(reason) ? `- ${when}` : `- \`${reason}\`: ${when}`));
      const description = [route.replies[status]?.description ?? general[status] ?? 'Refused.', ...lines].join('\n');
      const codes = [...listGateReasons(route, status), ...named.map(({ reason }) => reason)];
      return {
        status,
        description,
        schema: surface === 'v1' ? chooseV1(status, codes, schemas) : chooseApi(status, codes, schemas),
      };
    });
}

/**
 * Returns the schema for an error status for which the route declares a schema. That schema describes only the error
 * whose constant is in `code`; the other errors with the status are added as alternatives.
 */
export function addOwnErrors(
  published: unknown,
  schema: { readonly properties?: unknown },
  reasons: readonly { reason: string }[] = [],
  surface: 'api' | 'v1',
  schemas: Json,
): unknown {
  const { code } = (schema.properties ?? {}) as { code?: { const?: unknown } };
  const others = reasons.filter(({ reason }) => surface === 'v1' && code?.const !== undefined && reason !== code.const);
  if (others.length === 0) return published;
  return {
    anyOf: [published, ...others.map(({ reason }) => addComponent(nameError(reason), v1Error(reason), schemas))],
  };
}

/**
 * Returns true for a general code. In the document a general code only shows when the operation returns it; responses
 * do not contain it in `error`. The exception is `precondition_failed` (D9).
 */
function isGeneral(reason: string): boolean {
  return Object.hasOwn(errorCodes, reason) && reason !== 'precondition_failed';
}

/** Returns the reasons for a 403 because of the class of the credential (D12, D13) or the scopes of a key (K4). */
function listGateReasons({ auth, scope }: Route, status: number): string[] {
  if (status !== 403) return [];
  return [
    ...(auth === 'user' || auth === 'coherence' ? ['per_user_token_required'] : []),
    ...(auth === 'coherence' ? ['coherence_access_required'] : []),
    ...(typeof scope === 'string' ? [insufficientScope] : []),
  ];
}

/** Returns the error statuses that the route describes only as text; their bodies use the surface's envelope. */
function listOwnStatuses(route: Route): number[] {
  return Object.entries(route.replies).flatMap(([status, reply]) =>
    Number(status) >= 400 && reply.schema === undefined ? [Number(status)] : [],
  );
}

function listStatuses(route: Route): number[] {
  const statuses = [431, 503];
  if (route.auth !== 'none') statuses.push(401);
  if (['user', 'coherence', 'v1', 'ops', 'ops-act'].includes(route.auth)) statuses.push(403);
  if (typeof route.scope === 'string') statuses.push(403);
  if (route.auth === 'login-gate') statuses.push(403, 429);
  if (route.body !== undefined || route.upload !== undefined || route.rawBody !== undefined) statuses.push(408, 415);
  if (route.rawBody !== undefined) return statuses;
  if (route.body !== undefined) statuses.push(400, 413);
  if (canBeMalformed(route)) statuses.push(422);
  if (route.params !== undefined && route.rpc !== undefined) statuses.push(404);
  return statuses;
}

function canBeMalformed({ body, upload, query, headers, params }: Route): boolean {
  if (body !== undefined || upload !== undefined || query !== undefined) return true;
  return !acceptsAnyText(params) || !acceptsAnyText(headers, true);
}

/** Returns whether no value of the parameters is malformed. Unlike the parameters of a path, headers can be missing. */
function acceptsAnyText(parameters: unknown, canBeMissing = false): boolean {
  const { properties = {}, required = [] } = (parameters ?? {}) as {
    properties?: Record<string, Json>;
    required?: readonly string[];
  };
  return Object.values(properties).every(isAnyText) && (!canBeMissing || required.length === 0);
}

/** Returns whether the parameter accepts any text. An unknown value then returns 404. */
function isAnyText({ type, enum: choices, format, pattern, minLength, maxLength }: Json): boolean {
  return type === 'string' && [choices, format, pattern, minLength, maxLength].every((limit) => limit === undefined);
}

/**
 * Returns the schema of an error on `/api`: `{detail}` or, for operations with application errors, `{error, message,
 * …}`. A status can have both.
 */
function chooseApi(status: number, codes: readonly string[], schemas: Json): Json {
  const usual = status === 422 ? describeInvalidInput(schemas) : addComponent('FrameworkError', detail, schemas);
  if (codes.length === 0) return usual;
  const own = codes.map((code) =>
    addComponent(nameError(laterOnApi.has(code) ? `${code}_api` : code), applicationError(code), schemas),
  );
  return { anyOf: [...own, usual] };
}

/**
 * Returns the schema of an error on `/api/v1`: `{code, message, retryable, …}`. Errors in parsing, size and format of
 * the request use `{detail}` there too.
 */
function chooseV1(status: number, codes: readonly string[], schemas: Json): Json {
  if (status === 422) {
    const invalid = describeInvalidInput(schemas);
    return codes.length === 0
      ? invalid
      : { anyOf: [...codes.map((code) => addComponent(nameError(code), v1Error(code), schemas)), invalid] };
  }
  const framework = (): Json => addComponent('FrameworkError', detail, schemas);
  if (frameworkStatuses.has(status)) return framework();
  const usual = Object.values(errorCodes).flatMap((entry) => (entry.status === status ? [entry.v1] : []));
  const errors = [...new Set([...codes, ...usual])].map((code) => {
    return addComponent(nameError(onBothSurfaces.has(code) ? `${code}_v1` : code), v1Error(code), schemas);
  });
  const all = status === 400 ? [...errors, framework()] : errors;
  return all.length === 1 && all[0] !== undefined ? all[0] : { anyOf: all };
}

/** Converts `journey_not_found` to `JourneyNotFoundError`. */
function nameError(code: string): string {
  return `${pascal(code.replace(/_error$/, ''))}Error`;
}

function applicationError(code: string): Json {
  const extra = extraFields(code);
  const properties = { error: { type: 'string', const: code }, message: { type: 'string' }, ...extra };
  return {
    type: 'object',
    properties,
    required: ['error', 'message', ...Object.keys(extra)],
    additionalProperties: true,
  };
}

function v1Error(code: string): Json {
  const extra = extraFields(code);
  const properties = {
    code: { type: 'string', const: code },
    message: { type: 'string' },
    retryable: { type: 'boolean' },
    ...extra,
  };
  return {
    type: 'object',
    required: ['code', 'message', 'retryable', ...Object.keys(extra)],
    properties,
    additionalProperties: true,
  };
}

/** Returns the machine-readable fields that an error has besides its code. */
function extraFields(code: string): Json {
  if (code !== insufficientScope) return {};
  return {
    required_scope: { type: 'string', description: 'The scope that the operation needs.' },
    scopes: { type: 'array', items: { type: 'string' }, description: 'The scopes that the key has.' },
  };
}

function describeInvalidInput(schemas: Json): Json {
  const detail = { type: 'array', items: addComponent('InputProblem', inputProblem, schemas) };
  return addComponent('InvalidInput', { type: 'object', required: ['detail'], properties: { detail } }, schemas);
}
