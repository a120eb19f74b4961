/**
 * Builds OpenAPI 3.1 from the route table (architecture#contracts), so the document and the server use the same data.
 * Contracts and OpenAPI both use JSON Schema 2020-12, so schemas are included unchanged. Named schemas are listed once
 * in `components`.
 */
import type { ErrorReasons, Route, RouteReply, TSchema } from '#libs/infrastructure/contract';
import { errorCodes } from '#libs/infrastructure/errors';
import { addOwnErrors, describeErrors } from './openapi-errors.ts';
import { pascal, publishSchema } from './openapi-models.ts';

type Json = Record<string, unknown>;

export interface OpenApiInfo {
  title: string;
  version: string;
  description: string;
  /** Surface whose error envelopes the document describes. */
  surface: 'api' | 'v1';
  /** SPDX name of the license. */
  license: string;
  /** Descriptions by tag; each tag of the routes needs one. */
  tags: Readonly<Record<string, string>>;
  /** Examples by operation id. */
  examples?: OpenApiExamples;
}

/** Example of each operation: one request with its responses by status. */
export type OpenApiExamples = Readonly<Record<string, OperationExample>>;

interface OperationExample {
  /** Path, query and header parameters by name. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** JSON body. */
  readonly request?: unknown;
  readonly replies: Readonly<Record<string, unknown>>;
  /** Successful responses by format, for operations with several. */
  readonly formats?: Readonly<Record<string, unknown>>;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Json;
  readonly paths: Record<string, Record<string, Json>>;
  readonly components: { schemas: Json; securitySchemes: Json; headers: Json };
  readonly [key: string]: unknown;
}

/** Credentials by class (rules/access#classes-of-routes), without service keys. */
const classes: Record<Route['auth'], Record<string, string[]>[]> = {
  none: [],
  'shared-or-user': [{ sharedToken: [] }, { userToken: [] }],
  user: [{ userToken: [] }],
  coherence: [{ userToken: [] }],
  shared: [{ sharedToken: [] }],
  v1: [{ userToken: [] }],
  'login-gate': [{ loginGate: [] }],
  ops: [{ userToken: [] }],
  'ops-act': [{ userToken: [] }],
};

/** Returns the alternative credentials of a route. A service key is listed with its required scope (K3). */
function listSecurity({ auth, scope, loginOnly }: Route): Record<string, string[]>[] {
  return scope === undefined || loginOnly === true
    ? classes[auth]
    : [...classes[auth], { serviceKey: scope === null ? [] : [scope] }];
}

const securitySchemes: Json = {
  sharedToken: { type: 'http', scheme: 'bearer', description: "The server's shared token, `API_TOKEN`." },
  userToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A per-user token: from `POST /api/v1/auth/login`, valid for 24 hours, or a JWT of the identity provider of the installation.',
  },
  serviceKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A service key, `svc_key_…`, from `POST /api/v1/keys`. The scope that an operation needs stands beside it.',
  },
  loginGate: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Svc-Api-Key',
    description: "The server's login gate key, `API_LOGIN_SECRET`.",
  },
};

const headers: Json = {
  ApiVersion: { description: 'Version of the HTTP contract.', schema: { type: 'string' } },
  RequestId: {
    description: 'The `X-Request-Id` of the request, or one made here.',
    schema: { type: 'string', maxLength: 128 },
  },
  ETag: { description: "Strong validator: a digest of the resource's bytes.", schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds after which to try again.', schema: { type: 'string' } },
  IdempotentReplayed: {
    description: '`true` when the answer was given before, under the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
  TotalCount: { description: 'Items of the whole list; with `limit` only.', schema: { type: 'string' } },
  Link: { description: 'The next page, with `rel="next"`; with `limit` only.', schema: { type: 'string' } },
  Deprecation: {
    description: '`true` when the call used a field kept for old clients.',
    schema: { type: 'string', const: 'true' },
  },
  WWWAuthenticate: { description: '`Bearer`.', schema: { type: 'string' } },
};

/** Builds one document of the given documented routes. @throws Error when two different schemas share a name. */
export function buildOpenApi(routes: readonly Route[], info: OpenApiInfo): OpenApiDocument {
  const { surface, examples = {}, license, tags, ...shown } = info;
  const schemas: Json = {};
  const paths: Record<string, Record<string, Json>> = {};
  const documented = routes.filter((route) => route.documented !== false);
  for (const route of documented) {
    const item = (paths[route.path] ??= {});
    item[route.method.toLowerCase()] = addExamples(
      describeOperation(route, surface, schemas),
      route,
      examples[route.operationId],
    );
  }
  const publishedPaths = JSON.stringify(paths);
  const used = new Set(documented.flatMap((route) => listSecurity(route).flatMap((entry) => Object.keys(entry))));
  return {
    openapi: '3.1.1',
    info: { ...shown, license: { name: license, identifier: license } },
    servers: [{ url: '/' }],
    tags: [...new Set(documented.map((route) => route.tag))].map((name) => ({
      name,
      description: describeTag(name, tags),
    })),
    paths,
    components: {
      schemas,
      securitySchemes: Object.fromEntries(Object.entries(securitySchemes).filter(([name]) => used.has(name))),
      headers: Object.fromEntries(
        Object.entries(headers).filter(([name]) => publishedPaths.includes(`#/components/headers/${name}`)),
      ),
    },
  };
}

/** Returns the description of a tag. @throws Error for a tag without a description */
function describeTag(name: string, tags: Readonly<Record<string, string>>): string {
  const description = tags[name];
  if (description === undefined) throw new Error(`the tag "${name}" has no description`);
  return description;
}

function describeOperation(route: Route, surface: 'api' | 'v1', schemas: Json): Json {
  const parameters = [
    ...describeParameters('path', route.params, schemas),
    ...describeParameters('query', route.query, schemas),
    ...describeParameters('header', route.headers, schemas),
    ...(route.etag === true && route.method === 'GET' && route.headers === undefined ? [ifNoneMatch] : []),
  ];
  const requestBody = describeBody(route, schemas);
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    security: listSecurity(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: describeResponses(route, surface, schemas),
  };
}

/** Adds each value of an example next to its schema. */
function addExamples(
  operation: Json,
  { formats = {}, status = 200 }: Route,
  example: OperationExample | undefined,
): Json {
  if (example === undefined) return operation;
  for (const parameter of (operation['parameters'] ?? []) as Json[]) {
    const value = example.parameters[String(parameter['name'])];
    if (value !== undefined) parameter['example'] = value;
  }
  const body = operation['requestBody'] as { content: Record<string, Json> } | undefined;
  const [content] = Object.values(body?.content ?? {});
  if (content !== undefined && example.request !== undefined) content['example'] = example.request;
  const responses = operation['responses'] as Record<string, { content?: Record<string, Json> }>;
  for (const [answered, reply] of Object.entries(example.replies)) {
    const [published] = Object.values(responses[answered]?.content ?? {});
    if (published !== undefined) published['example'] = reply;
  }
  for (const [format, reply] of Object.entries(example.formats ?? {})) {
    const published = responses[String(status)]?.content?.[formats[format]?.contentType ?? ''];
    if (published !== undefined) published['example'] = reply;
  }
  return operation;
}

const ifNoneMatch: Json = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'Tags that the caller holds already.',
  schema: { type: 'string' },
};

function describeParameters(source: 'path' | 'query' | 'header', schema: unknown, schemas: Json): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = publishSchema(property, schemas, pascal(name)) as Json;
    const isList = rest['type'] === 'array';
    const words = [...(typeof description === 'string' ? [description] : []), ...(isList ? [listSpellings(name)] : [])];
    return {
      name,
      in: source,
      required: source === 'path' || required.includes(name),
      ...(words.length === 0 ? {} : { description: words.join(' ') }),
      ...(isList ? { style: 'form', explode: false } : {}),
      schema: rest,
    };
  });
}

/** Describes the notations of a list parameter that its OpenAPI style cannot express (D103). */
const listSpellings = (name: string): string => `Separated by commas, or as repeated \`${name}\` or \`${name}[]\`.`;

function describeBody(route: Route, schemas: Json): Json | undefined {
  const bodyName = `${pascal(route.operationId)}Body`;
  if (route.body !== undefined) {
    const schema = publishSchema(route.body.schema as unknown as Json, schemas, bodyName, route.deprecatedFields);
    return { required: route.body.optional !== true, content: { 'application/json': { schema } } };
  }
  if (route.upload !== undefined) {
    const { part, description } = route.upload;
    const file = { type: 'string', format: 'binary', description };
    return {
      required: true,
      content: {
        'multipart/form-data': { schema: { type: 'object', properties: { [part]: file }, required: [part] } },
      },
    };
  }
  if (route.rawBody === undefined) return undefined;
  const { contentType, description, schema } = route.rawBody;
  return {
    required: false,
    description,
    content: {
      [contentType]:
        schema === undefined ? {} : { schema: publishSchema(schema as unknown as Json, schemas, bodyName) },
    },
  };
}

function describeResponses(route: Route, surface: 'api' | 'v1', schemas: Json): Json {
  const responses: Json = {};
  const ofAll = {
    'X-Request-Id': { $ref: '#/components/headers/RequestId' },
    'X-Api-Version': { $ref: '#/components/headers/ApiVersion' },
    ...(route.deprecatedFields === undefined ? {} : { Deprecation: { $ref: '#/components/headers/Deprecation' } }),
  };
  const replayed =
    route.idempotent === true ? { 'Idempotent-Replayed': { $ref: '#/components/headers/IdempotentReplayed' } } : {};
  const publishReply = (schema: TSchema): unknown =>
    publishSchema(schema as unknown as Json, schemas, `${pascal(route.operationId)}Result`);
  const etag = route.etag === true ? { ETag: { $ref: '#/components/headers/ETag' } } : {};
  const ofSuccess = {
    ...etag,
    ...(route.counted === true
      ? { 'X-Total-Count': { $ref: '#/components/headers/TotalCount' }, Link: { $ref: '#/components/headers/Link' } }
      : {}),
    ...replayed,
  };
  const reasons = joinReasons(route);
  for (const [status, reply] of Object.entries(route.replies)) {
    // An error that is described only as text uses the surface's envelope, which is added below.
    if (Number(status) >= 400 && reply.schema === undefined) continue;
    const publishAll = (schema: TSchema): unknown =>
      addOwnErrors(publishReply(schema), schema, reasons.get(Number(status)), surface, schemas);
    const content = describeBodies(route, Number(status), reply, Number(status) < 400 ? publishReply : publishAll);
    responses[status] = {
      description: reply.description,
      headers: { ...ofAll, ...(Number(status) < 300 ? ofSuccess : isStored(status) ? replayed : {}) },
      ...(content === undefined ? {} : { content }),
    };
  }
  if (route.etag === true && route.method === 'GET')
    responses['304'] ??= {
      description: 'The caller holds this representation already.',
      headers: { ...ofAll, ...etag },
    };
  for (const { status, description, schema } of describeErrors(route, surface, reasons, schemas, responses)) {
    const extra: Json = isStored(status) ? { ...replayed } : {};
    if (status === 401) extra['WWW-Authenticate'] = { $ref: '#/components/headers/WWWAuthenticate' };
    if (status === 429 || status === 503) extra['Retry-After'] = { $ref: '#/components/headers/RetryAfter' };
    responses[String(status)] ??= {
      description,
      headers: { ...ofAll, ...extra },
      content: { 'application/json': { schema } },
    };
  }
  return responses;
}

/** Returns true for error statuses that are stored under an idempotency key (I1). */
const isStored = (status: number | string): boolean => ['400', '409', '412'].includes(String(status));

/** Returns the content of a response for each of its formats; undefined without a body. */
function describeBodies(
  route: Route,
  status: number,
  reply: RouteReply,
  publishReply: (schema: TSchema) => unknown,
): Json | undefined {
  if (route.formats !== undefined && status === (route.status ?? 200))
    return Object.fromEntries(
      Object.values(route.formats).map(({ contentType, schema }) => [contentType, { schema: publishReply(schema) }]),
    );
  if (reply.schema === undefined) return undefined;
  const content = describeContent(reply.contentType ?? 'application/json', publishReply(reply.schema));
  if (route.events === undefined || status !== (route.status ?? 200)) return content;
  const { description, example } = route.events;
  return { ...content, 'text/event-stream': { schema: { type: 'string', description }, example } };
}

/** Lists a media type with a suffix together with the general type, for tools that do not know suffixes. */
function describeContent(contentType: string, schema: unknown): Json {
  return {
    ...(contentType.endsWith('/*') ? { 'application/octet-stream': { schema } } : {}),
    [contentType]: { schema },
  };
}

/** Returns the application errors of the operation and of the route, by status. */
function joinReasons(route: Route): Map<number, { reason: string; when: string }[]> {
  const reasons: ErrorReasons = { ...route.rpc?.errors, ...route.errors };
  const entries = Object.entries(reasons).map(([reason, { code, when }]) => ({
    status: errorCodes[code].status,
    reason,
    when,
  }));
  return Map.groupBy(entries, (entry) => entry.status);
}
